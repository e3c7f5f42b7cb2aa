import CoreData
import IncrementalStore
import Testing

/// What a row store learns of the rows and entries that it keeps.
@Suite("The schema for row stores")
struct RowSchemaTests {
  @Test("A row store has the schema before the first row of an entity, and reads rows and entries with it.")
  func order() throws {
    let model = Self.model
    let rows = MemoryRowStore()
    let learner = Learner(rows)
    let coordinator = NSPersistentStoreCoordinator(managedObjectModel: model)
    unsafe LearningStore.learner = learner
    NSPersistentStoreCoordinator.registerStoreClass(
      LearningStore.self, type: NSPersistentStore.StoreType(rawValue: LearningStore.storeType))
    _ = try coordinator.addPersistentStore(
      type: NSPersistentStore.StoreType(rawValue: LearningStore.storeType), at: URL(filePath: "/learner"))
    let context = NSManagedObjectContext(.privateQueue)
    context.persistentStoreCoordinator = coordinator
    let (book, author) = try context.performAndWait {
      let book = NSEntityDescription.insertNewObject(forEntityName: "Book", into: context)
      let author = NSEntityDescription.insertNewObject(forEntityName: "Author", into: context)
      book.setValue("Emma", forKey: "title")
      author.setValue("Jane", forKey: "name")
      book.setValue(author, forKey: "author")
      try context.save()
      return (Self.reference(book), Self.reference(author))
    }
    let schema = try #require(try rows.snapshot().schema())
    #expect(schema == learner.schema)
    #expect(schema.entities.map(\.name).sorted() == ["Author", "Book"])
    let entity = try #require(schema.entities.first { $0.name == "Author" })
    #expect(entity.constraints.count == 1)
    #expect(learner.seen.contains("Book: author \(author), title Emma"))
    #expect(learner.seen.contains("Author: name Jane"))
    #expect(learner.seen.contains("books: \(author) has \(book)"))
    #expect(learner.seen.contains("key of \(author)"))
    #expect(try MemoryRowStore().snapshot().schema() == nil)
  }

  private static func reference(_ object: NSManagedObject) -> Substring {
    object.objectID.uriRepresentation().lastPathComponent.dropFirst()
  }

  private static var model: NSManagedObjectModel {
    let (book, author) = (NSEntityDescription(), NSEntityDescription())
    (book.name, author.name) = ("Book", "Author")
    let (title, name) = (NSAttributeDescription(), NSAttributeDescription())
    (title.name, name.name) = ("title", "name")
    for attribute in [title, name] { attribute.attributeType = .stringAttributeType }
    let (one, many) = (NSRelationshipDescription(), NSRelationshipDescription())
    (one.name, one.destinationEntity, one.maxCount) = ("author", author, 1)
    (many.name, many.destinationEntity, many.maxCount) = ("books", book, 0)
    (one.inverseRelationship, many.inverseRelationship) = (many, one)
    for relationship in [one, many] { relationship.deleteRule = .nullifyDeleteRule }
    book.properties = [title, one]
    author.properties = [name, many]
    author.uniquenessConstraints = [["name"]]
    let model = NSManagedObjectModel()
    model.entities = [book, author]
    return model
  }
}

private final class LearningStore: RowIncrementalStore {
  nonisolated(unsafe) static var learner: Learner?

  override class var storeType: String { "LearningStore" }

  override class func rowStore(at url: URL, options: [AnyHashable: Any]?) throws -> any RowStore {
    try #require(unsafe learner)
  }
}

/// A row store that describes in words what is saved in it.
private final class Learner: RowStore, @unchecked Sendable {
  private let rows: MemoryRowStore
  private(set) var schema: RowSchema?
  private(set) var seen: [String] = []

  init(_ rows: MemoryRowStore) { self.rows = rows }

  var referenceKind: RowReferenceKind { rows.referenceKind }

  func snapshot() throws -> any RowSnapshot { rows.snapshot() }

  func save(_ changes: (any RowSnapshot) throws -> RowChanges) throws -> UInt64 {
    try rows.save { snapshot in
      let changes = try changes(snapshot)
      if let new = try changes.newSchema() { schema = new }
      for row in changes.rows {
        guard case .put(let bytes) = row.change, row.table != 0, let schema,
          let entity = schema.entities.first(where: { $0.number == row.table })
        else { continue }
        let stored = StoredRow(reference: row.reference, bytes: bytes, version: 1, revision: 1)
        let values = try schema.values(of: stored, in: entity.number)
        let words = entity.properties.sorted { $0.name < $1.name }.compactMap { property -> String? in
          switch values[property.number] {
          case .string(let text): "\(property.name) \(text)"
          case .object(let object): "\(property.name) \(object.reference)"
          default: nil
          }
        }
        seen.append("\(entity.name): \(words.joined(separator: ", "))")
      }
      for entry in changes.addedEntries {
        switch schema?.content(of: entry) {
        case .member(let relationship, let owner, let member, _):
          let name = schema?.entities.lazy.flatMap(\.properties).first { $0.number == relationship }?.name
          seen.append("\(name ?? ""): \(owner) has \(member.reference)")
        case .key(_, _, let holder): seen.append("key of \(holder.reference)")
        default: seen.append("an unknown entry")
        }
      }
      return changes
    }
  }

  func reserveReferences(_ count: Int) throws -> [RowReference] { rows.reserveReferences(count) }

  func close() throws { rows.close() }
}
