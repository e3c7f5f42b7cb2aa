import Foundation
import OpenCoreData

/// Persons with parents, children and friends, and shelves with books, in a store that two contexts share.
struct Family {
  let model = NSManagedObjectModel()
  let coordinator: NSPersistentStoreCoordinator
  let store: NSPersistentStore
  private let a = NSManagedObjectContext(concurrencyType: .privateQueueConcurrencyType)
  private let b = NSManagedObjectContext(concurrencyType: .privateQueueConcurrencyType)

  init(childrenRule: NSDeleteRule = .nullifyDeleteRule, personClass: NSManagedObject.Type? = nil) throws {
    let person = NSEntityDescription()
    person.name = "Person"
    if let personClass { person.managedObjectClassName = NSStringFromClass(personClass) }
    let parent = Self.relationship("parent", to: person, isToMany: false)
    let children = Self.relationship("children", to: person)
    children.deleteRule = childrenRule
    Self.connect(parent, children)
    let friend = Self.relationship("friend", to: person, isToMany: false)
    let mood = Self.attribute("mood")
    mood.isTransient = true
    person.properties = [Self.attribute("name"), mood, parent, children, friend]

    let shelf = NSEntityDescription()
    shelf.name = "Shelf"
    let book = NSEntityDescription()
    book.name = "Book"
    let place = Self.relationship("shelf", to: shelf, isToMany: false)
    place.isOptional = false
    let books = Self.relationship("books", to: book)
    books.isOrdered = true
    Self.connect(place, books)
    let count = NSDerivedAttributeDescription()
    count.name = "count"
    count.type = .integer64
    count.derivationExpression = NSExpression(format: "books.@count")
    shelf.properties = [Self.attribute("name"), count, books]
    book.properties = [Self.attribute("name"), place]

    model.entities = [person, shelf, book]
    coordinator = NSPersistentStoreCoordinator(managedObjectModel: model)
    store = try coordinator.addPersistentStore(ofType: NSInMemoryStoreType, configurationName: nil, at: nil)
    for context in [a, b] { context.persistentStoreCoordinator = coordinator }
  }

  /// Runs the block on the queues of both contexts.
  func run(_ body: (_ a: NSManagedObjectContext, _ b: NSManagedObjectContext) throws -> Void) throws {
    try a.performAndWait {
      try b.performAndWait { try body(a, b) }
    }
  }

  /// The names of the objects that the store has for a relationship of an object, in alphabetical order.
  func stored(_ object: NSManagedObject, _ relationship: String) throws -> [String] {
    let context = NSManagedObjectContext(concurrencyType: .privateQueueConcurrencyType)
    context.persistentStoreCoordinator = coordinator
    return try context.performAndWait {
      try context.existingObject(with: object.objectID).objectIDs(forRelationshipNamed: relationship).map {
        try context.existingObject(with: $0)["name"] as? String ?? ""
      }.sorted()
    }
  }

  private static func attribute(_ name: String) -> NSAttributeDescription {
    let attribute = NSAttributeDescription()
    attribute.name = name
    attribute.type = .string
    return attribute
  }

  private static func relationship(
    _ name: String, to entity: NSEntityDescription, isToMany: Bool = true
  ) -> NSRelationshipDescription {
    let relationship = NSRelationshipDescription()
    relationship.name = name
    relationship.destinationEntity = entity
    relationship.maxCount = isToMany ? 0 : 1
    return relationship
  }

  private static func connect(_ one: NSRelationshipDescription, _ other: NSRelationshipDescription) {
    (one.inverseRelationship, other.inverseRelationship) = (other, one)
  }
}

extension NSManagedObjectContext {
  /// A new object of an entity with some values.
  @discardableResult
  func make(_ entity: String, _ name: String, _ values: [String: Any] = [:]) -> NSManagedObject {
    let object = NSEntityDescription.insertNewObject(forEntityName: entity, into: self)
    object["name"] = name
    for (key, value) in values { object[key] = value }
    return object
  }

  /// This context's own object for an object of another context.
  func own(_ object: NSManagedObject) throws -> NSManagedObject { try existingObject(with: object.objectID) }
}

extension NSManagedObject {
  /// The names of the objects of a to-many relationship, in alphabetical order.
  func names(_ key: String) -> [String] {
    let objects = (self[key] as? NSSet)?.allObjects ?? (self[key] as? NSOrderedSet)?.array ?? []
    return objects.compactMap { ($0 as? NSManagedObject)?["name"] as? String }.sorted()
  }
}
