import CoreData
import Testing

@Suite("What an object makes of a node with more than it needs")
struct FullNodeTests {
  @Test("keys that the entity does not have are dropped")
  func unknownKeys() throws {
    let stack = try Stack<EverythingStore>()
    try stack.work { context in
      let ada = try context.person("Ada")
      #expect(ada["name"] as? String == "Ada")
      #expect(ada.committedValues(forKeys: nil)["shoeSize"] == nil)
    }
  }

  @Test("to-many relationships may be there, and are not asked for then")
  func toMany() throws {
    let stack = try Stack<EverythingStore>()
    try stack.work { context in
      let (ada, cleo) = (try context.person("Ada"), try context.person("Cleo"))
      _ = (ada["name"], cleo["name"])
      let calls = stack.calls {
        #expect(ada.members("friends").map(\.objectID) == [stack.store.identifier(2)])
        #expect(cleo.members("friends").isEmpty)
      }
      #expect(calls.allSatisfy { $0.method != .relationship })
    }
  }
}
