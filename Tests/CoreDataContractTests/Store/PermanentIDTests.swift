import CoreData
import Testing

@Suite("Permanent identifiers", .anyStore)
struct PermanentIDTests {
  private let stack: Stack<RecordingStore>

  init() throws { stack = try Stack(Town.model(), Backing()) }

  @Test("Each object gets a permanent identifier of its own entity, even if that is a subentity.")
  func ownEntity() throws {
    try stack.work { context in
      let objects = ["Person", "Child", "House", "Child"].map { context.make($0) }
      for object in objects { #expect(object.objectID.isTemporaryID) }
      try context.obtainPermanentIDs(for: objects)
      #expect(objects.map(\.objectID.entity.name) == ["Person", "Child", "House", "Child"])
      #expect(Set(objects.map(\.objectID)).count == 4)
      for object in objects { #expect(!object.objectID.isTemporaryID) }
    }
  }

  @Test("Permanent identifiers are assigned to objects in the order of the store's answer.")
  func order() throws {
    try stack.work { context in
      let objects = ["a", "b", "c"].map { context.make("Person", ["name": $0]) }
      try context.obtainPermanentIDs(for: objects)
      #expect(objects.map { stack.store.number($0.objectID) } == [1, 2, 3])
      try context.save()
    }
    for (number, name) in [(1, "a"), (2, "b"), (3, "c")] {
      #expect(stack.backing.rows[number]?.attributes["name"] as? String == name)
    }
  }

  @Test("Obtaining a permanent identifier saves nothing.")
  func reservation() throws {
    try stack.work { context in
      let ada = context.make("Person", ["name": "Ada"])
      try context.obtainPermanentIDs(for: [ada])
      #expect(stack.backing.rows.isEmpty)
      #expect(ada.isInserted && context.insertedObjects == [ada])
      context.rollback()
      try context.save()
    }
    #expect(stack.backing.rows.isEmpty)
  }

  @Test("An object with a permanent identifier is found by it and by its temporary one.")
  func registry() throws {
    try stack.work { context in
      let ada = context.make("Person", ["name": "Ada"])
      let temporary = ada.objectID
      try context.save()
      #expect(context.registeredObject(for: ada.objectID) === ada)
      #expect(context.object(with: temporary) === ada)
    }
  }

  @Test("A save that fails keeps permanent identifiers, and the next save uses them.")
  func failedSave() throws {
    try stack.work { context throws in
      let ada = context.make("Person", ["name": "Ada"])
      stack.backing.failing = [.save]
      #expect(throws: Refusal(method: .save)) { try context.save() }
      #expect(stack.store.number(ada.objectID) == 1)
      stack.backing.failing = []
      #expect(try stack.calls { try context.save() }.first == .save(inserted: ["Person/1"]))
    }
  }

  @Test("Objects that refer to each other can be saved at once.")
  func related() throws {
    try stack.work { context in
      let (ada, bob) = (context.make("Person", ["name": "Ada"]), context.make("Person", ["name": "Bob"]))
      ada["friends"] = NSSet(object: bob)
      try context.save()
      let (a, b) = (stack.store.number(ada.objectID), stack.store.number(bob.objectID))
      #expect(stack.backing.rows[a]?.toMany["friends"] == [b])
      #expect(stack.backing.rows[b]?.toMany["friends"] == [a])
    }
  }
}
