import CoreData
import Foundation

struct PersistenceController {
  static let shared = PersistenceController()

  static var preview: PersistenceController = {
    let result = PersistenceController(inMemory: true)
    let viewContext = result.container.viewContext
    viewContext.performAndWait {
      for index in 0..<3 {
        let recipe = Recipe(context: viewContext)
        recipe.name = "Preview \(index)"
        recipe.createdAt = Date()
      }
      do {
        try viewContext.save()
      } catch {
        let nsError = error as NSError
        fatalError("Unresolved error \(nsError), \(nsError.userInfo)")
      }
    }
    return result
  }()

  let container: NSPersistentContainer

  init(inMemory: Bool = true) {
    container = NSPersistentContainer(name: "Cookbook", managedObjectModel: CookbookModel.shared)
    if inMemory {
      let description = NSPersistentStoreDescription()
      description.type = NSInMemoryStoreType
      description.url = URL(fileURLWithPath: "/dev/null")
      description.shouldMigrateStoreAutomatically = true
      description.shouldInferMappingModelAutomatically = true
      description.setOption(true as NSNumber, forKey: NSMigratePersistentStoresAutomaticallyOption)
      container.persistentStoreDescriptions = [description]
    }
    container.loadPersistentStores(completionHandler: { (storeDescription, error) in
      if let error = error as NSError? {
        fatalError("Unresolved error \(error), \(error.userInfo)")
      }
    })
    container.viewContext.automaticallyMergesChangesFromParent = true
    container.viewContext.mergePolicy = NSMergeByPropertyObjectTrumpMergePolicy
    container.viewContext.name = "viewContext"
    container.viewContext.shouldDeleteInaccessibleFaults = true
  }

  /// A context with a private queue, for tests and imports.
  func makeContext(author: String? = nil) -> NSManagedObjectContext {
    let context = container.newBackgroundContext()
    context.mergePolicy = NSMergePolicy.mergeByPropertyObjectTrump
    context.transactionAuthor = author
    return context
  }
}

extension NSManagedObjectContext {
  func saveIfNeeded() throws {
    guard hasChanges else { return }
    try save()
  }

  @discardableResult
  func saveOrRollback() -> Bool {
    do {
      try save()
      return true
    } catch {
      rollback()
      return false
    }
  }
}
