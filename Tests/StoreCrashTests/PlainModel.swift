/// The expected state of a context and its store: things as they were saved, and as they have been changed since.
///
/// A change whose effect is not defined returns false and changes nothing.
struct PlainModel {
  private(set) var saved: Graph = [:]
  private(set) var now: Graph = [:]
  /// Things that were saved and have since been deleted.
  private var deleted: Graph = [:]
  private var lastSerial = 0

  /// The serial numbers of the things that exist.
  var alive: [Int] { now.keys.sorted() }

  /// Whether a saved thing has been deleted.
  var hasDeletions: Bool { !deleted.isEmpty }

  /// Forgets everything that is not saved.
  mutating func rollBack() {
    now = saved
    deleted = [:]
  }

  mutating func adopt(_ graph: Graph) {
    saved = graph
    rollBack()
  }

  // MARK: Changing

  mutating func insert(isSpecial: Bool) -> Int {
    lastSerial += 1
    now[lastSerial] = GraphRow(isSpecial: isSpecial)
    return lastSerial
  }

  mutating func give(_ x: Int, reference: Int64) { now[x]?.reference = reference }

  mutating func set(_ x: Int, _ attribute: Attribute, _ value: GraphValue?) -> Bool {
    guard let row = now[x], row.isSpecial || !attribute.isSpecial else { return false }
    now[x]?[attribute] = value
    return true
  }

  /// Makes `y` the last thing that `x` is related to, or the only one.
  mutating func relate(_ x: Int, _ relation: Relation, _ y: Int) -> Bool {
    guard x != y, let row = now[x], now[y] != nil, !row[relation].contains(y), !comesBack(x, relation, y) else {
      return false
    }
    let displaced = relation.isToMany ? [] : row[relation]
    guard let inverse = relation.inverse else {
      now[x]?[relation] = row[relation].filter { !displaced.contains($0) } + [y]
      return true
    }
    let rivals = inverse.isToMany ? [] : links(y, inverse)
    guard (displaced + rivals).allSatisfy({ now[$0] != nil }), !comesBack(y, inverse, x) else { return false }
    for other in displaced { separate(x, relation, other) }
    for rival in rivals { separate(rival, relation, y) }
    now[x]?[relation] += [y]
    now[y]?[inverse] += [x]
    return true
  }

  /// Whether this would add a saved member to an ordered relationship again: its position before the save is not
  /// defined.
  private func comesBack(_ x: Int, _ relation: Relation, _ y: Int) -> Bool {
    relation.isOrdered && saved[x]?[relation].contains(y) == true
  }

  mutating func unrelate(_ x: Int, _ relation: Relation, _ y: Int) -> Bool {
    guard links(x, relation).contains(y), now[y] != nil else { return false }
    separate(x, relation, y)
    return true
  }

  private mutating func separate(_ x: Int, _ relation: Relation, _ y: Int) {
    now[x]?[relation].removeAll { $0 == y }
    if let inverse = relation.inverse { now[y]?[inverse].removeAll { $0 == x } }
  }

  /// Moves a member of an ordered relationship.
  mutating func move(_ x: Int, _ relation: Relation, from source: Int, to target: Int) -> Bool {
    guard relation.isOrdered, var members = now[x]?[relation], members.indices.contains(source),
      members.indices.contains(target), source != target
    else { return false }
    members.insert(members.remove(at: source), at: target)
    now[x]?[relation] = members
    return true
  }

  private func links(_ x: Int, _ relation: Relation) -> [Int] { now[x]?[relation] ?? [] }

  // MARK: Deleting

  mutating func delete(_ x: Int) -> Bool {
    guard now[x] != nil else { return false }
    var leaving = [x]
    var place = 0
    while place < leaving.count {
      leaving += links(leaving[place], .children).filter { now[$0] != nil && !leaving.contains($0) }
      place += 1
    }
    // No remaining thing may refer to a deleted thing that was never saved.
    let unsaved = Set(leaving.filter { saved[$0] == nil })
    let stays: (Relation) -> Bool = { $0.deleteRule == .deny || $0.deleteRule == .nothing }
    guard unsaved.allSatisfy({ y in Relation.allCases.allSatisfy { !stays($0) || links(y, $0).isEmpty } }),
      now.values.allSatisfy({ row in
        Relation.allCases.allSatisfy { $0.inverse != nil || $0.isToMany || unsaved.isDisjoint(with: row[$0]) }
      })
    else { return false }
    for y in leaving { remove(y) }
    return true
  }

  private mutating func remove(_ x: Int) {
    for relation in Relation.allCases where relation.deleteRule == .nullify {
      for y in links(x, relation) where now[y] != nil {
        if let inverse = relation.inverse { now[y]?[inverse].removeAll { $0 == x } }
      }
    }
    for relation in Relation.allCases where relation.inverse == nil && relation.isToMany {
      for owner in now.keys { now[owner]?[relation].removeAll { $0 == x } }
    }
    if saved[x] != nil { deleted[x] = now[x] }
    now[x] = nil
  }

  // MARK: Saving

  enum Outcome: Equatable {
    case saved
    /// A deletion was denied.
    case denied
    /// A thing is related to a deleted thing.
    case dangling
    /// Two things would have the same key.
    case conflict
  }

  /// The expected outcome of a save now.
  var outcome: Outcome {
    if deleted.values.contains(where: { $0[.wards].contains { now[$0] != nil } }) { return .denied }
    if hasDanglingReferences { return .dangling }
    return hasDuplicates ? .conflict : .saved
  }

  /// Whether a relationship leads to a deleted thing, and did not when it was saved.
  private var hasDanglingReferences: Bool {
    now.contains { x, row in
      Relation.allCases.contains { relation in
        row[relation].contains { now[$0] == nil && saved[x]?[relation].contains($0) != true }
      }
    }
  }

  private var hasDuplicates: Bool {
    Attribute.constraints.contains { attributes in
      let keys = now.values.compactMap { row -> [GraphValue]? in
        let key = attributes.compactMap { row[$0] }
        return key.count == attributes.count ? key : nil
      }
      return Set(keys).count < keys.count
    }
  }

  /// The expected contents of the store after a save that succeeds.
  var target: Graph {
    var target = now
    // Members of a relationship whose inverse is to-one are derived from that inverse.
    for (x, row) in now { target[x]?[.remarks] = row[.remarks].filter { now[$0] != nil } }
    return target
  }
}
