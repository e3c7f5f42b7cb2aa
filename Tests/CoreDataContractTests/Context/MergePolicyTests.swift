import CoreData
import Testing

/// Another context has saved a new name and a new age; this one sets a new name and a nickname.
@Suite("Merge policies", .anyStore)
struct MergePolicyTests {
  private let stack: Stack<RecordingStore>

  init() throws { stack = try Stack() }

  /// The row's values after a save with the policy, which must also be the object's.
  private func saved(_ policy: NSMergePolicy) throws -> [String] {
    try stack.work { context in
      context.mergePolicy = policy
      let ada = try context.person("Ada")
      ada["name"] = "mine"
      ada["nickname"] = "mine"
      try stack.work { other in
        let ada = try other.person("Ada")
        ada["name"] = "theirs"
        ada["age"] = 99
        try other.save()
      }
      try context.save()
      #expect(!context.hasChanges)
      let row = stack.backing.rows[1]!.attributes
      let described = ["name", "age", "nickname"].map { "\(row[$0] ?? "nil")" }
      #expect(["name", "age", "nickname"].map { "\(ada[$0] ?? "nil")" } == described)
      return described
    }
  }

  @Test("With the error policy a save with a conflict fails and changes nothing.")
  func error() throws {
    #expect(thrown { try saved(.error) }?.code == 133020)
    #expect(stack.backing.rows[1]?.attributes["name"] as? String == "theirs")
  }

  @Test("With the store-trump policy the store's values win where both changed, and other changes stay.")
  func storeTrump() throws {
    #expect(try saved(.mergeByPropertyStoreTrump) == ["theirs", "99", "mine"])
  }

  @Test("With the object-trump policy the object's values win where both changed, and the store's other changes stay.")
  func objectTrump() throws {
    #expect(try saved(.mergeByPropertyObjectTrump) == ["mine", "99", "mine"])
  }

  @Test("With the overwrite policy the whole object is written.")
  func overwrite() throws {
    #expect(try saved(.overwrite) == ["mine", "36", "mine"])
  }

  @Test("With the rollback policy the context's changes are discarded.")
  func rollback() throws {
    #expect(try saved(.rollback) == ["theirs", "99", "nil"])
  }

  @Test("The default policy of a context is the error policy.")
  func standard() {
    stack.work { context in
      #expect((context.mergePolicy as? NSMergePolicy)?.mergeType == .errorMergePolicyType)
      #expect(context.mergePolicy as AnyObject === NSErrorMergePolicy as AnyObject)
    }
  }

  @Test("Each merge policy has its type, can be made from it, and exists as a constant.")
  func types() {
    let policies: [(NSMergePolicy, Any, UInt)] = [
      (.error, NSErrorMergePolicy, 0),
      (.mergeByPropertyStoreTrump, NSMergeByPropertyStoreTrumpMergePolicy, 1),
      (.mergeByPropertyObjectTrump, NSMergeByPropertyObjectTrumpMergePolicy, 2),
      (.overwrite, NSOverwriteMergePolicy, 3), (.rollback, NSRollbackMergePolicy, 4),
    ]
    for (policy, constant, number) in policies {
      #expect(policy.mergeType.rawValue == number)
      #expect((constant as? NSMergePolicy)?.mergeType == policy.mergeType)
      #expect(NSMergePolicyType(rawValue: number).map(NSMergePolicy.init(merge:))?.mergeType == policy.mergeType)
    }
  }

  @Test("A custom merge policy is asked to resolve the conflicts.")
  func ownPolicy() throws {
    final class Policy: NSMergePolicy, @unchecked Sendable {
      var seen: [NSMergeConflict] = []
      override func resolve(optimisticLockingConflicts list: [NSMergeConflict]) throws {
        seen += list
        try super.resolve(optimisticLockingConflicts: list)
      }
    }
    let policy = Policy(merge: .mergeByPropertyObjectTrumpMergePolicyType)
    #expect(try saved(policy) == ["mine", "99", "mine"])
    #expect(policy.seen.count == 1)
  }
}
