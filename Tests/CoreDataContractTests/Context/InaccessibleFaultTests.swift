import CoreData
import Testing

@Suite("Faults whose rows are gone", .anyStore)
struct InaccessibleFaultTests {
  private let stack: Stack<RecordingStore>

  init() throws { stack = try Stack() }

  @Test("A fault whose row is gone reads as nil and becomes deleted.")
  func deleted() throws {
    try stack.work { context in
      #expect(context.shouldDeleteInaccessibleFaults)
      let ada = try context.person("Ada")
      stack.backing.rows[1] = nil
      #expect(ada["name"] == nil)
      #expect(ada["home"] == nil)
      #expect(ada.members("friends").isEmpty)
      #expect(ada.isDeleted)
    }
  }

  @Test("A fault whose row is gone is not validated, although its mandatory values are missing.")
  func notValidated() throws {
    try stack.work { context in
      let ada = try context.person("Ada")
      stack.backing.rows[1] = nil
      ada["nickname"] = "Countess"
      #expect(ada["name"] == nil)
      #expect(throws: Never.self) { try context.save() }
    }
  }

  #if !canImport(Darwin)
    @Test("A fault whose row is gone ends the program if the context does not delete inaccessible faults.")
    func ending() async {
      await #expect(processExitsWith: .failure) {
        let stack = try Stack<RecordingStore>()
        try stack.work { context in
          context.shouldDeleteInaccessibleFaults = false
          let ada = try context.person("Ada")
          stack.backing.rows[1] = nil
          _ = ada["name"]
        }
      }
    }
  #endif
}
