import CoreData
import Testing

@Suite("Constant row versions")
struct ConstantVersionTests {
  @Test("With constant row versions no conflict is detected, and none is invented.")
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
