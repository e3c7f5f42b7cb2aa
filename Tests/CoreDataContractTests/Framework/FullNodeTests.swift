import CoreData
import Testing

@Suite("Nodes with surplus keys")
struct FullNodeTests {
  @Test("An object drops the keys of a node that its entity does not have.")
  func unknownKeys() throws {
    let stack = try Stack<EverythingStore>()
    try stack.work { context in
      let ada = try context.person("Ada")
      #expect(ada["name"] as? String == "Ada")
      #expect(ada.committedValues(forKeys: nil)["shoeSize"] == nil)
    }
  }

  @Test("An object takes a to-many relationship from its node, and does not ask the store for it.")
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
