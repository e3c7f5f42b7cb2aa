import CoreData
import Testing

@Suite("Save requests", .anyStore)
struct SaveRequestTests {
  private let stack: Stack<RecordingStore>

  init() throws { stack = try Stack() }

  @Test("A save request has the objects with their new values and permanent identifiers.")
  func objects() throws {
    try stack.work { context in
      let ada = try context.person("Ada")
      ada["age"] = 37
      let house = context.make("House", ["street": "Oak"])
      ada["home"] = house
      try context.save()
    }
    #expect(stack.backing.rows[8]?.attributes["street"] as? String == "Oak")
    #expect(stack.backing.rows[1]?.attributes["age"] as? Int == 37)
    #expect(stack.backing.rows[1]?.toOne["home"] == 8)
  }

  @Test("A save request separates inserted, updated, deleted and locked objects.")
  func sets() throws {
    try stack.work { context in
      let (ada, bob, rex) = (try context.person("Ada"), try context.person("Bob"), try context.all("Pet")[0])
      context.make("Errand", ["title": "eggs"])
      ada["nickname"] = "Countess"
      context.detectConflicts(for: bob)
      context.delete(rex)
      let calls = try stack.calls { try context.save() }
      // The pet is removed from its owner's relationship, which does not change the owner's row.
      #expect(
        calls.contains(
          .save(inserted: ["Errand/8"], updated: ["Person/1"], deleted: ["Pet/5"], locked: ["Person/2"])))
    }
  }

  @Test("A save request without collections is for the metadata alone.")
  func withoutCollections() throws {
    try stack.work { context throws in
      let request = NSSaveChangesRequest(inserted: nil, updated: nil, deleted: nil, locked: nil)
      #expect(request.requestType == .saveRequestType)
      #expect(request.insertedObjects == nil && request.updatedObjects == nil)
      #expect(request.deletedObjects == nil && request.lockedObjects == nil)
      try stack.expectCalls([.saveMetadata]) { _ = try stack.coordinator.execute(request, with: context) }
    }
  }

  @Test(
    "A save request that fails leaves all changes pending, to be saved later.",
    arguments: [StoreMethod.save, .permanentIDs])
  func failure(_ method: StoreMethod) throws {
    try stack.work { context in
      let ada = try context.person("Ada")
      ada["age"] = 37
      let dan = context.make("Person", ["name": "Dan"])
      let rex = try context.all("Pet")[0]
      context.delete(rex)
      stack.backing.failing = [method]
      #expect(throws: Refusal(method: method)) { try context.save() }
      #expect(context.insertedObjects == [dan] && context.deletedObjects == [rex])
      #expect(context.updatedObjects.contains(ada) && ada["age"] as? Int == 37)
      stack.backing.failing = []
      try context.save()
      #expect(!context.hasChanges)
    }
    #expect(try stack.work { try $0.names(people("age = 37 OR name = 'Dan'")) } == "Ada Dan")
  }
}
