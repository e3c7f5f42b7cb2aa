import CairnIncrementalStore
import OpenCoreData

/// A store with items: each has four attributes, the item it belongs to, the items that belong to it, and tags in both
/// directions.
struct Stack {
  let coordinator: NSPersistentStoreCoordinator
  let store: CairnIncrementalStore

  init(at url: URL, cacheBytes: Int? = nil) throws {
    coordinator = NSPersistentStoreCoordinator(managedObjectModel: Self.model())
    CairnIncrementalStore.register()
    var options: [AnyHashable: Any] = [CairnDurabilityOption: "buffered"]
    options[RowCacheBytesOption] = cacheBytes
    store = try coordinator.addPersistentStore(type: .cairn, at: url, options: options) as! CairnIncrementalStore
  }

  func context() -> NSManagedObjectContext {
    let context = NSManagedObjectContext(.privateQueue)
    context.persistentStoreCoordinator = coordinator
    return context
  }

  /// Runs a closure with a new context.
  func work<Result>(_ body: (NSManagedObjectContext) throws -> Result) rethrows -> Result {
    let context = context()
    return try context.performAndWait { try body(context) }
  }

  func close() throws { try coordinator.remove(store) }

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
    func relationship(_ name: String, isToMany: Bool) -> NSRelationshipDescription {
      let relationship = NSRelationshipDescription()
      relationship.name = name
      relationship.maxCount = isToMany ? 0 : 1
      relationship.destinationEntity = item
      return relationship
    }
    let (owner, parts) = (relationship("owner", isToMany: false), relationship("parts", isToMany: true))
    let (tags, tagged) = (relationship("tags", isToMany: true), relationship("tagged", isToMany: true))
    for (one, other) in [(owner, parts), (parts, owner), (tags, tagged), (tagged, tags)] {
      one.inverseRelationship = other
    }
    item.properties = attributes + [owner, parts, tags, tagged]
    let model = NSManagedObjectModel()
    model.entities = [item]
    return model
  }
}

extension NSManagedObjectContext {
  func insertItem(_ number: Int) -> NSManagedObject {
    let item = NSEntityDescription.insertNewObject(forEntityName: "Item", into: self)
    item.setValue(number, forKey: "number")
    item.setValue("a name of twenty \(1000 + number % 9000)", forKey: "name")
    item.setValue(Date(timeIntervalSinceReferenceDate: Double(number)), forKey: "date")
    item.setValue(number.isMultiple(of: 2), forKey: "flag")
    return item
  }
}

extension NSFetchRequest<NSManagedObject> {
  static func items(_ predicate: NSPredicate? = nil) -> NSFetchRequest<NSManagedObject> {
    let request = NSFetchRequest<NSManagedObject>(entityName: "Item")
    request.predicate = predicate
    return request
  }
}
