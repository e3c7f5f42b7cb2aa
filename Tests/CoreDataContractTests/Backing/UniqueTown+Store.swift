import CoreData

extension NSPersistentStoreCoordinator {
  /// Adds an empty store that enforces uniqueness constraints.
  func addUniqueStore() throws {
    _ = try addPersistentStore(ofType: NSInMemoryStoreType, configurationName: nil, at: nil)
  }
}
