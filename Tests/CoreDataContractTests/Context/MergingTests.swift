import CoreData
import Testing

@Suite("Merging the saves of another context", .anyStore)
struct MergingTests {
  private let stack: Stack<RecordingStore>

  init() throws { stack = try Stack() }

  /// Merges the changes that `change` makes in another context.
  private func merge(
    into context: NSManagedObjectContext, _ change: (NSManagedObjectContext) throws -> Void
  ) throws {
    let other = stack.context()
    let saved = Notices(NSManagedObjectContext.didSaveObjectsNotification, of: other)
    try other.performAndWait {
      try change(other)
      try other.save()
      context.performAndWait { context.mergeChanges(fromContextDidSave: saved.last!) }
    }
  }

  @Test("A merge gives objects their new values, and keeps their own changes.")
  func updated() throws {
    try stack.work { context in
      let ada = try context.person("Ada")
      ada["nickname"] = "mine"
      try merge(into: context) { other in
        let ada = try other.person("Ada")
        ada["age"] = 37
        ada["nickname"] = "theirs"
      }
      #expect(ada["age"] as? Int == 37)
      #expect(ada["nickname"] as? String == "mine")
      #expect(throws: Never.self) { try context.save() }
    }
  }

  @Test("A merge registers inserted objects.")
  func inserted() throws {
    try stack.work { context in
      try merge(into: context) { $0.make("Person", ["name": "Dan"]) }
      context.processPendingChanges()
      #expect(context.registeredObjects.map { $0["name"] as? String } == ["Dan"])
    }
  }

  @Test("An object that a merge deletes stays readable, is marked as deleted, and is not fetched.")
  func deleted() throws {
    try stack.work { context in
      let ada = try context.person("Ada")
      _ = ada["name"]
      try merge(into: context) { $0.delete(try $0.person("Ada")) }
      #expect(ada.isDeleted && !ada.isFault)
      #expect(context.registeredObject(for: ada.objectID) === ada)
      #expect(ada["name"] as? String == "Ada")
      #expect(try context.names() == "Bob Cleo")
    }
  }

  @Test("A merge accepts identifiers and URIs as well as a notification.", arguments: [false, true])
  func remote(_ asURIs: Bool) throws {
    try stack.work { context in
      let (ada, bob) = (try context.person("Ada"), try context.person("Bob"))
      _ = (ada["name"], bob["name"])
      stack.backing.change(1, ["age": 37])
      stack.backing.rows[2] = nil
      let (id, uri) = ([ada.objectID], [ada.objectID.uriRepresentation()])
      let changes: [AnyHashable: Any] = [
        "updated": asURIs ? uri as Any : id as Any, "deleted": [bob.objectID],
      ]
      NSManagedObjectContext.mergeChanges(fromRemoteContextSave: changes, into: [context])
      #expect(ada["age"] as? Int == 37)
      #expect(bob.isDeleted)
      #expect(try context.names() == "Ada Cleo")
    }
  }

  @Test("A merge reports as changed only objects whose values are in memory.")
  func notification() throws {
    try stack.work { context in
      let (ada, bob) = (try context.person("Ada"), try context.person("Bob"))
      _ = ada["name"]
      let changes = Notices(NSManagedObjectContext.didChangeObjectsNotification, of: context)
      stack.backing.change(1, ["age": 37])
      stack.backing.change(2, ["age": 26])
      let identifiers = [ada.objectID, bob.objectID, stack.store.identifier(3)]
      NSManagedObjectContext.mergeChanges(fromRemoteContextSave: ["updated": identifiers], into: [context])
      context.processPendingChanges()
      let said = changes.objects(.refreshedObjects).union(changes.objects(.updatedObjects))
      #expect(said == [ada])
      for number in 1...3 { stack.backing.rows[number] = nil }
      NSManagedObjectContext.mergeChanges(fromRemoteContextSave: ["deleted": identifiers], into: [context])
      context.processPendingChanges()
      #expect(changes.objects(.deletedObjects) == [ada])
    }
  }

  @Test("A context merges the saves of other contexts automatically if it is set to do so.")
  func automatic() throws {
    let (first, second) = (stack.context(), stack.context())
    let ada = try first.performAndWait {
      first.automaticallyMergesChangesFromParent = true
      let ada = try first.person("Ada")
      _ = ada["name"]
      return ada
    }
    try second.performAndWait {
      try second.person("Ada")["age"] = 37
      try second.save()
    }
    first.performAndWait {}
    first.performAndWait { #expect(ada["age"] as? Int == 37) }
  }
}
