import CoreData

extension RowIncrementalStore: DeferringStore {
  package func advanceDeferredWork() throws -> Bool {
    guard !isReadOnly, let rowStore else { return false }
    return try IndexBuilder(space: DiskSpace(at: url)).advance(rowStore)
  }
}
