import Foundation
import OpenCoreData
import Testing

@Suite("Objects that are deleted together")
struct DeletedTogetherTests {
  private let store: ShelfStore
  private let context = NSManagedObjectContext(.privateQueue)

  init() throws {
    let coordinator = NSPersistentStoreCoordinator(managedObjectModel: Self.model)
    let type = NSPersistentStore.StoreType(rawValue: "Shelves")
    NSPersistentStoreCoordinator.registerStoreClass(ShelfStore.self, type: type)
    let metadata = [NSStoreTypeKey: "Shelves", NSStoreUUIDKey: UUID().uuidString]
    let added = try coordinator.addPersistentStore(
      type: type, at: URL(filePath: "/dev/null"), options: ["metadata": metadata])
    store = try #require(added as? ShelfStore)
    context.persistentStoreCoordinator = coordinator
  }

  @Test("The members that delete rules need are read with one call for all deleted objects of an entity.")
  func together() {
    context.performAndWait {
      let shelves = (1...3).map(shelf)
      for shelf in shelves { context.delete(shelf) }
      context.processPendingChanges()
      #expect(store.together == [[1, 2, 3]] && store.alone.isEmpty)
      #expect(context.deletedObjects.count == 9)
      for shelf in shelves { #expect((shelf.value(forKey: "books") as? NSSet)?.count == 2) }
    }
  }

  @Test("Members that cannot be read together are read for each object.", arguments: [[], [2]])
  func failing(_ missing: [Int]) {
    store.missing = missing
    store.failsTogether = missing.isEmpty
    context.performAndWait {
      for number in 1...3 { context.delete(shelf(number)) }
      context.processPendingChanges()
      #expect(store.together == [[1, 2, 3]])
      #expect(store.alone.sorted() == (missing.isEmpty ? [1, 2, 3] : missing))
      #expect(context.deletedObjects.count == 9)
    }
  }

  @Test("Members that the context knows are kept when those of other objects are read.")
  func known() {
    context.performAndWait {
      let shelves = (1...3).map(shelf)
      let book = NSEntityDescription.insertNewObject(forEntityName: "Book", into: context)
      book.setValue(shelves[0], forKey: "shelf")
      _ = shelves[1].value(forKey: "books")
      for shelf in shelves { context.delete(shelf) }
      context.processPendingChanges()
      #expect(store.together == [[1, 3]] && store.alone == [2])
      #expect(context.insertedObjects.isEmpty && book.managedObjectContext == nil)
      #expect(context.deletedObjects.count == 9)
    }
  }

  @Test("Deleted objects of several entities are read in the order in which these entities come first.")
  func severalEntities() {
    context.performAndWait {
      for number in 10...21 { context.delete(shelf(number)) }
      context.processPendingChanges()
      #expect(store.together == (10...15).map { [$0, $0 + 6] })
      #expect(store.alone.isEmpty)
      #expect(context.deletedObjects.count == 36)
    }
  }

  private func shelf(_ number: Int) -> NSManagedObject {
    context.object(with: store.shelf(number, Self.entity("Shelf", in: context)))
  }

  private static func entity(_ name: String, in context: NSManagedObjectContext) -> NSEntityDescription {
    NSEntityDescription.entity(forEntityName: name, in: context)!
  }

  private static var model: NSManagedObjectModel {
    let (shelf, book) = (NSEntityDescription(), NSEntityDescription())
    (shelf.name, book.name) = ("Shelf", "Book")
    let (books, owner) = (NSRelationshipDescription(), NSRelationshipDescription())
    (books.name, books.destinationEntity, books.maxCount, books.deleteRule) = ("books", book, 0, .cascadeDeleteRule)
    (owner.name, owner.destinationEntity, owner.maxCount, owner.deleteRule) = ("shelf", shelf, 1, .nullifyDeleteRule)
    (books.inverseRelationship, owner.inverseRelationship) = (owner, books)
    shelf.properties = [books]
    book.properties = [owner]
    shelf.subentities = (0..<6).map { number in
      let kind = NSEntityDescription()
      kind.name = "Shelf \(number)"
      return kind
    }
    let model = NSManagedObjectModel()
    model.entities = [shelf, book] + shelf.subentities
    return model
  }
}

/// A store of shelves with two books each, which notes for which shelves it was asked for the books.
private final class ShelfStore: TestStore, RelatingStore {
  private(set) var together: [[Int]] = []
  private(set) var alone: [Int] = []
  var failsTogether = false
  /// The shelves whose books it does not tell when it is asked for those of several.
  var missing: [Int] = []

  override func newValuesForObject(
    with objectID: NSManagedObjectID, with context: NSManagedObjectContext
  ) throws -> NSIncrementalStoreNode {
    guard objectID.entity.name == "Book" else {
      return NSIncrementalStoreNode(objectID: objectID, withValues: [:], version: 1)
    }
    let shelf = shelf(number(objectID) / 10, Self.other(objectID))
    return NSIncrementalStoreNode(objectID: objectID, withValues: ["shelf": shelf], version: 1)
  }

  override func newValue(
    forRelationship relationship: NSRelationshipDescription, forObjectWith objectID: NSManagedObjectID,
    with context: NSManagedObjectContext?
  ) throws -> Any {
    alone.append(number(objectID))
    return books(objectID)
  }

  func members(
    of relationship: NSRelationshipDescription, ofObjectsWith objectIDs: [NSManagedObjectID],
    _ context: NSManagedObjectContext
  ) throws -> [[NSManagedObjectID]?] {
    together.append(objectIDs.map(number))
    if failsTogether { throw CocoaError(.fileReadUnknown) }
    return objectIDs.map { missing.contains(number($0)) ? nil : books($0) }
  }

  /// The identifier of a shelf. Shelves from the tenth on are of six subentities in turn.
  func shelf(_ number: Int, _ entity: NSEntityDescription) -> NSManagedObjectID {
    let kind = number < 10 ? nil : entity.subentitiesByName["Shelf \(number % 6)"]
    return newObjectID(for: kind ?? entity, referenceObject: number)
  }

  private func books(_ shelf: NSManagedObjectID) -> [NSManagedObjectID] {
    (1...2).map { newObjectID(for: Self.other(shelf), referenceObject: number(shelf) * 10 + $0) }
  }

  private func number(_ id: NSManagedObjectID) -> Int { (referenceObject(for: id) as? NSNumber)?.intValue ?? 0 }

  /// The entity at the other end.
  private static func other(_ id: NSManagedObjectID) -> NSEntityDescription {
    id.entity.relationshipsByName.values.first!.destinationEntity!
  }
}
