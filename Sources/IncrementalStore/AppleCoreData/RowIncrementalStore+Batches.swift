import CoreData

extension RowIncrementalStore {
  /// Nil: it is not documented how Core Data passes batch requests to incremental stores.
  func executeBatch(
    _ request: NSPersistentStoreRequest, _ context: NSManagedObjectContext?
  ) throws -> Any? { nil }
}
