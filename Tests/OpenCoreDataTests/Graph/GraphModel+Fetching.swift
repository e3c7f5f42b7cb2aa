extension GraphQuery {
  /// Every third object is of the subentity.
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

  /// By the number, nil first, and then by the order of insertion.
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
    // Whether saved membership includes what is deleted here is not defined.
    guard !pools[c].isTangled, query.includesPendingChanges || pools[c].all(.deleted).isEmpty else { return .skipped }
    // Where a changed object belongs among those that were changed elsewhere is not defined.
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
        // Laying changes over what is saved may fire faults.
        if query.result == .realisedObjects || !hasChanges {
          faults[x] = query.result == .objects ? isFault(c, x) : false
        }
        if query.result == .objects { register(c, x) } else { realise(c, x) }
      }
      return Expectation(outcome: .objects(ids), faults: faults)
    }
  }

  /// Objects that a fetch may have made known to a context beside its results.
  func knowledgeOfOthers(in c: Int) -> Set<Int> {
    Set(saved.keys.filter { pools[c].members[$0] == nil })
  }

  /// Whether it would be sorted differently if it were read again.
  private func isOutdated(_ member: GraphPool.Member, _ row: GraphRow?) -> Bool {
    !member.isFault && member.status == .kept && row != nil && member.base!.number != row!.number
  }

  /// The saved rows with the changes of a context on top. What it has not changed is as it is saved, whatever it has
  /// read.
  private func visible(_ c: Int) -> Graph {
    var rows = saved
    for (x, member) in pools[c].members {
      switch member.status {
      case .deleted: rows[x] = nil
      case .inserted: rows[x] = member.now
      case .kept:
        guard member.isUpdated, let now = member.now else { continue }
        // Also if somebody else has deleted it.
        if rows[x] != nil || !member.isFault { rows[x, default: GraphRow()].values.merge(now.values) { $1 } }
      }
    }
    return rows
  }
}
