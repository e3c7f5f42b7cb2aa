extension GraphModel {
  static let danglingReference = 1550
  static let mandatoryValueMissing = 1570
  static let tooManyRelated = 1590
  static let deleteDenied = 1600
  static let severalErrors = 1560
  static let conflict = 133020
  static let refused = 134030

  mutating func save(_ c: Int) -> Expectation {
    process(c)
    if pools[c].isTangled { return .undefined }
    let errors = validationErrors(c)
    if let error = errors.first {
      return Expectation(outcome: .error(errors.count == 1 ? error : Self.severalErrors))
    }
    let conflicts = conflicts(c)
    if !conflicts.isEmpty {
      if pools[c].policy == .error { return Expectation(outcome: .error(Self.conflict)) }
      let resolved = conflicts.compactMap { x in resolution(c, x).map { (x, $0) } }
      guard resolved.count == conflicts.count else {
        pools[c].isTangled = true
        return .undefined
      }
      for (x, member) in resolved { pools[c].members[x] = member }
    }
    return commit(c)
  }

  mutating func refusedSave(_ c: Int) -> Expectation {
    process(c)
    if pools[c].isTangled { return .undefined }
    let errors = validationErrors(c)
    if let error = errors.first {
      return Expectation(outcome: .error(errors.count == 1 ? error : Self.severalErrors))
    }
    // Conflicts are found before the store is called, and a policy would have settled them.
    guard conflicts(c).isEmpty else { return .skipped }
    // The store is not called if objects were updated without a difference; it is called if there are no changes at
    // all.
    let members = pools[c].members.values
    guard members.contains(where: { $0.status != .kept || $0.isToBeSaved }) || !members.contains(where: \.isUpdated)
    else {
      return .skipped
    }
    return Expectation(outcome: .error(Self.refused))
  }

  // MARK: Validation

  private func validationErrors(_ c: Int) -> [Int] {
    pools[c].members.flatMap { x, member -> [Int] in
      switch member.status {
      case .deleted:
        return isDeletionDenied(c, x) ? [Self.deleteDenied] : []
      case .inserted, .kept:
        guard member.status == .inserted || !member.touched.isEmpty, let now = member.now else { return [] }
        return (!member.isFault && now.text == nil ? [Self.mandatoryValueMissing] : [])
          + (peek(c, x, .line).count > GraphProperty.lineLengthMax ? [Self.tooManyRelated] : [])
          + danglingReferences(c, member)
      }
    }
  }

  private func isDeletionDenied(_ c: Int, _ x: Int) -> Bool { peek(c, x, .wards).contains { isUsable(c, $0) } }

  /// One error for each relationship to which an object was added that is now deleted.
  private func danglingReferences(_ c: Int, _ member: GraphPool.Member) -> [Int] {
    GraphProperty.relationships.filter { property in
      let old = member.base?.links(property) ?? []
      let new = (member.now?.links(property) ?? []).filter { !old.contains($0) }
      return new.contains { pools[c].members[$0]?.status == .deleted && !isDeletionDenied(c, $0) }
    }
    .map { _ in Self.danglingReference }
  }

  // MARK: Conflicts

  /// The objects to be saved that the other context has saved since they were read.
  private func conflicts(_ c: Int) -> [Int] {
    pools[c].members.compactMap { x, member in
      let isToBeSaved = member.status == .deleted || member.status == .kept && member.isToBeSaved
      guard isToBeSaved, !member.isFault, let base = member.base else { return nil }
      return saved[x]?.version == base.version ? nil : x
    }
  }

  /// The object as the merge policy leaves it after a conflict; nil if that is not defined.
  private func resolution(_ c: Int, _ x: Int) -> GraphPool.Member? {
    var member = pools[c].members[x]!
    guard let base = member.base, let now = member.now, let row = saved[x], member.status == .kept else { return nil }
    let relationshipsAgree = base.values.allSatisfy { $0.key.inverse == nil || row.values[$0.key] == $0.value }
    guard relationshipsAgree, ghosts(c, x).isEmpty else { return nil }

    var kept = member.changed
    switch pools[c].policy {
    case .error, .objectTrump: break
    case .rollback: kept = []
    case .storeTrump: kept = kept.filter { row.values[$0] == base.values[$0] }
    case .overwrite: kept.formUnion(GraphProperty.attributes)
    }
    // The other end of a relationship would keep a change that this end loses.
    guard member.touchedLinks.isSubset(of: kept) else { return nil }
    member.base = GraphRow(values: row.values.filter { base.values[$0.key] != nil }, version: row.version)
    member.now = member.base
    for property in kept { member.now!.values[property] = now.values[property] }
    member.touched = kept
    member.isUpdated = !member.changed.isEmpty
    member.isToBeSaved = member.isUpdated
    // If the policy has left nothing to save, it is not defined whether the object is saved.
    return member.isUpdated || pools[c].policy == .rollback ? member : nil
  }

  /// Properties that were set to the value they had, and that now have another value in the store.
  func ghosts(_ c: Int, _ x: Int) -> [GraphProperty] {
    let member = pools[c].members[x]!
    return member.touched.subtracting(member.changed).filter { saved[x]?.values[$0] != member.base?.values[$0] }
  }

  /// Gives the object the saved values, and none of its own.
  mutating func rebase(_ c: Int, _ x: Int) {
    guard let known = pools[c].members[x]!.base?.values, var row = saved[x] else { return }
    row.values = row.values.filter { known[$0.key] != nil }
    pools[c].members[x]!.base = row
    pools[c].members[x]!.now = row
  }

  // MARK: Writing

  private mutating func commit(_ c: Int) -> Expectation {
    let pool = pools[c]
    let changes = GraphPool.Saved(
      inserted: pool.all(.inserted),
      updated: Set(pool.members.filter { $0.value.status == .kept && $0.value.isUpdated }.keys),
      deleted: pool.all(.deleted))
    tangle(1 - c, with: changes, of: pool)

    for x in changes.inserted.union(changes.updated) {
      let member = pool.members[x]!
      var known = member.now!
      if member.status == .inserted || member.isToBeSaved {
        var row = saved[x] ?? GraphRow()
        for property in member.status == .inserted ? Set(GraphProperty.allCases) : member.touched {
          row.values[property] = known.values[property]
        }
        row.version += 1
        saved[x] = row
        known.version = row.version
      }
      pools[c].members[x] = GraphPool.Member(base: known, now: known)
    }
    for x in changes.deleted {
      saved[x] = nil
      pools[c].members[x] = nil
    }
    pools[1 - c].inbox.append(changes)
    let faults = changes.inserted.union(changes.updated).filter { !pool.members[$0]!.isFault }.map { ($0, false) }
    return Expectation(outcome: .saved(changes), faults: Dictionary(uniqueKeysWithValues: faults))
  }

  /// Marks the other context as tangled if it has changed relationships that this save has changed, too.
  private mutating func tangle(_ other: Int, with changes: GraphPool.Saved, of pool: GraphPool) {
    for (x, member) in pools[other].members {
      let hasRelated = !member.touchedLinks.isEmpty || member.status == .deleted
      let wasRelated = changes.deleted.contains(x) || !(pool.members[x]?.touchedLinks.isEmpty ?? true)
      if hasRelated && wasRelated && (changes.updated.contains(x) || changes.deleted.contains(x)) {
        pools[other].isTangled = true
      }
      if member.status == .deleted && (changes.updated.contains(x) || changes.deleted.contains(x)) {
        pools[other].isTangled = true
      }
    }
  }

  /// Takes over the contents of the store after a step with an undefined outcome.
  mutating func adopt(_ graph: Graph) {
    saved = graph
    for c in pools.indices { pools[c].reset() }
  }
}
