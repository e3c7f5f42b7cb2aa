import CoreData

extension RowIncrementalStore {
  /// Apple's Core Data pins no contexts to the states of incremental stores.
  func pinnedSnapshot(_ context: NSManagedObjectContext?) throws -> (any RowSnapshot)? { nil }
}
