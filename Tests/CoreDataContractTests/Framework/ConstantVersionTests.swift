import CoreData
import Testing

@Suite("A version of a row")
struct ConstantVersionTests {
  @Test("one that never changes means that no conflict is noticed, and none is invented")
  func constant() throws {
    let stack = try Stack<ConstantVersionStore>()
    try stack.work { context in
      let ada = try context.person("Ada")
      for age in 37...39 {
        ada["age"] = age
        stack.backing.change(1, ["nickname": "Countess"])
        try context.save()
      }
    }
    #expect(stack.backing.rows[1]?.attributes["age"] as? Int == 39)
  }
}
