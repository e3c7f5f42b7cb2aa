import CoreData
import Testing

@Suite("Requests for the values of an object", .anyStore)
struct FaultTests {
  private let stack: Stack<RecordingStore>

  init() throws { stack = try Stack() }

  @Test("A fault that fires requests its values once.")
  func firing() throws {
    try stack.work { context throws in
      let ada = context.object(with: stack.store.identifier(1))
      stack.expectCalls([.values("Person/1")]) { _ = ada["name"] }
      stack.expectCalls([.register(["House/4"])]) { _ = (ada["name"], ada["age"], ada["home"]) }
      #expect(ada["age"] as? Int == 36)
    }
  }

  @Test("A fault requests the values of its own object, in whatever order objects are read.")
  func objectAskedFor() throws {
    try stack.work { context in
      let found = try context.all("Person")
      stack.expectCalls([.values("Child/3")]) { #expect(found[2]["name"] as? String == "Cleo") }
      stack.expectCalls([.values("Person/1")]) { #expect(found[0]["name"] as? String == "Ada") }
    }
  }

  @Test("`existingObject(with:)` requests the values.")
  func existingObject() throws {
    try stack.work { context in
      let calls = try stack.calls {
        let bob = try context.existingObject(with: stack.store.identifier(2))
        #expect(!bob.isFault)
      }
      #expect(calls.filter { $0.method == .values } == [.values("Person/2")])
    }
  }

  @Test("Refreshing an object with merging requests its values.")
  func refreshing() throws {
    try stack.work { context in
      let ada = try context.person("Ada")
      _ = ada["name"]
      let calls = stack.calls { context.refresh(ada, mergeChanges: true) }
      #expect(calls == [.values("Person/1")])
    }
  }

  @Test("Merging another context's save requests the values of objects that are not faults.")
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

  @Test("A save requests the values of changed objects, because the coordinator compares versions.")
  func saving() throws {
    try stack.work { context in
      let ada = try context.person("Ada")
      ada["age"] = 37
      let calls = try stack.calls { try context.save() }
      #expect(calls.filter { $0.method != nil } == [.values("Person/1"), .save(updated: ["Person/1"])])
    }
  }

  @Test("An error of requesting values is thrown by calls that can throw.")
  func failure() throws {
    stack.backing.failing = [.values]
    stack.work { context in
      #expect(throws: Refusal(method: .values)) { try context.existingObject(with: stack.store.identifier(1)) }
    }
  }

  @Test("A row that does not exist is error 133000.")
  func missingRow() throws {
    let id = stack.store.identifier(1)
    stack.backing.rows[1] = nil
    stack.work { context in
      let error = thrown { try context.existingObject(with: id) }
      #expect(error?.domain == NSCocoaErrorDomain && error?.code == 133000)
    }
  }
}
