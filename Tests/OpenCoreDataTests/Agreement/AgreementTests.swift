import OpenCoreData
import Testing

/// Random programs on contexts that have coordinators of their own and save under every merge policy.
///
/// `OPENCOREDATA_SEED` replays a program, `OPENCOREDATA_PROGRAMS` runs more of them, and `OPENCOREDATA_TRACE` prints
/// each step before it is run.
@Suite struct AgreementTests {
  private static let count = setting("OPENCOREDATA_PROGRAMS").flatMap { Int($0) } ?? 25

  @Test(
    "After every save, whatever its merge policy has decided, both ends of each relationship agree and no member is missing.",
    arguments: AgreementStores.Kind.allCases)
  func everySave(_ kind: AgreementStores.Kind) {
    let first = chooseSeed("AgreementTests, \(kind)")
    for index in 0..<Self.count {
      let seed = first &+ UInt64(index)
      do {
        try AgreementProgram.run(seed: seed, kind, isTraced: setting("OPENCOREDATA_TRACE") != nil)
      } catch {
        Issue.record("OPENCOREDATA_SEED=\(seed): \(error)")
        return
      }
    }
  }

  @Test(
    "A deletion conflicts with what somebody else has saved, also if a merge reads the other end of a relationship.",
    arguments: [NSMergePolicyType.rollbackMergePolicyType, .overwriteMergePolicyType])
  func deletedEnd(_ policy: NSMergePolicyType) throws {
    let stores = try AgreementStores(.memory)
    let (a, b) = (stores.contexts[0], stores.contexts[1])
    let ids = try a.performAndWait {
      let objects = (0..<3).map { serial in
        let object = NSEntityDescription.insertNewObject(forEntityName: "Node", into: a)
        object.setValue(serial, forKey: "serial")
        return object
      }
      try a.save()
      return objects.map(\.objectID)
    }
    var held: [NSManagedObject] = []
    a.performAndWait {
      let mine = ids.map { a.object(with: $0) }
      mine[1].setValue(mine[2], forKey: "peer")
      a.delete(mine[0])
      a.processPendingChanges()
      // Objects without changes stay in the context as long as somebody has them.
      held = mine
    }
    try b.performAndWait {
      b.object(with: ids[0]).setValue(b.object(with: ids[2]), forKey: "peer")
      b.object(with: ids[0]).setValue(b.object(with: ids[1]), forKey: "parent")
      try b.save()
    }
    try a.performAndWait {
      stores.merge(into: a)
      a.mergePolicy = NSMergePolicy(merge: policy)
      try a.save()
    }
    withExtendedLifetime(held) {}
    let saved = try stores.saved()
    #expect(saved.faults == [])
    #expect((saved[0] == nil) == (policy == .overwriteMergePolicyType))
  }
}
