import CoreData
import Foundation

final class CoreDataStack {
  private let modelName: String
  private let model: NSManagedObjectModel

  init(modelName: String, model: NSManagedObjectModel) {
    self.modelName = modelName
    self.model = model
  }

  lazy var persistentStoreCoordinator: NSPersistentStoreCoordinator = {
    let coordinator = NSPersistentStoreCoordinator(managedObjectModel: self.model)
    do {
      try coordinator.addPersistentStore(
        ofType: NSInMemoryStoreType, configurationName: nil, at: nil,
        options: [
          NSMigratePersistentStoresAutomaticallyOption: true,
          NSInferMappingModelAutomaticallyOption: true,
          NSSQLitePragmasOption: ["journal_mode": "DELETE"],
        ])
    } catch {
      var dict = [String: Any]()
      dict[NSLocalizedDescriptionKey] = "Failed to initialize the application's saved data"
      dict[NSUnderlyingErrorKey] = error as NSError
      let wrappedError = NSError(domain: "STACK", code: 9999, userInfo: dict)
      NSLog("Unresolved error \(wrappedError), \(wrappedError.userInfo)")
      abort()
    }
    return coordinator
  }()

  lazy var managedObjectContext: NSManagedObjectContext = {
    let context = NSManagedObjectContext(concurrencyType: .privateQueueConcurrencyType)
    context.persistentStoreCoordinator = self.persistentStoreCoordinator
    context.name = self.modelName
    return context
  }()

  func saveContext() {
    let context = managedObjectContext
    context.performAndWait {
      guard context.hasChanges else { return }
      do {
        try context.save()
      } catch {
        let nserror = error as NSError
        NSLog("Unresolved error \(nserror), \(nserror.userInfo)")
      }
    }
  }

  func insert(_ entityName: String, values: [String: Any]) -> NSManagedObjectID {
    let context = managedObjectContext
    return context.performAndWait {
      let entity = NSEntityDescription.entity(forEntityName: entityName, in: context)!
      let object = NSManagedObject(entity: entity, insertInto: context)
      for (key, value) in values { object.setValue(value, forKey: key) }
      try? context.obtainPermanentIDs(for: [object])
      return object.objectID
    }
  }

  func destroy() throws {
    for store in persistentStoreCoordinator.persistentStores {
      try persistentStoreCoordinator.remove(store)
    }
  }
}

/// A context that counts its saves.
final class CountingContext: NSManagedObjectContext {
  private(set) var saves = 0

  override func save() throws {
    try super.save()
    saves += 1
  }
}

/// A container for tests, whose view context has a private queue.
final class TestContainer: NSPersistentContainer, @unchecked Sendable {
  private let context = CountingContext(concurrencyType: .privateQueueConcurrencyType)

  override var viewContext: NSManagedObjectContext { context }

  override func newBackgroundContext() -> NSManagedObjectContext {
    let context = super.newBackgroundContext()
    context.name = "test"
    return context
  }
}
