import CoreData
import Testing

/// A store that caches rows answers from its cache, and detects during a save that another client has saved first.
@Suite("Conflicts that the store detects", .anyStore)
struct StoreConflictTests {
  private let stack: Stack<CachingStore>

  init() throws { stack = try Stack() }

  /// Changes Ada in a context, then runs the other client's change, and saves; returns the save's error.
  private func save(_ policy: NSMergePolicy, _ foreign: () -> Void) throws -> NSError? {
    try stack.work { context in
      context.mergePolicy = policy
      let ada = try context.person("Ada")
      ada["age"] = 37
      foreign()
      return thrown { try context.save() }
    }
  }

  @Test("A save throws the store's conflicts with their code and list.")
  func error() throws {
    let error = try #require(try save(.error) { stack.backing.change(1, ["name": "Augusta"]) })
    #expect(error.domain == NSCocoaErrorDomain && error.code == 133020)
    let conflicts = try #require(error.userInfo[NSPersistentStoreSaveConflictsErrorKey] as? [NSMergeConflict])
    #expect(conflicts.count == 1)
    #expect(conflicts.first?.oldVersionNumber == 1 && conflicts.first?.newVersionNumber == 2)
    #expect(conflicts.first?.cachedSnapshot?["name"] as? String == "Ada")
    #expect(conflicts.first?.persistedSnapshot?["name"] as? String == "Augusta")
  }

  @Test("A conflict with a row that another client deleted has version 0 and no snapshot of it.")
  func deleted() throws {
    let error = try #require(try save(.error) { stack.backing.rows[1] = nil })
    let conflict = try #require((error.userInfo["conflictList"] as? [NSMergeConflict])?.first)
    #expect(conflict.newVersionNumber == 0 && conflict.persistedSnapshot == nil)
  }

  @Test("The context's merge policy resolves the store's conflicts, and the save is retried.")
  func resolved() throws {
    let error = try save(.mergeByPropertyObjectTrump) { stack.backing.change(1, ["name": "Augusta"]) }
    #expect(error == nil)
    #expect(stack.store.calls.filter { $0.method == .save }.count == 2)
    #expect(stack.backing.rows[1]?.attributes["age"] as? Int == 37)
    #expect(stack.backing.rows[1]?.attributes["name"] as? String == "Augusta")
    #expect(stack.backing.rows[1]?.version == 3)
  }

  @Test("A save with a conflict that the store detects applies nothing.")
  func nothingApplied() throws {
    try stack.work { context in
      let (ada, bob) = (try context.person("Ada"), try context.person("Bob"))
      ada["age"] = 37
      bob["age"] = 26
      stack.backing.change(1, ["name": "Augusta"])
      #expect(thrown { try context.save() }?.code == 133020)
      #expect(context.updatedObjects == [ada, bob])
    }
    #expect(stack.backing.rows[2]?.attributes["age"] as? Int == 25)
  }

  @Test("A merge conflict can be made from its parts.")
  func parts() throws {
    try stack.work { context in
      let ada = try context.person("Ada")
      let conflict = NSMergeConflict(
        source: ada, newVersion: 2, oldVersion: 1, cachedSnapshot: ["name": "Ada"], persistedSnapshot: nil)
      #expect(conflict.sourceObject === ada)
      #expect(conflict.newVersionNumber == 2 && conflict.oldVersionNumber == 1)
      #expect(conflict.cachedSnapshot?["name"] as? String == "Ada" && conflict.persistedSnapshot == nil)
    }
  }
}
