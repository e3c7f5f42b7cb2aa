/// Runs a program against OpenCoreData and the model, and compares everything that can be observed after each step.
struct GraphRunner {
  /// Ends the run without a failure before the rest of the program.
  private struct Stop: Error {}

  struct Failure: Error, CustomStringConvertible {
    var step: Int
    var problems: [String]

    var description: String { "step \(step): \(problems.joined(separator: "; "))" }
  }

  private var model = GraphModel()
  private let subject: GraphSubject
  private let kind: GraphSubject.Kind
  private let hasTwoContexts: Bool
  private var saves = 0
  private var isEventOpen = [false, false]

  private init(_ program: GraphProgram, _ kind: GraphSubject.Kind) throws {
    model.isCareful = program.isCareful
    hasTwoContexts = program.steps.contains { $0.context == 1 }
    subject = try GraphSubject(kind)
    self.kind = kind
  }

  /// Throws a ``Failure`` where the two differ. If `isTraced`, prints each step before it is run.
  static func run(_ program: GraphProgram, _ kind: GraphSubject.Kind, isTraced: Bool = false) throws {
    var runner = try GraphRunner(program, kind)
    for (index, step) in program.steps.enumerated() {
      if isTraced { print("  \(index): \(step)") }
      do {
        try runner.run(step)
      } catch is Stop {
        return
      } catch let mismatch as GraphMismatch {
        throw Failure(step: index, problems: ["\(step): \(mismatch)"])
      }
    }
    do {
      try runner.compareSaved(reopening: true)
    } catch let mismatch as GraphMismatch {
      throw Failure(step: program.steps.count, problems: ["what is saved in the end: \(mismatch)"])
    }
  }

  private mutating func run(_ step: GraphStep) throws {
    if step.operation == .refusedSave && kind != .incremental { return }
    // The context's report on objects that were changed back must be learned before they are saved.
    if step.operation.endsEvent { try settle(step.context) }
    // So must be what the other context has read so far.
    if step.operation == .save && isEventOpen[1 - step.context] { try endEvent(1 - step.context, faults: [:]) }
    let step = kind.adapted(step)
    let expected = model.apply(step)
    switch expected.outcome {
    case .skipped: return
    case .undefined: return try untangle(step)
    default: break
    }
    let outcome = try subject.apply(step)
    try compare(outcome, expected.outcome)
    if step.operation == .save { try maintain() }
    isEventOpen[step.context] = true
    if step.operation == .inspect { try inspect(step.context) }
    if case .fetch = step.operation {
      try subject.hold(step.context, registeredOf: model.knowledgeOfOthers(in: step.context))
    }
    if step.endsEvent || step.operation.endsEvent { try endEvent(step.context, faults: expected.faults) }
  }

  private mutating func settle(_ c: Int) throws {
    if isEventOpen[c] { try endEvent(c, faults: [:]) }
    guard hasTwoContexts else { return }
    // Reading shows whether the additions and removals made a difference.
    var hasRead = false
    for (x, member) in model.pools[c].members where member.changed.isEmpty && !member.touchedLinks.isEmpty {
      guard member.status == .kept else { continue }
      for property in member.touchedLinks {
        let step = GraphStep(context: c, operation: .read(x, property))
        let expected = model.apply(step)
        if expected.outcome == .skipped { continue }
        try compare(try subject.apply(step), expected.outcome)
        hasRead = true
      }
    }
    if hasRead { try endEvent(c, faults: [:]) }
  }

  private func compare(_ outcome: GraphModel.Outcome, _ expected: GraphModel.Outcome) throws {
    if outcome != expected { throw GraphMismatch("\(outcome), not \(expected)") }
  }

  private mutating func endEvent(_ c: Int, faults: [Int: Bool]) throws {
    let before = model
    model.process(c)
    // A deletion of the event may have had an object read since.
    let faults = faults.filter { x, _ in before.isFault(c, x) == model.isFault(c, x) }
    subject.process(c)
    isEventOpen[c] = false
    if model.pools[c].isTangled { return }
    let problems = model.check(c, try subject.observe(c), faults: faults)
    if !problems.isEmpty { throw GraphMismatch(problems.joined(separator: "; ")) }
  }

  // MARK: Everything

