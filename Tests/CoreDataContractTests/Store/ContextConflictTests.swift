import CoreData
import Testing

/// The coordinator compares the versions that a context has read with those in the store.
@Suite("Conflicts that the coordinator detects", .anyStore)
struct ContextConflictTests {
  private let stack: Stack<RecordingStore>

  init() throws { stack = try Stack() }

  /// The conflicts that a save reports after another client has changed Ada.
  private func conflicts(_ change: (NSManagedObject) -> Void) throws -> [NSMergeConflict] {
    try stack.work { context in
      let ada = try context.person("Ada")
      _ = ada["name"]
      stack.backing.change(1, ["name": "Augusta"])
      change(ada)
      let error = try #require(thrown { try context.save() })
      #expect(error.domain == NSCocoaErrorDomain && error.code == 133020)
      return try #require(error.userInfo[NSPersistentStoreSaveConflictsErrorKey] as? [NSMergeConflict])
    }
  }

  @Test("A conflict names the object, and the versions that the context and the store have.")
  func versions() throws {
    let conflict = try #require(try conflicts { $0["age"] = 37 }.first)
    #expect(conflict.sourceObject.objectID == stack.store.identifier(1))
    #expect(conflict.oldVersionNumber == 1)
    #expect(conflict.newVersionNumber == 2)
  }

  @Test(
    "A conflict that the coordinator detects has the snapshots of the object and of the store's values."
  )
  func snapshots() throws {
    let conflict = try #require(try conflicts { $0["age"] = 37 }.first)
    #expect(conflict.objectSnapshot?["name"] as? String == "Ada")
    #expect(conflict.cachedSnapshot?["name"] as? String == "Augusta")
    #expect(conflict.persistedSnapshot == nil)
  }

  @Test("A conflict's snapshots have attributes, to-one relationships as identifiers, and no to-many relationships.")
  func snapshotValues() throws {
    let conflict = try #require(try conflicts { $0["age"] = 37 }.first)
    let snapshot = try #require(conflict.cachedSnapshot)
    #expect(snapshot["home"] as? NSManagedObjectID == stack.store.identifier(4))
    #expect(snapshot["nickname"] is NSNull)
    #expect(snapshot["friends"] == nil && snapshot["pets"] == nil && snapshot["errands"] == nil)
  }

  @Test("Deleted and locked objects can be in conflict, too.")
  func deletedAndLocked() throws {
    #expect(try conflicts { $0.managedObjectContext?.delete($0) }.count == 1)
    stack.backing.change(1, ["name": "Ada"])
    #expect(try conflicts { $0.managedObjectContext?.detectConflicts(for: $0) }.count == 1)
  }

  @Test("An object that another client has deleted is in conflict, with version 0.")
  func deletedThere() throws {
    try stack.work { context in
      let ada = try context.person("Ada")
      ada["age"] = 37
      stack.backing.rows[1] = nil
      let error = try #require(thrown { try context.save() })
      #expect(error.code == 133020)
      let conflict = try #require((error.userInfo["conflictList"] as? [NSMergeConflict])?.first)
      #expect(conflict.newVersionNumber == 0)
    }
  }

  @Test("A save of objects that nobody else has changed has no conflict.")
  func none() throws {
    try stack.work { context in
      let bob = try context.person("Bob")
      bob["age"] = 26
      stack.backing.change(1, ["name": "Augusta"])
      #expect(throws: Never.self) { try context.save() }
    }
  }

  @Test("A conflict prevents the call of the store, and leaves the changes pending.")
  func nothingSaved() throws {
    try stack.work { context in
      let ada = try context.person("Ada")
      ada["age"] = 37
      stack.backing.change(1, ["name": "Augusta"])
      let calls = stack.calls { #expect(thrown { try context.save() } != nil) }
      #expect(!calls.contains { $0.method == .save })
      #expect(context.updatedObjects == [ada])
    }
  }

  @Test("All conflicts of a save can be resolved by hand, and the next save succeeds.")
  func byHand() throws {
    let people = (1...10).map { stack.backing.add("Person", ["name": "P\($0)"]) }
    try stack.work { context in
      let objects = people.map { context.object(with: stack.store.identifier($0)) }
      for object in objects { object["age"] = 50 }
      for number in people { stack.backing.change(number, ["nickname": "other"]) }
      let error = try #require(thrown { try context.save() })
      let conflicts = try #require(error.userInfo["conflictList"] as? [NSMergeConflict])
      #expect(conflicts.count == 10)
      try NSMergePolicy(merge: .mergeByPropertyObjectTrumpMergePolicyType).resolve(mergeConflicts: conflicts)
      try context.save()
    }
    for number in people {
      #expect(stack.backing.rows[number]?.attributes["age"] as? Int == 50)
      #expect(stack.backing.rows[number]?.attributes["nickname"] as? String == "other")
    }
  }
}
