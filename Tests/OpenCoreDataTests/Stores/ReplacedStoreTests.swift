import OpenCoreData
import Synchronization
import Testing

@Suite("Stores that a migration has replaced") struct ReplacedStoreTests {
  /// What a coordinator's notification says of a replaced store.
  private final class Replaced: Sendable {
    let isOfBoth = Mutex(false)
    let identifiers = Mutex<[NSManagedObjectID]>([])
  }

  @Test("The notification has the old store, the new one, and the identifiers of the objects in the new one.")
  func notification() throws {
    let zoo = Zoo()
    let coordinator = NSPersistentStoreCoordinator(managedObjectModel: zoo.model)
    let old = try coordinator.addPersistentStore(ofType: NSInMemoryStoreType, configurationName: nil, at: nil)
    let context = NSManagedObjectContext(concurrencyType: .privateQueueConcurrencyType)
    context.persistentStoreCoordinator = coordinator
    try context.performAndWait {
      for _ in 0..<3 { _ = NSManagedObject(entity: zoo.dog, insertInto: context) }
      NSManagedObject(entity: zoo.keeper, insertInto: context).setValue("Ann", forKey: "name")
      try context.save()
      context.reset()
    }

    let replaced = Replaced()
    let token = NotificationCenter.default.addObserver(
      forName: .NSPersistentStoreCoordinatorStoresDidChange, object: coordinator, queue: nil
    ) { posted in
      guard let parts = posted.userInfo?[NSUUIDChangedPersistentStoresKey] as? NSArray, parts.count == 3 else { return }
      let coordinator = posted.object as? NSPersistentStoreCoordinator
      let (old, new) = (parts[0] as? NSPersistentStore, parts[1] as? NSPersistentStore)
      replaced.isOfBoth.withLock {
        $0 = old?.persistentStoreCoordinator == nil && new === coordinator?.persistentStores.first
      }
      replaced.identifiers.withLock { $0 = parts[2] as? [NSManagedObjectID] ?? [] }
    }
    defer { NotificationCenter.default.removeObserver(token) }
    try coordinator.migratePersistentStore(
      old, to: URL(fileURLWithPath: "/dev/null"), type: NSPersistentStore.StoreType(rawValue: NSInMemoryStoreType))

    #expect(replaced.isOfBoth.withLock { $0 })
    let identifiers = replaced.identifiers.withLock { $0 }
    #expect(identifiers.count == 4)
    try context.performAndWait {
      let fetched = try ["Dog", "Keeper"].flatMap { try context.fetch(NSFetchRequest<NSManagedObject>(entityName: $0)) }
      #expect(Set(fetched.map(\.objectID)) == Set(identifiers))
    }
  }
}
