import CoreData
import Testing

@Suite("Objects inserted and deleted before a save", .anyStore)
struct AnnihilationTests {
  private let stack: Stack<RecordingStore>

  init() throws { stack = try Stack() }

  @Test("An object inserted and deleted before a save leaves all sets and the registry, and never reaches the store.")
  func gone() throws {
    try stack.work { context throws in
      let dan = context.make("Person", ["name": "Dan"])
      let id = dan.objectID
      context.delete(dan)
      context.processPendingChanges()
      #expect(context.insertedObjects.isEmpty && context.deletedObjects.isEmpty && !context.hasChanges)
      #expect(context.registeredObject(for: id) == nil)
      try stack.expectCalls([.save()]) { try context.save() }
    }
  }

  @Test("Deleting an object before a save also deletes the objects that its relationships cascade to.")
  func cascade() throws {
    try stack.work { context in
      let dan = context.make("Person", ["name": "Dan"])
      let max = context.make("Pet", ["name": "Max", "owner": dan])
      let rex = try context.all("Pet", "name = 'Rex'")[0]
      rex["owner"] = dan
      context.delete(dan)
      context.processPendingChanges()
      #expect(context.insertedObjects.isEmpty)
      #expect(context.deletedObjects == [rex])
      #expect(max.managedObjectContext == nil || max.isDeleted)
    }
  }

  @Test("An object inserted and deleted before a save is removed from the relationships to it.")
  func nullified() throws {
    try stack.work { context in
      let (ada, dan) = (try context.person("Ada"), context.make("Person", ["name": "Dan"]))
      dan["friends"] = NSSet(object: ada)
      context.delete(dan)
      context.processPendingChanges()
      #expect(ada.names("friends") == ["Bob"])
      try context.save()
    }
    #expect(stack.backing.rows[1]?.toMany["friends"] == [2])
  }

  @Test(
    "An object inserted and deleted before a save does not return, whatever is done to it.", arguments: [true, false])
  func noResurrection(_ processes: Bool) throws {
    try stack.work { context in
      let dan = context.make("Person", ["name": "Dan"])
      context.delete(dan)
      if processes { context.processPendingChanges() }
      dan["age"] = 52
      let calls = try stack.calls { try context.save() }
      #expect(calls == [.save()])
      #expect(try context.names() == "Ada Bob Cleo")
    }
  }
}
