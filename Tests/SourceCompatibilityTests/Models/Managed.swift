import CoreData
import Foundation

/// What the entities of the application have in common.
protocol Managed: NSFetchRequestResult {
  static var entityName: String { get }
  static var defaultSortDescriptors: [NSSortDescriptor] { get }
  static var defaultPredicate: NSPredicate { get }
}

extension Managed {
  static var defaultSortDescriptors: [NSSortDescriptor] { return [] }
  static var defaultPredicate: NSPredicate { return NSPredicate(value: true) }

  static var sortedFetchRequest: NSFetchRequest<Self> {
    let request = NSFetchRequest<Self>(entityName: entityName)
    request.sortDescriptors = defaultSortDescriptors
    request.predicate = defaultPredicate
    return request
  }

  static func sortedFetchRequest(with predicate: NSPredicate) -> NSFetchRequest<Self> {
    let request = sortedFetchRequest
    let existing = request.predicate ?? NSPredicate(value: true)
    request.predicate = NSCompoundPredicate(andPredicateWithSubpredicates: [existing, predicate])
    return request
  }
}

extension Managed where Self: NSManagedObject {
  static var entityName: String { return entity().name! }

  static func fetch(
    in context: NSManagedObjectContext, configurationBlock: (NSFetchRequest<Self>) -> Void = { _ in }
  ) throws -> [Self] {
    let request = NSFetchRequest<Self>(entityName: Self.entityName)
    configurationBlock(request)
    return try context.fetch(request)
  }

  static func count(in context: NSManagedObjectContext) throws -> Int {
    return try context.count(for: NSFetchRequest<Self>(entityName: entityName))
  }

  static func findOrCreate(
    in context: NSManagedObjectContext, matching predicate: NSPredicate, configure: (Self) -> Void
  ) throws -> Self {
    if let object = try findOrFetch(in: context, matching: predicate) { return object }
    let object = Self(context: context)
    configure(object)
    return object
  }

  static func findOrFetch(in context: NSManagedObjectContext, matching predicate: NSPredicate) throws -> Self? {
    if let object = materializedObject(in: context, matching: predicate) { return object }
    return try fetch(in: context) { request in
      request.predicate = predicate
      request.returnsObjectsAsFaults = false
      request.fetchLimit = 1
    }.first
  }

  static func materializedObject(in context: NSManagedObjectContext, matching predicate: NSPredicate) -> Self? {
    for object in context.registeredObjects where !object.isFault {
      guard let result = object as? Self, predicate.evaluate(with: result) else { continue }
      return result
    }
    return nil
  }
}

final class Country: NSManagedObject, Managed {
  var code: String {
    get { value(forKey: "code") as! String }
    set { setValue(newValue, forKey: "code") }
  }

  static var defaultSortDescriptors: [NSSortDescriptor] {
    return [NSSortDescriptor(key: "code", ascending: false)]
  }

  static let model: NSManagedObjectModel = {
    let entity = NSEntityDescription()
    entity.name = "Country"
    entity.managedObjectClassName = NSStringFromClass(Country.self)
    entity.properties = [.attribute("code", .string, isOptional: false)]
    let model = NSManagedObjectModel()
    model.entities = [entity]
    return model
  }()
}
