/// A model of a store and two contexts, as plain as possible: rows, and for each context what it has read and what it
/// has changed.
///
/// A step that makes no sense in the present state is skipped, so that any part of a program is a valid program.
struct GraphModel {
  var saved: Graph = [:]
  var pools = [GraphPool(), GraphPool()]
  /// Whether steps are skipped that change relationships of objects that the other context is changing.
  var isCareful = true

  /// The expected outcome of a step.
  enum Outcome: Equatable {
    /// The step is not run.
    case skipped
    case done
    case error(Int)
    /// The save succeeded, with these objects.
    case saved(GraphPool.Saved)
    case objects([Int])
    case count(Int)
    case value(GraphValue)
    /// Relationships were changed in both contexts: see ``GraphPool/isTangled``.
    case undefined
  }

  struct Expectation {
    var outcome: Outcome
    /// For objects whose state is defined: true if they must be faults now, false if they must not.
    var faults: [Int: Bool] = [:]

    static let skipped = Expectation(outcome: .skipped)
    static let done = Expectation(outcome: .done)
    static let undefined = Expectation(outcome: .undefined)
  }

  mutating func apply(_ step: GraphStep) -> Expectation {
    let c = step.context
    if pools[c].isTangled { return applyTangled(step) }
    switch step.operation {
    case .insert(let x): return insert(c, x)
    case .set(let x, let property, let value): return set(c, x, property, value)
    case .add(let x, let property, let y): return add(c, x, property, y)
    case .remove(let x, let property, let y): return remove(c, x, property, y)
    case .place(let x, let property, let y, let index): return place(c, x, property, y, at: index)
    case .delete(let x): return delete(c, x)
    case .read(let x, let property): return read(c, x, property)
    case .fetch(let query): return fetch(c, query)
    case .object(let x): return object(c, x)
    case .existingObject(let x): return existingObject(c, x)
    case .obtainPermanentIDs, .inspect: return .done
    case .save: return save(c)
    case .refusedSave: return refusedSave(c)
    case .rollback: return rollback(c)
    case .reset:
      pools[c].reset()
      return .done
    case .refresh(let x, let mergeChanges): return refresh(c, x, mergeChanges: mergeChanges)
    case .refreshAll: return refreshAll(c)
    case .forget:
      pools[c].isForgetting = true
      return .done
    case .merge: return merge(c)
    case .policy(let policy):
      pools[c].policy = policy
      return .done
    }
  }

  /// Runs only the steps that end the tangle, after which the context is reset, and changes of the policy.
  private mutating func applyTangled(_ step: GraphStep) -> Expectation {
    switch step.operation {
    case .save, .merge, .rollback, .reset: .undefined
    case .policy(let policy):
      {
        pools[step.context].policy = policy; return .done
      }()
    default: .skipped
    }
  }

  private mutating func insert(_ c: Int, _ x: Int) -> Expectation {
    guard saved[x] == nil, pools.allSatisfy({ $0.members[x] == nil }) else { return .skipped }
    pools[c].members[x] = GraphPool.Member(status: .inserted, now: .new)
    return Expectation(outcome: .done, faults: [x: false])
  }

  private mutating func object(_ c: Int, _ x: Int) -> Expectation {
    guard saved[x] != nil, pools[c].members[x]?.status != .deleted else { return .skipped }
    let isFault = isFault(c, x)
    register(c, x)
    return Expectation(outcome: .done, faults: isFault.map { [x: $0] } ?? [:])
  }

  private mutating func existingObject(_ c: Int, _ x: Int) -> Expectation {
    switch (pools[c].members[x]?.status, saved[x] != nil) {
    case (.deleted, _), (.kept, false): return .skipped
    case (nil, false): return pools[c].departed.contains(x) ? .skipped : Expectation(outcome: .error(133000))
    default:
      realise(c, x)
      return Expectation(outcome: .done, faults: [x: false])
    }
  }

  // MARK: Reading

  /// Whether a context can use an object: the object exists, and is not deleted in this context.
  func isUsable(_ c: Int, _ x: Int) -> Bool {
    switch pools[c].members[x]?.status {
    case .inserted: !pools[c].justDeleted.contains(x)
    case .deleted: false
    case .kept, nil: saved[x] != nil
    }
  }

  /// Whether an object was deleted elsewhere while this context still has its values.
  func isGone(_ c: Int, _ x: Int) -> Bool {
    guard let member = pools[c].members[x], member.status == .kept else { return false }
    return saved[x] == nil && !member.isFault
  }

  /// Whether a context's values of an object equal the saved ones.
  func isCurrent(_ c: Int, _ x: Int) -> Bool {
    guard let member = pools[c].members[x], member.status != .inserted else { return isUsable(c, x) }
    guard let row = saved[x] else { return false }
    guard let base = member.base else { return true }
    return (member.isFault || base.version == row.version) && base.values.allSatisfy { row.values[$0] == $1 }
  }

  /// Whether an object is a fault; nil if that is not defined.
  func isFault(_ c: Int, _ x: Int) -> Bool? {
    guard let member = pools[c].members[x] else { return true }
    return member.mayHaveBeenRead ? nil : member.isFault
  }

  mutating func register(_ c: Int, _ x: Int) {
    if pools[c].members[x] == nil { pools[c].members[x] = GraphPool.Member() }
  }

  /// Fires the object's fault: reads its row without to-many relationships.
  mutating func realise(_ c: Int, _ x: Int) {
    register(c, x)
    guard pools[c].members[x]!.isFault, let row = saved[x] else { return }
    let read = row.withoutToMany
    for part in [\GraphPool.Member.base, \.now] {
      var known = pools[c].members[x]![keyPath: part] ?? GraphRow()
      known.values.merge(read.values) { $1 }
      known.version = read.version
      pools[c].members[x]![keyPath: part] = known
    }
  }

  /// The value of a property. Fires a fault, except for a to-many relationship, which is read by itself.
  mutating func value(_ c: Int, _ x: Int, _ property: GraphProperty) -> GraphValue {
    if property.isToMany {
      register(c, x)
      pools[c].members[x]!.mayHaveBeenRead = true
    } else {
      realise(c, x)
    }
    if let value = pools[c].members[x]!.now?.values[property] { return value }
    let value = saved[x]?.values[property] ?? .links([])
    for part in [\GraphPool.Member.base, \.now] {
      var known = pools[c].members[x]![keyPath: part] ?? GraphRow()
      known.values[property] = value
      pools[c].members[x]![keyPath: part] = known
    }
    return value
  }

  mutating func links(_ c: Int, _ x: Int, _ property: GraphProperty) -> [Int] {
    if case .links(let ids) = value(c, x, property) { ids } else { [] }
  }

  /// The related objects, as in `links`, but without reading anything.
  func peek(_ c: Int, _ x: Int, _ property: GraphProperty) -> [Int] {
    pools[c].members[x]?.now?.links(property) ?? saved[x]?.links(property) ?? []
  }

  private mutating func read(_ c: Int, _ x: Int, _ property: GraphProperty) -> Expectation {
    guard isUsable(c, x) || isGone(c, x) && property.inverse == nil else { return .skipped }
    // It is not defined what is left of deleted objects in a relationship.
    let related = peek(c, x, property)
    guard related.allSatisfy({ isUsable(c, $0) }) else { return .skipped }
    let value = value(c, x, property)
    for id in related { register(c, id) }
    return Expectation(outcome: .value(value), faults: property.isToMany ? [:] : [x: false])
  }
}
