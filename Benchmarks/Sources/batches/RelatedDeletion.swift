import CairnIncrementalStore
import OpenCoreData

/// Deletes folders, with all their items, by one batch request, and the same folders of another store by a context that
/// fetches them and saves.
struct RelatedDeletion {
  private static let itemsOfFolder = 4
  private let folders: Int
  private let url: URL

  /// - Parameter count: The number of objects, folders and items together.
  init(count: Int, at url: URL) { (folders, self.url) = (count / (1 + Self.itemsOfFolder), url) }

  /// The nanoseconds for each object.
  func run() throws -> (request: Double, context: Double) {
    let request = try work("related request") { context in
      try context.execute(NSBatchDeleteRequest(fetchRequest: NSFetchRequest<NSManagedObject>(entityName: "Folder")))
    }
    let context = try work("related context") { context in
      for folder in try context.fetch(NSFetchRequest<NSManagedObject>(entityName: "Folder")) { context.delete(folder) }
      try context.save()
    }
    return (request, context)
  }

  private func work(_ name: String, _ delete: (NSManagedObjectContext) throws -> some Any) throws -> Double {
    CairnIncrementalStore.register()
    let coordinator = NSPersistentStoreCoordinator(managedObjectModel: Self.makeModel())
    let store = try coordinator.addPersistentStore(
      type: .cairn, at: url.appending(path: name), options: [CairnDurabilityOption: "buffered"])
    defer { try? coordinator.remove(store) }
    try inContext(coordinator, insert)
    let clock = ContinuousClock()
    let elapsed = try inContext(coordinator) { context in try clock.measure { _ = try delete(context) } }
    let left = try inContext(coordinator) { context in
      try context.count(for: NSFetchRequest<NSManagedObject>(entityName: "Item"))
    }
    guard left == 0 else { fatalError("\(left) items are left after their folders were deleted.") }
    return elapsed / .nanoseconds(1) / Double(folders * (1 + Self.itemsOfFolder))
  }

  private func inContext<Result>(
    _ coordinator: NSPersistentStoreCoordinator, _ body: (NSManagedObjectContext) throws -> Result
  ) throws -> Result {
    let context = NSManagedObjectContext(.privateQueue)
    context.persistentStoreCoordinator = coordinator
    return try context.performAndWait { try body(context) }
  }

  private func insert(_ context: NSManagedObjectContext) throws {
    for number in 0..<folders {
      let folder = NSEntityDescription.insertNewObject(forEntityName: "Folder", into: context)
      folder.setValue("folder \(number)", forKey: "name")
      for place in 0..<Self.itemsOfFolder {
        let item = NSEntityDescription.insertNewObject(forEntityName: "Item", into: context)
        item.setValue(place, forKey: "number")
        item.setValue(folder, forKey: "folder")
      }
      if number % 1000 == 999 {
        try context.save()
        context.reset()
      }
    }
    try context.save()
  }

  private static func makeModel() -> NSManagedObjectModel {
    let (folder, item) = (NSEntityDescription(), NSEntityDescription())
    (folder.name, item.name) = ("Folder", "Item")
    let (name, number) = (NSAttributeDescription(), NSAttributeDescription())
    (name.name, name.attributeType) = ("name", .stringAttributeType)
    (number.name, number.attributeType) = ("number", .integer64AttributeType)
    let (items, owner) = (NSRelationshipDescription(), NSRelationshipDescription())
    (items.name, items.destinationEntity, items.inverseRelationship) = ("items", item, owner)
    (items.maxCount, items.deleteRule) = (0, .cascadeDeleteRule)
    (owner.name, owner.destinationEntity, owner.inverseRelationship) = ("folder", folder, items)
    owner.maxCount = 1
    (folder.properties, item.properties) = ([name, items], [number, owner])
    let model = NSManagedObjectModel()
    model.entities = [folder, item]
    return model
  }
}
