extension GraphQuery {
  /// Every third object belongs to the subentity.
  static func isLeaf(_ id: Int) -> Bool { id.isMultiple(of: 3) }

  func matches(_ id: Int, _ row: GraphRow) -> Bool {
    if onlyLeaves && !Self.isLeaf(id) { return false }
    return switch condition {
    case .all: true
    case .numberAtLeast(let least): row.number.map { $0 >= least } ?? false
    case .numberIsNil: row.number == nil
    case .textIs(let text): row.text == text
    case .hasParent(let has): row.links(.parent)!.isEmpty != has
    }
  }

  /// Orders by number, nil first, and then by insertion; the other way round if `isDescending`.
  func precedes(_ one: (key: Int, value: GraphRow), _ other: (key: Int, value: GraphRow)) -> Bool {
    let left = (one.value.number ?? .min, one.key)
    let right = (other.value.number ?? .min, other.key)
    return isDescending ? left > right : left < right
  }

  func window(_ ids: [Int]) -> [Int] {
    let rest = ids.dropFirst(offset)
    return Array(limit == 0 ? rest : rest.prefix(limit))
  }
}

extension GraphModel {
  mutating func fetch(_ c: Int, _ query: GraphQuery) -> Expectation {
    process(c)
    // Without pending changes, it is not defined whether the result includes objects that are deleted here.
    guard !pools[c].isTangled, query.includesPendingChanges || pools[c].all(.deleted).isEmpty else { return .skipped }
    // It is not defined how an object changed here is sorted among objects that were changed elsewhere.
    let hasChanges = pools[c].members.values.contains { $0.status != .kept || !$0.touched.isEmpty }
    guard !hasChanges || !pools[c].members.contains(where: { isOutdated($1, saved[$0]) }) else { return .skipped }
    let rows = query.includesPendingChanges ? visible(c) : saved
    let ids = query.window(rows.filter { query.matches($0.key, $0.value) }.sorted(by: query.precedes).map(\.key))
    switch query.result {
    case .count: return Expectation(outcome: .count(ids.count))
    case .identifiers: return Expectation(outcome: .objects(ids))
    case .objects, .realisedObjects:
      var faults: [Int: Bool] = [:]
      for x in ids {
        // Applying pending changes to the saved rows may fire faults.
        if query.result == .realisedObjects || !hasChanges {
          faults[x] = query.result == .objects ? isFault(c, x) : false
        }
        if query.result == .objects { register(c, x) } else { realise(c, x) }
      }
      return Expectation(outcome: .objects(ids), faults: faults)
    }
  }

  /// Objects that a fetch may have registered in a context besides its results.
  func knowledgeOfOthers(in c: Int) -> Set<Int> {
    Set(saved.keys.filter { pools[c].members[$0] == nil })
  }

  /// Whether the object would be sorted differently if its row were read again.
  private func isOutdated(_ member: GraphPool.Member, _ row: GraphRow?) -> Bool {
    !member.isFault && member.status == .kept && row != nil && member.base!.number != row!.number
  }

  /// The saved rows with the changes of a context applied. Objects that the context has not changed are as they are
  /// saved, whatever the context has read.
  private func visible(_ c: Int) -> Graph {
    var rows = saved
    for (x, member) in pools[c].members {
      switch member.status {
      case .deleted: rows[x] = nil
      case .inserted: rows[x] = member.now
      case .kept:
        guard member.isUpdated, let now = member.now else { continue }
        // Also if the other context has deleted the object.
        if rows[x] != nil || !member.isFault { rows[x, default: GraphRow()].values.merge(now.values) { $1 } }
      }
    }
    return rows
  }
}
