import CoreData
import Testing

@Suite("Calls of a store during a save", .anyStore)
struct SaveCallTests {
  private let stack: Stack<RecordingStore>

  init() throws { stack = try Stack(Town.model(), Backing()) }

  /// The calls to the store, except requests for values and notices such as registrations.
  private func calls(_ body: () throws -> Void) rethrows -> [StoreCall] {
    try stack.calls(body).filter { $0.method != .values && $0.method != nil }
  }

  @Test("Inserting an object does not call the store.")
  func inserting() throws {
    try stack.work { context in
      stack.expectCalls([]) { context.make("Person", ["name": "Ada"]) }
      try context.save()
    }
  }

  @Test("A save obtains identifiers first, sends the request, and then registers each new object once.")
  func inserted() throws {
    try stack.work { context in
      let ada = context.make("Person", ["name": "Ada"])
      let calls = try stack.calls { try context.save() }
      #expect(
        calls == [.permanentIDs(["Person"]), .save(inserted: ["Person/1"]), .register(["Person/1"])])
      #expect(ada.objectID == stack.store.identifier(1))
    }
  }

  @Test("A save registers no updated and no deleted objects.")
  func updatedAndDeleted() throws {
    stack.backing.add("Pet", ["name": "Rex"])
    stack.backing.add("Pet", ["name": "Tom"])
    try stack.work { context in
      let (rex, tom) = (try context.all("Pet", "name = 'Rex'")[0], try context.all("Pet", "name = 'Tom'")[0])
      rex["name"] = "Max"
      context.delete(tom)
      #expect(try calls { try context.save() } == [.save(updated: ["Pet/1"], deleted: ["Pet/2"])])
    }
  }

  @Test("A save obtains permanent identifiers after the hooks and the validation.")
  func refusedByValidation() throws {
    try stack.work { context throws in
      context.make("Person")
      stack.expectCalls([]) { #expect(thrown { try context.save() }?.code == 1570) }
    }
  }

  @Test("A save obtains no identifier for an object that has a permanent one.")
  func obtainedBefore() throws {
    try stack.work { context in
      let ada = context.make("Person", ["name": "Ada"])
      try stack.expectCalls([.permanentIDs(["Person"])]) { try context.obtainPermanentIDs(for: [ada]) }
      let calls = try stack.calls { try context.save() }
      #expect(calls.first == .save(inserted: ["Person/1"]))
    }
  }

  @Test("A save without changes reaches the store, with empty sets.")
  func nothing() throws {
    try stack.work { context in
      try stack.expectCalls([.save()]) { try context.save() }
    }
  }

  @Test("A reset unregisters the objects under their permanent identifiers.")
  func reset() throws {
    try stack.work { context in
      let ada = context.make("Person", ["name": "Ada"])
      try context.save()
      stack.expectCalls([.unregister(["Person/1"])]) { context.reset() }
      _ = ada
    }
  }
}
