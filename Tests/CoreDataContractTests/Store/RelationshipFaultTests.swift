import CoreData
import Testing

@Suite("When a store is asked for a relationship")
struct RelationshipFaultTests {
  @Test("a to-one relationship in the node costs nothing")
  func toOneInTheNode() throws {
    let stack = try Stack<RecordingStore>()
    try stack.work { context in
      let ada = try context.person("Ada")
      let calls = stack.calls { #expect((ada["home"] as? NSManagedObject)?.objectID == stack.store.identifier(4)) }
      #expect(calls.allSatisfy { $0.method != .relationship })
    }
  }

  @Test("each to-one relationship that the node lacks is asked for when the fault fires")
  func toOneMissing() throws {
    let stack = try Stack<AttributesOnlyStore>()
    try stack.work { context throws in
      let ada = context.object(with: stack.store.identifier(1))
      stack.expectCalls([.values("Person/1"), .relationship("home", of: "Person/1")]) { _ = ada["name"] }
      let calls = stack.calls { #expect((ada["home"] as? NSManagedObject)?["street"] as? String == "Elm") }
      #expect(calls.allSatisfy { $0.method != .relationship })
    }
  }

  @Test("NSNull for a to-one relationship is nil")
  func toOneNull() throws {
    let stack = try Stack<AttributesOnlyStore>()
    try stack.work { context throws in
      #expect(try context.person("Cleo")["home"] == nil)
    }
  }

  @Test("a to-many relationship is asked for when it is first looked at, and never again")
  func toMany() throws {
    let stack = try Stack<RecordingStore>()
    try stack.work { context in
      let ada = try context.person("Ada")
      stack.expectCalls([.values("Person/1")]) { _ = ada["name"] }
      #expect(ada.hasFault(forRelationshipNamed: "friends"))
      let calls = stack.calls { #expect(ada.names("friends") == ["Bob"]) }
      #expect(calls.filter { $0.method == .relationship } == [.relationship("friends", of: "Person/1")])
      #expect(!ada.hasFault(forRelationshipNamed: "friends"))
      stack.expectCalls([]) { #expect(ada.names("friends") == ["Bob"]) }
    }
  }

  @Test("its identifiers are there without the objects")
  func identifiers() throws {
    let stack = try Stack<RecordingStore>()
    try stack.work { context in
      let ada = try context.person("Ada")
      #expect(ada.objectIDs(forRelationshipNamed: "friends") == [stack.store.identifier(2)])
    }
  }

  @Test("its error comes out of what can throw, and of nothing while nobody looks")
  func failure() throws {
    let stack = try Stack<AttributesOnlyStore>()
    stack.backing.failing = [.relationship]
    stack.work { context in
      #expect(throws: Refusal(method: .relationship)) {
        try context.existingObject(with: stack.store.identifier(1))
      }
      #expect(throws: Never.self) { try context.existingObject(with: stack.store.identifier(4)) }
    }
  }
}
