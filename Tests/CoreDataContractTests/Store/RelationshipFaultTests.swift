import CoreData
import Testing

@Suite("Requests for a relationship", .anyStore)
struct RelationshipFaultTests {
  @Test("A to-one relationship in the node causes no call of the store.")
  func toOneInTheNode() throws {
    let stack = try Stack<RecordingStore>()
    try stack.work { context in
      let ada = try context.person("Ada")
      let calls = stack.calls { #expect((ada["home"] as? NSManagedObject)?.objectID == stack.store.identifier(4)) }
      #expect(calls.allSatisfy { $0.method != .relationship })
    }
  }

  @Test("A to-many relationship is requested once, when it is first read.")
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

  @Test("The identifiers of a relationship can be read without its objects.")
  func identifiers() throws {
    let stack = try Stack<RecordingStore>()
    try stack.work { context in
      let ada = try context.person("Ada")
      #expect(ada.objectIDs(forRelationshipNamed: "friends") == [stack.store.identifier(2)])
    }
  }
}