  /// Compares every value of every object that a context knows.
  private mutating func inspect(_ c: Int) throws {
    try endEvent(c, faults: [:])
    if model.pools[c].isTangled { return }
    for x in model.pools[c].members.keys.sorted() {
      for property in GraphProperty.allCases {
        let step = GraphStep(context: c, operation: .read(x, property))
        let expected = model.apply(step)
        if expected.outcome == .skipped { continue }
        let outcome = try subject.apply(step)
        if outcome != expected.outcome {
          throw GraphMismatch("\(x).\(property) is \(outcome), not \(expected.outcome)")
        }
      }
    }
    for (x, member) in model.pools[c].members where member.status == .kept && !member.isFault {
      try compareChanges(c, x, member)
    }
    if model.pools.allSatisfy({ !$0.isTangled }) { try compareSaved() }
  }

  /// At every fourth save, compacts the store and compares its contents as another coordinator reads them.
  private mutating func maintain() throws {
    saves += 1
    guard saves.isMultiple(of: 4) else { return }
    try subject.maintain()
    if model.pools.allSatisfy({ !$0.isTangled }) { try compareSaved() }
  }

  private func compareChanges(_ c: Int, _ x: Int, _ member: GraphPool.Member) throws {
    let changed = try subject.values(c, x, committed: false)
    let keys = Set(changed.keys)
    guard member.changed.filter({ !$0.mayDangle }).isSubset(of: keys), keys.isSubset(of: member.touched) else {
      throw GraphMismatch("changed of \(x): \(keys), not \(member.changed), at most \(member.touched)")
    }
    for (property, value) in changed where value != member.now!.values[property] {
      throw GraphMismatch("the changed \(property) of \(x) is \(value), not \(member.now!.values[property]!)")
    }
    let committed = try subject.values(c, x, committed: true)
    for (property, value) in committed where member.base!.values[property] != nil {
      guard value != member.base!.values[property] else { continue }
      throw GraphMismatch("the committed \(property) of \(x) is \(value), not \(member.base!.values[property]!)")
    }
    for property in GraphProperty.attributes where committed[property] == nil {
      throw GraphMismatch("the committed values of \(x) have no \(property)")
    }
  }

  private func compareSaved(reopening: Bool = false) throws {
    let saved = try reopening ? subject.savedAfterReopening() : subject.saved()
    guard Set(saved.keys) == Set(model.saved.keys) else {
      throw GraphMismatch("saved are \(saved.keys.sorted()), not \(model.saved.keys.sorted())")
    }
    for (x, row) in saved {
      for (property, value) in row.values where value != model.saved[x]!.values[property]! {
        // It is not defined what is left of deleted objects in a relationship.
        if case .links(let ids) = model.saved[x]!.values[property]!, !ids.allSatisfy({ model.saved[$0] != nil }) {
          continue
        }
        throw GraphMismatch("the saved \(property) of \(x) is \(value), not \(model.saved[x]!.values[property]!)")
      }
    }
  }

  // MARK: Tangles

  /// Runs a step after which relationships are not defined; what is saved must still be consistent.
  private mutating func untangle(_ step: GraphStep) throws {
    if model.isCareful { throw Stop() }
    let outcome = try subject.apply(step)
    for c in model.pools.indices { _ = try subject.apply(GraphStep(context: c, operation: .reset)) }
    let saved = try subject.saved()
    switch outcome {
    case .saved: break
    default:
      if let difference = difference(saved) { throw GraphMismatch("\(outcome) changed what is saved: \(difference)") }
    }
    let faults = saved.faults
    if !faults.isEmpty {
      throw GraphMismatch("relationships do not fit together: \(faults.joined(separator: "; "))")
    }
    model.adopt(saved)
  }

  private func difference(_ saved: Graph) -> String? {
    for x in Set(saved.keys).union(model.saved.keys).sorted() where saved[x]?.values != model.saved[x]?.values {
      let isDangling = (model.saved[x]?.values ?? [:]).contains {
        if case .links(let ids) = $0.value { !ids.allSatisfy { model.saved[$0] != nil } } else { false }
      }
      if !isDangling { return "\(x)" }
    }
    return nil
  }
}

extension GraphSubject.Kind {
  /// A child's fetch without pending changes finds what is in the stores, and not what is in the parent.
  fileprivate func adapted(_ step: GraphStep) -> GraphStep {
    guard case .fetch(var query) = step.operation, self == .child || self == .grandchild else { return step }
    query.includesPendingChanges = true
    var step = step
    step.operation = .fetch(query)
    return step
  }
}

extension GraphStep.Operation {
  /// Whether the operation itself processes pending changes, whatever the step says.
  fileprivate var endsEvent: Bool {
    switch self {
    case .fetch, .save, .refusedSave, .refreshAll, .merge, .reset, .rollback, .forget: true
    default: false
    }
  }
}
