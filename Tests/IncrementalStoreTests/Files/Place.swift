import CairnIncrementalStore
import CoreData

/// A place for a Cairn store: a path in a directory that is removed at the end.
final class Place {
  private let directory = URL.temporaryDirectory.appending(path: UUID().uuidString)
  let url: URL

  init() throws {
    try FileManager.default.createDirectory(at: directory, withIntermediateDirectories: true)
    url = directory.appending(path: "town.cairn")
    CairnIncrementalStore.register()
  }

  deinit { try? FileManager.default.removeItem(at: directory) }

  /// Runs a closure with a coordinator that has opened the store, then closes the store.
  @discardableResult
  func work<Result>(
    _ options: [AnyHashable: Any] = [:],
    _ body: (NSManagedObjectContext, CairnIncrementalStore) throws -> Result
  ) throws -> Result {
    let coordinator = NSPersistentStoreCoordinator(managedObjectModel: Town.model())
    let store = try coordinator.addPersistentStore(type: .cairn, at: url, options: options)
    let context = NSManagedObjectContext(.privateQueue)
    context.persistentStoreCoordinator = coordinator
    let result = try context.performAndWait { try body(context, store as! CairnIncrementalStore) }
    try coordinator.remove(store)
    return result
  }

  /// Makes a store with one person.
  func fill() throws {
    try work { context, _ in
      context.make("Person", ["name": "Ada"])
      try context.save()
    }
  }

  /// The error of opening the store; nil if it opens.
  func refusal(_ options: [AnyHashable: Any] = [:]) -> NSError? { thrown { try work(options) { _, _ in } } }
}
