import OpenCoreData

/// A store in memory with items: each has four attributes, the item it belongs to, and the items that belong to it.
struct Stack {
  let coordinator: NSPersistentStoreCoordinator

  init() throws {
    coordinator = NSPersistentStoreCoordinator(managedObjectModel: Self.model())
    _ = try coordinator.addPersistentStore(ofType: NSInMemoryStoreType, configurationName: nil, at: nil)
  }

  func context() -> NSManagedObjectContext {
    let context = NSManagedObjectContext(.privateQueue)
    context.persistentStoreCoordinator = coordinator
    return context
  }

  private static func model() -> NSManagedObjectModel {
    let item = NSEntityDescription()
    item.name = "Item"
    let attributes = [("number", .integer64), ("name", .string), ("date", .date), ("flag", .boolean)].map {
      (name: String, type: NSAttributeDescription.AttributeType) in
      let attribute = NSAttributeDescription()
      attribute.name = name
      attribute.type = type
      return attribute
    }
    let owner = NSRelationshipDescription()
    owner.name = "owner"
    owner.maxCount = 1
    let parts = NSRelationshipDescription()
    parts.name = "parts"
    for (one, other) in [(owner, parts), (parts, owner)] {
      one.destinationEntity = item
      one.inverseRelationship = other
    }
    item.properties = attributes + [owner, parts]
    let model = NSManagedObjectModel()
    model.entities = [item]
    return model
  }
}

extension NSManagedObjectContext {
  func insertItem() -> NSManagedObject { NSEntityDescription.insertNewObject(forEntityName: "Item", into: self) }

  /// All items, in the order of their numbers.
  func items(asFaults: Bool = true) throws -> [NSManagedObject] {
    let request = NSFetchRequest<NSManagedObject>(entityName: "Item")
    request.returnsObjectsAsFaults = asFaults
    return try fetch(request)
  }
}
