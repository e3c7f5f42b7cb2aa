/// The state of a context that can be observed without changing it.
struct GraphObservation: Equatable {
  struct Object: Equatable {
    var isFault: Bool
    var isInserted: Bool
    var isUpdated: Bool
    var isDeleted: Bool
    var hasChanges: Bool
    var hasPersistentChanges: Bool
    /// The to-many relationships that have not been read yet.
    var unread: Set<GraphProperty>
  }

  var registered: Set<Int> = []
  var inserted: Set<Int> = []
  var updated: Set<Int> = []
  var deleted: Set<Int> = []
  var hasChanges = false
  /// The objects that the program holds.
  var objects: [Int: Object] = [:]
}

extension GraphModel {
  /// Returns the differences between an observation and the model. Where the model does not define something, it takes
  /// over what was observed.
  mutating func check(_ c: Int, _ seen: GraphObservation, faults: [Int: Bool]) -> [String] {
    var problems: [String] = []
    func expect(_ isTrue: Bool, _ problem: @autoclosure () -> String) {
      if !isTrue { problems.append(problem()) }
    }
    // The context may have dropped objects whose changes were undone and, after `forget`, objects without changes.
    for (x, member) in pools[c].members where seen.objects[x] == nil && member.status == .kept {
      if member.changed.isEmpty && (!member.touched.isEmpty || pools[c].isForgetting) { pools[c].members[x] = nil }
    }
    pools[c].isForgetting = false
    // A fetch may have registered more objects than its results.
    for x in seen.objects.keys where pools[c].members[x] == nil && saved[x] != nil { register(c, x) }
    let pool = pools[c]
    expect(seen.inserted == pool.all(.inserted), "inserted: \(show(seen.inserted)), not \(show(pool.all(.inserted)))")
    expect(seen.deleted == pool.all(.deleted), "deleted: \(show(seen.deleted)), not \(show(pool.all(.deleted)))")
    let kept = pool.members.filter { $0.value.status == .kept }
    let changed = Set(kept.filter { !$0.value.changed.isEmpty }.keys)
    let touched = Set(kept.filter { !$0.value.touched.isEmpty }.keys)
    expect(
      changed.isSubset(of: seen.updated) && seen.updated.isSubset(of: touched),
      "updated: \(show(seen.updated)), not \(show(changed)), at most \(show(touched))")
    let hasChanges = !seen.inserted.isEmpty || !seen.updated.isEmpty || !seen.deleted.isEmpty
    expect(seen.hasChanges == hasChanges, "hasChanges of the context: \(seen.hasChanges)")
    let held = Set(seen.objects.keys)
    expect(held == Set(pool.members.keys), "held: \(show(held)), not \(show(Set(pool.members.keys)))")
    expect(held.isSubset(of: seen.registered), "registered: \(show(seen.registered)), not \(show(held))")

    for (x, object) in seen.objects {
      guard let member = pool.members[x] else { continue }
      expect(object.isInserted == (member.status == .inserted), "isInserted of \(x): \(object.isInserted)")
      expect(object.isDeleted == (member.status == .deleted), "isDeleted of \(x): \(object.isDeleted)")
      expect(object.isUpdated == seen.updated.contains(x), "isUpdated of \(x): \(object.isUpdated)")
      let hasChanges = object.isInserted || object.isUpdated || object.isDeleted
      expect(object.hasChanges == hasChanges, "hasChanges of \(x): \(object.hasChanges)")
      if member.status == .kept {
        expect(
          object.hasPersistentChanges ? !member.touched.isEmpty : member.changed.isEmpty,
          "hasPersistentChangedValues of \(x): \(object.hasPersistentChanges)")
      }
      if let isFault = faults[x], member.status != .deleted {
        expect(object.isFault == isFault, "isFault of \(x): \(object.isFault)")
      }
      if member.status == .inserted || member.changed.contains(where: { !$0.isToMany }) && member.status == .kept {
        expect(!object.isFault, "\(x) is changed, and a fault")
      }
      learn(c, x, object)
    }
    return problems
  }

  private func show(_ ids: Set<Int>) -> String { "\(ids.sorted())" }

  /// Takes over what was observed where it is not defined whether something was read.
  private mutating func learn(_ c: Int, _ x: Int, _ object: GraphObservation.Object) {
    pools[c].members[x]!.unread = object.unread
    pools[c].members[x]!.mayHaveBeenRead = false
    pools[c].members[x]!.isUpdated = object.isUpdated
    pools[c].members[x]!.isToBeSaved = object.isUpdated && object.hasPersistentChanges
    guard pools[c].members[x]!.status == .kept, saved[x] != nil else { return }
    if !object.isUpdated && pools[c].members[x]!.changed.isEmpty { pools[c].members[x]!.touched = [] }
    let member = pools[c].members[x]!
    if object.isFault {
      forgetRow(c, x)
    } else {
      realise(c, x)
    }
    for property in GraphProperty.toMany where !member.touched.contains(property) {
      if object.unread.contains(property) {
        pools[c].members[x]!.base?.values[property] = nil
        pools[c].members[x]!.now?.values[property] = nil
      } else {
        _ = value(c, x, property)
      }
    }
  }

  /// Forgets the row of a fault, which has at most to-many relationships that were read.
  private mutating func forgetRow(_ c: Int, _ x: Int) {
    for property in GraphProperty.allCases where !property.isToMany {
      pools[c].members[x]!.base?.values[property] = nil
      pools[c].members[x]!.now?.values[property] = nil
      pools[c].members[x]!.touched.remove(property)
    }
  }
}
