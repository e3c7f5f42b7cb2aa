import CoreData
import Testing

@Suite("Values in a node", .anyStore)
struct NodeValueTests {
  @Test("Attributes that a node omits are nil.")
  func leftOut() throws {
    let stack = try Stack<RecordingStore>()
    try stack.work { context in
      let ada = try context.person("Ada")
      #expect(ada["age"] as? Int == 36)
      #expect(ada["nickname"] == nil)
    }
  }

  @Test("Default values apply to new objects only.")
  func defaults() throws {
    let stack = try Stack<RecordingStore>()
    stack.backing.rows[1]?.attributes["age"] = nil
    try stack.work { context throws in
      #expect(try context.person("Ada")["age"] == nil)
      #expect(context.make("Person")["age"] as? Int == 18)
    }
  }

  @Test("A to-one relationship with `NSNull` in the node is nil, and is not requested.")
  func null() throws {
    let stack = try Stack<RecordingStore>()
    try stack.work { context in
      let cleo = try context.person("Cleo")
      stack.expectCalls([.values("Child/3")]) { #expect(cleo["home"] == nil) }
    }
  }
}
