import CoreData
import Testing

@Suite("Uniqueness violations that a store detects", .anyStore)
struct ConstraintConflictTests {
  private let stack: Stack<UniqueStore>

  init() throws { stack = try Stack(UniqueTown.model()) }

  @Test("A save throws the store's uniqueness violations with their code and list, and applies nothing.")
  func error() {
    stack.backing.change(1, ["nickname": "Countess"])
    stack.work { context in
      let eve = context.make("Person", ["name": "Eve", "nickname": "Countess"])
      let found = violations(thrown { try context.save() })
      #expect(found.count == 1)
      #expect(found.first?.databaseObject?.objectID == stack.store.identifier(1))
      #expect(found.first?.conflictingObjects == [eve])
      #expect(context.insertedObjects == [eve])
    }
    #expect(stack.backing.rows.count == 7)
  }

  @Test("A constraint conflict can be made from its parts.")
  func parts() throws {
    try stack.work { context in
      let (ada, bob) = (try context.person("Ada"), try context.person("Bob"))
      bob["nickname"] = "Countess"
      let conflict = NSConstraintConflict(
        constraint: ["nickname"], database: ada, databaseSnapshot: ["name": "Ada"], conflicting: [bob],
        conflictingSnapshots: [["name": "Bob"]])
      #expect(conflict.constraint == ["nickname"])
      #expect(conflict.constraintValues["nickname"] as? String == "Countess")
      #expect(conflict.databaseObject === ada && conflict.databaseSnapshot?["name"] as? String == "Ada")
      #expect(conflict.conflictingObjects == [bob])
      #expect(conflict.conflictingSnapshots.first?["name"] as? String == "Bob")
    }
  }

  // Apple's Core Data has been seen to resolve violations only in its SQLite store.
  #if !canImport(Darwin)
    @Test("The context's merge policy resolves the store's uniqueness violations, and the save is retried.")
    func resolved() throws {
      stack.backing.change(1, ["nickname": "Countess"])
      try stack.work { context in
        context.mergePolicy = NSMergePolicy.mergeByPropertyObjectTrump
        context.make("Person", ["name": "Eve", "nickname": "Countess"])
        let calls = try stack.calls { try context.save() }
        #expect(calls.filter { $0.method == .save }.count == 2)
      }
      #expect(stack.backing.rows.count == 7)
      #expect(stack.backing.rows[1]?.attributes["name"] as? String == "Eve")
    }

    @Test("A save fails after ten attempts if the merge policy changes nothing.")
    func unresolved() {
      final class Idle: NSMergePolicy, @unchecked Sendable {
        override func resolve(constraintConflicts list: [NSConstraintConflict]) throws {}
      }
      stack.backing.change(1, ["nickname": "Countess"])
      stack.work { context in
        context.mergePolicy = Idle(merge: .overwriteMergePolicyType)
        context.make("Person", ["name": "Eve", "nickname": "Countess"])
        let calls = stack.calls { #expect(violations(thrown { try context.save() }).count == 1) }
        #expect(calls.filter { $0.method == .save }.count == 10)
      }
    }
  #endif
}
