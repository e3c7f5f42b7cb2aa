import CoreData
import Testing

@Suite("What a store is asked for a save", .anyStore)
struct SaveCallTests {
  private let stack: Stack<RecordingStore>

  init() throws { stack = try Stack(Town.model(), Backing()) }

  /// The calls to the store, except requests for values and notices such as registrations.
  private func calls(_ body: () throws -> Void) rethrows -> [StoreCall] {
    try stack.calls(body).filter { $0.method != .values && $0.method != nil }
  }

  @Test("inserting asks nothing")
  func inserting() throws {
    try stack.work { context in
      stack.expectCalls([]) { context.make("Person", ["name": "Ada"]) }
      try context.save()
    }
  }

  @Test("identifiers of new objects come first, then the request, then they are registered under these, once each")
  func inserted() throws {
    try stack.work { context in
      let ada = context.make("Person", ["name": "Ada"])
      let calls = try stack.calls { try context.save() }
      #expect(
        calls == [.permanentIDs(["Person"]), .save(inserted: ["Person/1"]), .register(["Person/1"])])
      #expect(ada.objectID == stack.store.identifier(1))
    }
  }

  @Test("what is only updated or deleted is registered already")
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

  @Test("permanent identifiers come after the hooks and the validation")
  func refusedByValidation() throws {
    try stack.work { context throws in
      context.make("Person")
      stack.expectCalls([]) { #expect(thrown { try context.save() }?.code == 1570) }
    }
  }

  @Test("an object that has a permanent identifier is not asked for another")
  func obtainedBefore() throws {
    try stack.work { context in
      let ada = context.make("Person", ["name": "Ada"])
      try stack.expectCalls([.permanentIDs(["Person"])]) { try context.obtainPermanentIDs(for: [ada]) }
      let calls = try stack.calls { try context.save() }
      #expect(calls.first == .save(inserted: ["Person/1"]))
    }
  }

  @Test("a save of nothing reaches the store all the same, with empty sets")
  func nothing() throws {
    try stack.work { context in
      try stack.expectCalls([.save()]) { try context.save() }
    }
  }

  @Test("a reset gives the objects back under their permanent identifiers")
  func reset() throws {
    try stack.work { context in
      let ada = context.make("Person", ["name": "Ada"])
      try context.save()
      stack.expectCalls([.unregister(["Person/1"])]) { context.reset() }
      _ = ada
    }
  }
}
