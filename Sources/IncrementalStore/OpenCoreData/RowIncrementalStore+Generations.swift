import OpenCoreData

extension RowIncrementalStore: GenerationStore {
  package func makeState() throws -> AnyObject { try rows.snapshot() }

  /// The snapshot to which a context is pinned; nil if it reads what was saved last.
  func pinnedSnapshot(_ context: NSManagedObjectContext?) throws -> (any RowSnapshot)? {
    try context?.pinnedState(of: self) as? any RowSnapshot
  }
}
