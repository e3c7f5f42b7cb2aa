import Cairn
@testable import CairnIncrementalStore
import CoreData
import Foundation

/// A store of shelves with books: a one-to-many relationship, an ordered one, a many-to-many one, and a unique title.
final class Library {
  let url = FileManager.default.temporaryDirectory.appending(path: "library \(UUID().uuidString)")

  deinit { try? FileManager.default.removeItem(at: url) }

  /// Makes a new coordinator on the store, as another part of a program would.
  func coordinator(_ options: [AnyHashable: Any] = [:]) throws -> Coordinator {
    try Coordinator(url, options.merging([CairnDurabilityOption: "buffered"]) { given, _ in given })
  }

  /// Makes the model, which is the same for all coordinators.
  static func model() -> NSManagedObjectModel {
    let (shelf, book) = (entity("Shelf", attributes: ["name"]), entity("Book", attributes: ["title", "author"]))
    let pairs = [
      (relationship("books", book, isToMany: true), relationship("shelf", shelf)),
      (relationship("row", book, isToMany: true, isOrdered: true), relationship("rowOf", shelf)),
      (relationship("tagged", book, isToMany: true), relationship("tags", shelf, isToMany: true)),
    ]
    for (one, other) in pairs { (one.inverseRelationship, other.inverseRelationship) = (other, one) }
    shelf.properties += pairs.map(\.0)
    book.properties += pairs.map(\.1)
    book.uniquenessConstraints = [["title"]]
    let comic = entity("Comic", attributes: [])
    book.subentities = [comic]
    let model = NSManagedObjectModel()
    model.entities = [shelf, book, comic]
    return model
  }

  private static func entity(_ name: String, attributes: [String]) -> NSEntityDescription {
    let entity = NSEntityDescription()
    entity.name = name
    entity.properties = attributes.map { name in
      let attribute = NSAttributeDescription()
      attribute.name = name
      attribute.attributeType = .stringAttributeType
      return attribute
    }
    return entity
  }

  private static func relationship(
    _ name: String, _ destination: NSEntityDescription, isToMany: Bool = false, isOrdered: Bool = false
  ) -> NSRelationshipDescription {
    let relationship = NSRelationshipDescription()
    relationship.name = name
    relationship.destinationEntity = destination
    relationship.maxCount = isToMany ? 0 : 1
    relationship.isOrdered = isOrdered
    return relationship
  }
}

/// A coordinator with one context and one store.
final class Coordinator {
  let coordinator: NSPersistentStoreCoordinator
  let store: CairnIncrementalStore
  let context: NSManagedObjectContext

  init(_ url: URL, _ options: [AnyHashable: Any]) throws {
    CairnIncrementalStore.register()
    coordinator = NSPersistentStoreCoordinator(managedObjectModel: Library.model())
    store = try coordinator.addPersistentStore(type: .cairn, at: url, options: options) as! CairnIncrementalStore
    context = NSManagedObjectContext(.privateQueue)
    context.persistentStoreCoordinator = coordinator
  }

  func close() throws { try coordinator.remove(store) }

  @discardableResult
  func work<Result>(_ body: (NSManagedObjectContext) throws -> Result) rethrows -> Result {
    try context.performAndWait { try body(context) }
  }

  /// The packs in the engine's store, read in a new snapshot; empty if it has no keyspace for packs.
  func packs() throws -> [Cairn.Row] {
    guard let engine = store.engine, let keyspace = engine.packs else { return [] }
    return try engine.store.snapshot().rows(in: keyspace)
  }
}

extension NSManagedObjectContext {
  func insert(_ entity: String, _ values: [String: Any] = [:]) -> NSManagedObject {
    let object = NSEntityDescription.insertNewObject(forEntityName: entity, into: self)
    for (key, value) in values { object.setValue(value, forKey: key) }
    return object
  }

  func all(_ entity: String, _ format: String? = nil, _ argument: Any? = nil) throws -> [NSManagedObject] {
    let request = NSFetchRequest<NSManagedObject>(entityName: entity)
    request.predicate = format.map { NSPredicate(format: $0, argument) }
    return try fetch(request)
  }

  /// The same object in this context.
  func its(_ object: NSManagedObject) -> NSManagedObject { self.object(with: object.objectID) }
}

/// The code of the error that `body` throws, as an `NSError`; nil if it throws none.
func code(_ body: () throws -> Void) -> Int? { error(body)?.code }

func error(_ body: () throws -> Void) -> NSError? {
  do {
    try body()
    return nil
  } catch {
    return error as NSError
  }
}
