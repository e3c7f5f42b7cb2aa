extension GraphModel {
  mutating func rollback(_ c: Int) -> Expectation {
    for (x, member) in pools[c].members {
      guard member.status != .inserted else {
        pools[c].members[x] = nil
        continue
      }
      pools[c].members[x] = GraphPool.Member(base: member.base, now: member.base)
    }
    pools[c].justDeleted = []
    return .done
  }

  mutating func refresh(_ c: Int, _ x: Int, mergeChanges: Bool) -> Expectation {
    guard let member = pools[c].members[x], member.status == .kept, saved[x] != nil else { return .skipped }
    if mergeChanges {
      guard canReload(c, x) else { return .skipped }
      reload(c, x)
      return .done
    }
    // The changes at the other ends of its relationships would be left there.
    guard member.touchedLinks.isEmpty, !hasIdleRemovals(c) else { return .skipped }
    pools[c].members[x] = GraphPool.Member()
    // Objects that were just deleted are removed from their relationships when the event ends, which may fire the
    // fault.
    return Expectation(outcome: .done, faults: pools[c].justDeleted.isEmpty ? [x: true] : [:])
  }

  mutating func refreshAll(_ c: Int) -> Expectation {
    process(c)
    let kept = pools[c].members.filter { $0.value.status == .kept }
    guard !pools[c].isTangled, !hasIdleRemovals(c),
      kept.allSatisfy({ saved[$0.key] != nil && ($0.value.touched.isEmpty || canReload(c, $0.key)) })
    else {
      pools[c].isTangled = true
      return .undefined
    }
    var faults: [Int: Bool] = [:]
    for (x, member) in kept {
      if member.touched.isEmpty {
        pools[c].members[x] = GraphPool.Member()
        faults[x] = true
      } else {
        reload(c, x)
        if !member.isFault && !member.changed.isEmpty { faults[x] = false }
      }
    }
    return Expectation(outcome: .done, faults: faults)
  }

  /// Whether an object was removed from a relationship of which it was no member. It is not defined whether that object
  /// counts as changed in the next save, if it becomes a fault before.
  private func hasIdleRemovals(_ c: Int) -> Bool {
    pools[c].members.values.contains { !$0.touchedLinks.isSubset(of: $0.changed) }
  }

  /// Merges the other context's saves since the last merge.
  mutating func merge(_ c: Int) -> Expectation {
    process(c)
    let inbox = pools[c].inbox
    let updated = inbox.reduce(into: Set()) { $0.formUnion($1.updated) }.filter { pools[c].members[$0] != nil }
    let deleted = inbox.reduce(into: Set()) { $0.formUnion($1.deleted) }.filter { pools[c].members[$0] != nil }
    let isDefined =
      updated.isDisjoint(with: deleted) && updated.allSatisfy { canReload(c, $0) }
      && deleted.allSatisfy { pools[c].members[$0]!.status == .kept && pools[c].members[$0]!.touched.isEmpty }
    guard isDefined, !pools[c].isTangled else {
      pools[c].isTangled = true
      return .undefined
    }
    for x in updated { reload(c, x) }
    for x in deleted { pools[c].members[x] = nil }
    pools[c].departed.formUnion(inbox.flatMap(\.deleted))
    pools[c].inbox = []
    return .done
  }

  /// Whether it is defined what becomes of an object whose row is read again under its changes.
  private func canReload(_ c: Int, _ x: Int) -> Bool {
    guard let member = pools[c].members[x] else { return true }
    guard let row = saved[x], ghosts(c, x).isEmpty else { return false }
    return member.touchedLinks.allSatisfy { row.values[$0] == member.base?.values[$0] }
  }

  /// Reads the row again, and applies the object's changes to it.
  private mutating func reload(_ c: Int, _ x: Int) {
    guard let member = pools[c].members[x], !member.isFault, member.status != .inserted else { return }
    rebase(c, x)
    for property in member.changed { pools[c].members[x]!.now!.values[property] = member.now!.values[property] }
  }
}
