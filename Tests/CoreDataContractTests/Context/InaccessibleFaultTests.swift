import CoreData
import Testing

@Suite("A fault whose row is gone", .anyStore)
struct InaccessibleFaultTests {
  private let stack: Stack<RecordingStore>

  init() throws { stack = try Stack() }

  @Test("reads as nothing and becomes deleted")
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

  @Test("is not validated, although what is mandatory is missing")
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
    @Test("ends the program, if the context is not to take it for deleted")
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
