import CairnIncrementalStore
import CoreData
import Testing

/// Objects that were fetched with their rows, of which nothing has been read yet.
@Suite struct LateDecodingTests {
  private let library = Library()

  /// Saves a book on a shelf.
  private func save(_ coordinator: Coordinator) throws {
    try coordinator.work { context in
      let shelf = context.insert("Shelf", ["name": "novels"])
      _ = context.insert("Book", ["title": "Emma", "shelf": shelf])
      try context.save()
    }
  }

  private func fetchBook(_ context: NSManagedObjectContext) throws -> NSManagedObject {
    let request = NSFetchRequest<NSManagedObject>(entityName: "Book")
    request.returnsObjectsAsFaults = false
    return try #require(try context.fetch(request).first)
  }

  @Test("An object has the values of the row that was fetched, also if another context has saved others since.")
  func replacedRow() throws {
    let coordinator = try library.coordinator()
    try save(coordinator)
    let (mine, theirs) = (coordinator.anotherContext(), coordinator.anotherContext())
    try mine.performAndWait {
      let book = try fetchBook(mine)
      try theirs.performAndWait {
        let same = try fetchBook(theirs)
        same["title"] = "Persuasion"
        same["author"] = "Jane Austen"
        try theirs.save()
        theirs.refresh(same, mergeChanges: false)
        #expect(same["title"] as? String == "Persuasion")
      }
      #expect(!book.isFault && book["title"] as? String == "Emma" && book["author"] == nil)
      book["author"] = "J. A."
      #expect(book.committedValues(forKeys: ["title"])["title"] as? String == "Emma")
      let error = #expect(throws: NSError.self) { try mine.save() }
      #expect(error?.code == NSManagedObjectMergeError)
    }
    try coordinator.close()
  }

  @Test("Values that are read again and again, with relationships between them, stay the same.")
  func readings() throws {
    let coordinator = try library.coordinator()
    try save(coordinator)
    let context = coordinator.anotherContext()
    try context.performAndWait {
      let book = try fetchBook(context)
      for _ in 0..<10 { #expect(book["title"] as? String == "Emma" && book["author"] == nil) }
      let shelf = try #require(book["shelf"] as? NSManagedObject)
      #expect(shelf["name"] as? String == "novels" && (shelf["books"] as? NSSet)?.count == 1)
      #expect(book["title"] as? String == "Emma" && book["shelf"] as? NSManagedObject === shelf)
      #expect(book.changedValues().isEmpty && !context.hasChanges)
    }
    try coordinator.close()
  }

  @Test("An object whose store was removed has the values of its row.")
  func removedStore() throws {
    let writer = try library.coordinator()
    try save(writer)
    try writer.close()
    let coordinator = NSPersistentStoreCoordinator(managedObjectModel: Library.model())
    let context = NSManagedObjectContext(.privateQueue)
    context.persistentStoreCoordinator = coordinator
    _ = try coordinator.addPersistentStore(type: .cairn, at: library.url)
    try context.performAndWait {
      let shelf = try #require(try context.fetch(NSFetchRequest<NSManagedObject>(entityName: "Shelf")).first)
      let book = try fetchBook(context)
      try coordinator.remove(coordinator.persistentStores[0])
      #expect(book.objectID.persistentStore == nil)
      #expect(!book.isFault && book["title"] as? String == "Emma" && book["author"] == nil)
      #expect(book.objectIDs(forRelationshipNamed: "shelf") == [shelf.objectID])
    }
  }

  @Test("An object that is inserted again after its deletion was saved keeps the values of its row.")
  func insertedAgain() throws {
    let (attribute, note) = (NSAttributeDescription(), NSEntityDescription())
    (attribute.name, attribute.attributeType) = ("text", .stringAttributeType)
    (note.name, note.properties) = ("Note", [attribute])
    let model = NSManagedObjectModel()
    model.entities = [note]
    CairnIncrementalStore.register()
    let coordinator = NSPersistentStoreCoordinator(managedObjectModel: model)
    _ = try coordinator.addPersistentStore(type: .cairn, at: library.url)
    let context = NSManagedObjectContext(.privateQueue)
    context.persistentStoreCoordinator = coordinator
    try context.performAndWait {
      _ = context.insert("Note", ["text": "buy bread"])
      try context.save()
      context.reset()
      let request = NSFetchRequest<NSManagedObject>(entityName: "Note")
      request.returnsObjectsAsFaults = false
      let fetched = try #require(try context.fetch(request).first)
      context.delete(fetched)
      try context.save()
      context.insert(fetched)
      try context.save()
      context.reset()
      #expect(try context.fetch(request).map { $0["text"] as? String } == ["buy bread"])
    }
  }
}

extension Coordinator {
  func anotherContext() -> NSManagedObjectContext {
    let context = NSManagedObjectContext(.privateQueue)
    context.persistentStoreCoordinator = coordinator
    return context
  }
}
