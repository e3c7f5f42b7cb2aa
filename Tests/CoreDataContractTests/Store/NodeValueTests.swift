import CoreData
import Testing

@Suite("What an object makes of the values in a node", .anyStore)
struct NodeValueTests {
  @Test("attributes that are left out are nil")
  func leftOut() throws {
    let stack = try Stack<RecordingStore>()
    try stack.work { context in
      let ada = try context.person("Ada")
      #expect(ada["age"] as? Int == 36)
      #expect(ada["nickname"] == nil)
    }
  }

  @Test("defaults are for new objects only")
  func defaults() throws {
    let stack = try Stack<RecordingStore>()
    stack.backing.rows[1]?.attributes["age"] = nil
    try stack.work { context throws in
      #expect(try context.person("Ada")["age"] == nil)
      #expect(context.make("Person")["age"] as? Int == 18)
    }
  }

  @Test("a to-one relationship to NSNull is nil, and nothing is asked")
  func null() throws {
    let stack = try Stack<RecordingStore>()
    try stack.work { context in
      let cleo = try context.person("Cleo")
      stack.expectCalls([.values("Child/3")]) { #expect(cleo["home"] == nil) }
    }
  }
}
