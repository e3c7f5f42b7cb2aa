import CairnIncrementalStore
import CoreData
@testable import IncrementalStore
import Testing

@Suite("Fetched collections")
struct FetchedCollectionTests {
  private let library = Library()

  /// A context of a new store with 300 books, a third of which are comics, in 10 ranks; the model has an index of ranks
  /// if that is wanted.
  private func context(_ type: NSPersistentStore.StoreType, isIndexed: Bool) throws -> NSManagedObjectContext {
    CairnIncrementalStore.register()
    let model = Library.model()
    let book = try #require(model.entitiesByName["Book"])
    let rank = NSAttributeDescription()
    (rank.name, rank.attributeType) = ("rank", .integer64AttributeType)
    let home = NSAttributeDescription()
    (home.name, home.attributeType) = ("home", .URIAttributeType)
    book.properties += [rank, home]
    if isIndexed {
      let element = NSFetchIndexElementDescription(property: rank, collationType: .binary)
      book.indexes = [NSFetchIndexDescription(name: "ranks", elements: [element])]
    }
    let coordinator = NSPersistentStoreCoordinator(managedObjectModel: model)
    let url = type == .inMemory ? URL(filePath: "/dev/null") : library.url
    try coordinator.addPersistentStore(
      type: type, at: url,
      options: [
        CairnDurabilityOption: "buffered", BuildsIndexesFirstOption: NSNumber(value: true),
        RowCacheBytesOption: NSNumber(value: 0),
      ])
    let context = NSManagedObjectContext(.privateQueue)
    context.persistentStoreCoordinator = coordinator
    try context.performAndWait {
      for number in 0..<300 {
        _ = context.insert(
          number.isMultiple(of: 3) ? "Comic" : "Book",
          [
            "title": "\(number)", "rank": number * 7 % 10,
            "home": URL(string: "https://a.example/\(number * 11 % 300)") as Any,
          ])
      }
      try context.save()
      context.reset()
    }
    return context
  }

  private func requests() -> [NSFetchRequest<NSManagedObject>] {
    let predicates = [nil, NSPredicate(format: "rank > 3"), NSPredicate(format: "title == 'no title'")]
    let sortings = [
      nil, [NSSortDescriptor(key: "rank", ascending: true)], [NSSortDescriptor(key: "rank", ascending: false)],
      [NSSortDescriptor(key: "title", ascending: true)], [NSSortDescriptor(key: "home", ascending: true)],
      [NSSortDescriptor(key: "rank", ascending: false), NSSortDescriptor(key: "title", ascending: true)],
    ]
    return predicates.flatMap { predicate in
      sortings.flatMap { sorting in
        [(0, 0), (0, 20), (50, 30), (290, 0)].flatMap { offset, limit in
          [true, false].map { includesSubentities in
            let request = NSFetchRequest<NSManagedObject>(entityName: "Book")
            (request.predicate, request.sortDescriptors) = (predicate, sorting)
            (request.fetchOffset, request.fetchLimit) = (offset, limit)
            request.includesSubentities = includesSubentities
            return request
          }
        }
      }
    }
  }

  @Test(
    "A collection has the objects of a fetch in the same order, also in a child and with unsaved changes.",
    arguments: [NSPersistentStore.StoreType.cairn, .inMemory], [true, false])
  func contents(_ type: NSPersistentStore.StoreType, _ isIndexed: Bool) throws {
    let context = try context(type, isIndexed: isIndexed)
    func compare(_ context: NSManagedObjectContext) throws {
      for request in requests() {
        let collection = try context.fetchCollection(request)
        let found = try context.fetch(request)
        #expect(Array(collection) == found, "\(request)")
        #expect(collection.indices.map(collection.objectID) == found.map(\.objectID))
      }
    }
    try context.performAndWait {
      try compare(context)
      context.delete(try context.all("Book", "title = %@", "7")[0])
      try context.all("Book", "title = %@", "8")[0]["rank"] = 3
      _ = context.insert("Book", ["title": "new", "rank": 4])
      try compare(context)
      let child = NSManagedObjectContext(.privateQueue)
      child.parent = context
      try child.performAndWait { () throws in try compare(child) }
    }
  }

  @Test("A collection makes objects when they are asked for, reads a batch at once, and keeps only that batch.")
  func batches() throws {
    let context = try context(.cairn, isIndexed: true)
    try context.performAndWait {
      let request = NSFetchRequest<NSManagedObject>(entityName: "Book")
      request.fetchBatchSize = 10
      let collection = try context.fetchCollection(request)
      #expect(collection.count == 300)
      #expect(context.registeredObjects.isEmpty)
      let kept = collection[15]
      #expect(context.registeredObjects.count == 10)
      _ = kept["title"]
      #expect(context.registeredObjects.count { $0.isFault } == 0)
      #expect(collection[10] !== kept && collection[15] === kept)
      #expect(collection[299].isFault)
      #expect(context.registeredObjects.count == 11)
      #expect(collection[15] === kept)
    }
  }

  @Test("After a walk through a collection, nothing of its objects is left in the context or the row cache.")
  func memory() throws {
    let context = try context(.cairn, isIndexed: true)
    let stores = context.persistentStoreCoordinator?.persistentStores ?? []
    let cache = try #require(stores.first as? CairnIncrementalStore).cache
    try context.performAndWait {
      let request = NSFetchRequest<NSManagedObject>(entityName: "Book")
      request.fetchBatchSize = 10
      let titles = try context.fetchCollection(request).map { $0["title"] as? String }
      #expect(titles.count == 300)
      context.processPendingChanges()
      #expect(cache.size.rows <= 10)
      #expect(context.registeredObjects.isEmpty)
    }
  }

  @Test("An object of a collection that somebody deletes is a fault whose row is gone.")
  func deleted() throws {
    let context = try context(.cairn, isIndexed: false)
    try context.performAndWait {
      let collection = try context.fetchCollection(NSFetchRequest<NSManagedObject>(entityName: "Book"))
      let id = collection.objectID(at: 20)
      let other = NSManagedObjectContext(.privateQueue)
      other.persistentStoreCoordinator = context.persistentStoreCoordinator
      try other.performAndWait {
        other.delete(other.object(with: id))
        try other.save()
      }
      #expect(collection[20].objectID == id)
      #expect(collection[20]["title"] == nil)
      #expect(collection[21]["title"] != nil)
    }
  }

  @Test("After a reset of the context, a collection gives objects of the context, and none that has left it.")
  func reset() throws {
    let context = try context(.cairn, isIndexed: false)
    try context.performAndWait {
      let collection = try context.fetchCollection(NSFetchRequest<NSManagedObject>(entityName: "Book"))
      let former = collection[3]
      let title = former["title"] as? String
      context.reset()
      #expect(collection[3] !== former)
      #expect(collection[3].managedObjectContext === context)
      #expect(collection[3]["title"] as? String == title)
    }
  }

  @Test("An invalid request for a collection throws.")
  func invalid() throws {
    let context = try context(.cairn, isIndexed: false)
    context.performAndWait {
      let request = NSFetchRequest<NSManagedObject>(entityName: "Book")
      request.predicate = NSPredicate(format: "height > 3")
      #expect(throws: FetchRequestError.self) { try context.fetchCollection(request) }
    }
  }
}
