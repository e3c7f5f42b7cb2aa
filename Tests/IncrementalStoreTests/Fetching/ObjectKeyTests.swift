import CoreData
import Testing

@Suite("Keys of every object", .anyStore)
struct ObjectKeyTests {
  private let stack: Stack<RecordingStore>

  init() throws { stack = try Stack() }

  /// Expects the same result before a save, when the context evaluates the predicate, and after it, when the store
  /// does.
  private func expect(
    _ names: String, sourceLocation: SourceLocation = #_sourceLocation,
    _ predicate: (_ ada: NSManagedObject, _ child: NSManagedObject) -> NSPredicate
  ) throws {
    try stack.work { context in
      let ada = try context.person("Ada")
      let child = context.make("Child", ["name": "Dora", "age": 3])
      try context.obtainPermanentIDs(for: [child])
      ada["friends"] = NSSet(object: child)
      let request = people()
      request.predicate = predicate(ada, child)
      #expect(try context.names(request) == names, "pending", sourceLocation: sourceLocation)
      try context.save()
      #expect(try context.names(request) == names, "saved", sourceLocation: sourceLocation)
      context.delete(child)
      try context.save()
    }
  }

  @Test("The keys `objectID` and `self` are the object's identifier.")
  func identifiers() throws {
    try expect("Dora") { _, child in NSPredicate(format: "objectID == %@", child.objectID) }
    try expect("Ada Dora") {
      NSPredicate(format: "objectID IN %@ AND self IN %@", [$0.objectID, $1.objectID], [$0, $1])
    }
    try expect("Bob Cleo Dora") { ada, _ in NSPredicate(format: "NOT objectID IN %@", [ada]) }
    try expect("Ada") { _, child in NSPredicate(format: "ANY friends.objectID == %@", child.objectID) }
    try expect("Ada Dora") { _, _ in NSPredicate(format: "SUBQUERY(friends, $f, $f.objectID != nil).@count > 0") }
  }

  @Test("The key `entity` is the object's entity, which has a name.")
  func entities() throws {
    try expect("Cleo Dora") { _, child in NSPredicate(format: "entity == %@", child.entity) }
    try expect("Ada Bob") { _, _ in NSPredicate(format: "entity.name == 'Person'") }
    try expect("Ada") { _, _ in NSPredicate(format: "ANY friends.entity.name BEGINSWITH 'Ch'") }
  }

  @Test("The keys of every object can be fetched into dictionaries.")
  func dictionaries() throws {
    try stack.work { (context) throws in
      let request = NSFetchRequest<NSDictionary>(entityName: "Person")
      request.resultType = .dictionaryResultType
      request.propertiesToFetch = ["name", "objectID", "entity.name"]
      request.predicate = NSPredicate(format: "name == 'Ada'")
      let row = try #require(try context.fetch(request).first)
      #expect(try row["objectID"] as? NSManagedObjectID == context.person("Ada").objectID)
      #expect(row["entity.name"] as? String == "Person")
    }
  }

  @Test("In memory, the states of an object in its context are keys, too.")
  func states() throws {
    try stack.work { (context) throws in
      let child = context.make("Child", ["name": "Dora", "age": 3])
      let predicate = NSPredicate(
        format: "isInserted == YES AND isDeleted == NO AND hasChanges == YES AND isUpdated == NO AND isFault == NO")
      #expect(predicate.evaluate(with: child))
      #expect(try !predicate.evaluate(with: context.person("Ada")))
      #expect(NSPredicate(format: "description CONTAINS 'entity: Child'").evaluate(with: child))
    }
  }
}
