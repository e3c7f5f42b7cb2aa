import CoreData
import Testing

@Suite("Nodes without to-one relationships")
struct PartialNodeTests {
  @Test("Each to-one relationship that a node lacks is requested when the fault fires.")
  func toOneMissing() throws {
    let stack = try Stack<AttributesOnlyStore>()
    try stack.work { context throws in
      let ada = context.object(with: stack.store.identifier(1))
      stack.expectCalls([.values("Person/1"), .relationship("home", of: "Person/1")]) { _ = ada["name"] }
      let calls = stack.calls { #expect((ada["home"] as? NSManagedObject)?["street"] as? String == "Elm") }
      #expect(calls.allSatisfy { $0.method != .relationship })
    }
  }

  @Test("`NSNull` for a to-one relationship is read as nil.")
  func toOneNull() throws {
    let stack = try Stack<AttributesOnlyStore>()
    try stack.work { context throws in
      #expect(try context.person("Cleo")["home"] == nil)
    }
  }

  @Test("An error of requesting a relationship is thrown by calls that can throw, and only when it is requested.")
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
