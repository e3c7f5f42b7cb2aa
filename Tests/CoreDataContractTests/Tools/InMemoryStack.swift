import CoreData

/// A coordinator with Core Data's own in-memory store.
struct InMemoryStack {
  let coordinator = NSPersistentStoreCoordinator(managedObjectModel: Town.model())

  init() throws {
    _ = try coordinator.addPersistentStore(ofType: NSInMemoryStoreType, configurationName: nil, at: nil)
  }

  /// Runs a closure with a new context.
  @discardableResult
  func work<Result>(_ body: (NSManagedObjectContext) throws -> Result) throws -> Result {
    let context = NSManagedObjectContext(.privateQueue)
    context.persistentStoreCoordinator = coordinator
    return try context.performAndWait { try body(context) }
  }
}
