import CoreData
import Testing

@Suite("When a store is asked for a relationship", .anyStore)
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
}
