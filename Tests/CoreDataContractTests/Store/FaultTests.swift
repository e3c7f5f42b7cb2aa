import CoreData
import Testing

@Suite("When a store is asked for the values of an object", .anyStore)
struct FaultTests {
  private let stack: Stack<RecordingStore>

  init() throws { stack = try Stack() }

  @Test("when its fault fires, once")
  func firing() throws {
    try stack.work { context throws in
      let ada = context.object(with: stack.store.identifier(1))
      stack.expectCalls([.values("Person/1")]) { _ = ada["name"] }
      stack.expectCalls([.register(["House/4"])]) { _ = (ada["name"], ada["age"], ada["home"]) }
      #expect(ada["age"] as? Int == 36)
    }
  }

  @Test("for the object that is read, in whatever order they are")
  func objectAskedFor() throws {
    try stack.work { context in
      let found = try context.all("Person")
      stack.expectCalls([.values("Child/3")]) { #expect(found[2]["name"] as? String == "Cleo") }
      stack.expectCalls([.values("Person/1")]) { #expect(found[0]["name"] as? String == "Ada") }
    }
  }

  @Test("when an object is required to exist")
  func existingObject() throws {
    try stack.work { context in
      let calls = try stack.calls {
        let bob = try context.existingObject(with: stack.store.identifier(2))
        #expect(!bob.isFault)
      }
      #expect(calls.filter { $0.method == .values } == [.values("Person/2")])
    }
  }

  @Test("when it is refreshed and is to keep its changes")
  func refreshing() throws {
    try stack.work { context in
      let ada = try context.person("Ada")
      _ = ada["name"]
      let calls = stack.calls { context.refresh(ada, mergeChanges: true) }
      #expect(calls == [.values("Person/1")])
    }
  }

  @Test("when the saved changes of another context are merged and it is no fault")
  func merging() throws {
    let (first, second) = (stack.context(), stack.context())
    let saved = Notices(NSManagedObjectContext.didSaveObjectsNotification, of: first)
    let ada = try second.performAndWait { try second.person("Ada") }
    second.performAndWait { _ = ada["name"] }
    try first.performAndWait {
      try first.person("Ada")["age"] = 37
      try first.save()
    }
    second.performAndWait {
      let calls = stack.calls { second.mergeChanges(fromContextDidSave: saved.last!) }
      #expect(calls.contains(.values("Person/1")))
      #expect(ada["age"] as? Int == 37)
    }
  }

  @Test("when it is saved, because the coordinator compares versions")
  func saving() throws {
    try stack.work { context in
      let ada = try context.person("Ada")
      ada["age"] = 37
      let calls = try stack.calls { try context.save() }
      #expect(calls.filter { $0.method != nil } == [.values("Person/1"), .save(updated: ["Person/1"])])
    }
  }

  @Test("its error comes out of what can throw")
  func failure() throws {
    stack.backing.failing = [.values]
    stack.work { context in
      #expect(throws: Refusal(method: .values)) { try context.existingObject(with: stack.store.identifier(1)) }
    }
  }

  @Test("a row that does not exist is an error of its own")
  func missingRow() throws {
    let id = stack.store.identifier(1)
    stack.backing.rows[1] = nil
    stack.work { context in
      let error = thrown { try context.existingObject(with: id) }
      #expect(error?.domain == NSCocoaErrorDomain && error?.code == 133000)
    }
  }
}
