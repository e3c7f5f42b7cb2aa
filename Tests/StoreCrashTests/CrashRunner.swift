import Cairn
import CairnSimulation
import OpenCoreData

/// Runs one program on a simulated machine, and checks every disk that a loss of power may have left.
struct CrashRunner {
  private let program: CrashProgram
  private let model = makeModel()
  private let power: PowerCut
  private var machine: SimulatedMachine
  private var subject: Subject
  private var isDurable = true
  private var plain = PlainModel()
  /// The state after each save; the first is the empty store, or the state found after the last crash.
  private var states: [Graph] = [[:]]
  private var commits: [CommitSequence] = [0]
  /// The index of the newest state that is known to be durable.
  private var firstState = 0
  private var identifiers = GivenIdentifiers()
  private var tally = CrashTally()

  static func run(_ program: CrashProgram) throws -> CrashTally {
    var runner = try CrashRunner(program)
    do {
      try runner.run()
    } catch {
      runner.leave()
      throw error
    }
    runner.leave()
    return runner.tally
  }

  private init(_ program: CrashProgram) throws {
    self.program = program
    power = PowerCut(seed: program.seed, oneIn: program.oneIn)
    machine = SimulatedMachine(MemoryFileLayer(), seed: program.seed)
    power.watch(machine.files)
    subject = try Subject(machine, model)
  }

  private func leave() {
    machine.files.gate = nil
    try? subject.close()
  }

  private mutating func run() throws {
    try checkDisks()
    for (place, step) in program.steps.enumerated() {
      do {
        try follow()
        try run(step)
        try checkDisks()
      } catch {
        throw CrashFailure("step \(place), \(step): \(error)")
      }
    }
    try reopen(isDurable: true)
  }

  /// Tells `power` which states a loss of power may lead to from now on.
  private func follow() throws {
    let bounds = PowerCut.Bounds(first: firstState, last: states.count - 1, given: identifiers.count)
    power.expect(bounds, commits: commits, of: try subject.store.engine)
  }

  // MARK: Steps

  private mutating func run(_ step: CrashStep) throws {
    switch step {
    case .insert(let isSpecial):
      subject.insert(plain.insert(isSpecial: isSpecial), isSpecial: isSpecial)
    case .set(let x, let attribute, let value): try set(x, attribute, number: value)
    case .claim(let x, let y): try claim(x, y)
    case .relate(let x, let relation, let y): try relate(x, relation, y)
    case .unrelate(let x, let relation, let y): try unrelate(x, relation, y)
    case .move(let x, let relation, let source, let target): try move(x, relation, source, target)
    case .delete(let x): try delete(x)
    case .fill(let x, let relation, let count): try fill(x, relation, count)
    case .reserve(let count): try reserve(count)
    case .reserveMany(let count):
      for number in try subject.takeNumbers(count) { try identifiers.give(number) }
    case .save(let keepsObjects): try save(keepsObjects: keepsObjects)
    case .rollBack: rollBack()
    case .sync:
      try subject.store.engine.sync()
      firstState = states.count - 1
    case .checkpoint: try subject.store.engine.checkpoint()
    case .compact: try subject.store.engine.compact()
    case .background: machine.scheduler.drain()
    case .reopen(let isDurable): try reopen(isDurable: isDurable)
    case .crash(let seed): try crash(seed)
    }
  }

  private func pick(_ number: Int) -> Int? {
    let alive = plain.alive
    return alive.isEmpty ? nil : alive[number % alive.count]
  }

  private func object(_ x: Int) throws -> NSManagedObject { try subject.object(x, identifiers.uri) }

  private mutating func set(_ x: Int, _ attribute: Attribute, number: Int?) throws {
    let value = number.map { attribute.value($0) }
    guard let x = pick(x) else { return }
    try set(x, attribute, value)
  }

  private mutating func claim(_ x: Int, _ y: Int) throws {
    guard let x = pick(x), let y = pick(y) else { return }
    let name = plain.now[y]?[.name] ?? .text("name")
    for thing in [x, y] { try set(thing, .name, name) }
  }

  private mutating func set(_ x: Int, _ attribute: Attribute, _ value: GraphValue?) throws {
    guard plain.set(x, attribute, value) else { return }
    try subject.perform { _ in
      switch value {
      case nil: try object(x).setValue(nil, forKey: attribute.rawValue)
      case .number(let number): try object(x).setValue(number, forKey: attribute.rawValue)
      case .text(let text): try object(x).setValue(text, forKey: attribute.rawValue)
      }
    }
  }

  private mutating func relate(_ x: Int, _ relation: Relation, _ y: Int) throws {
    guard let x = pick(x), let y = pick(y), plain.relate(x, relation, y) else { return }
    try subject.perform { _ in
      let (owner, member) = (try object(x), try object(y))
      if relation.isOrdered {
        owner.mutableOrderedSetValue(forKey: relation.rawValue).add(member)
      } else if relation.isToMany {
        owner.mutableSetValue(forKey: relation.rawValue).add(member)
      } else {
        owner.setValue(member, forKey: relation.rawValue)
      }
    }
  }

  private mutating func unrelate(_ x: Int, _ relation: Relation, _ number: Int) throws {
    guard let x = pick(x), let related = plain.now[x]?[relation], !related.isEmpty else { return }
    let y = related[number % related.count]
    guard plain.unrelate(x, relation, y) else { return }
    try subject.perform { _ in
      let (owner, member) = (try object(x), try object(y))
      if relation.isOrdered {
        owner.mutableOrderedSetValue(forKey: relation.rawValue).remove(member)
      } else if relation.isToMany {
        owner.mutableSetValue(forKey: relation.rawValue).remove(member)
      } else {
        owner.setValue(nil, forKey: relation.rawValue)
      }
    }
  }

  private mutating func move(_ x: Int, _ relation: Relation, _ source: Int, _ target: Int) throws {
    guard let x = pick(x), let count = plain.now[x]?[relation].count, count > 1,
      plain.move(x, relation, from: source % count, to: target % count)
    else { return }
    try subject.perform { _ in
      try object(x).mutableOrderedSetValue(forKey: relation.rawValue)
        .moveObjects(at: IndexSet(integer: source % count), to: target % count)
    }
  }

  private mutating func delete(_ x: Int) throws {
    guard let x = pick(x), plain.delete(x) else { return }
    try subject.perform { context in
      context.delete(try object(x))
      context.processPendingChanges()
    }
  }

  private mutating func fill(_ x: Int, _ relation: Relation, _ count: Int) throws {
    guard let x = pick(x) else { return }
    for _ in 0..<count {
      let y = plain.insert(isSpecial: false)
      subject.insert(y, isSpecial: false)
      guard plain.relate(x, relation, y) else { continue }
      try subject.perform { _ in
        let (owner, member) = (try object(x), try object(y))
        if let inverse = relation.inverse, !inverse.isToMany {
          member.setValue(owner, forKey: inverse.rawValue)
        } else if relation.isOrdered {
          owner.mutableOrderedSetValue(forKey: relation.rawValue).add(member)
        } else {
          owner.mutableSetValue(forKey: relation.rawValue).add(member)
        }
      }
    }
  }

  private mutating func reserve(_ count: Int) throws {
    try subject.perform { context in
      let objects = (0..<count).map { _ in
        NSEntityDescription.insertNewObject(forEntityName: "Thing", into: context)
      }
      try context.obtainPermanentIDs(for: objects)
      for object in objects {
        try identifiers.give(try Subject.reference(object.objectID.uriRepresentation()))
        context.delete(object)
      }
      context.processPendingChanges()
    }
  }

  private mutating func save(keepsObjects: Bool) throws {
    for (serial, uri) in try subject.obtainIdentifiers() where identifiers.uri(of: serial) == nil {
      try identifiers.give(uri, to: serial)
    }
    for x in plain.alive { plain.give(x, reference: identifiers.reference(of: x) ?? 0) }
    let outcome = plain.outcome
    let target = plain.target
    if outcome == .saved { states.append(target) }
    try follow()
    let code = try subject.perform { context -> Int? in
      do {
        try context.save()
        return nil
      } catch let error as NSError where error.domain == NSCocoaErrorDomain {
        return error.code
      }
    }
    switch outcome {
    case .saved:
      tally.saves += 1
      try require(code == nil, "the save failed with \(code ?? 0)")
      commits.append(try subject.store.engine.lastSequence)
      if isDurable { firstState = states.count - 1 }
      // The context still has relationships to deleted objects.
      let isUpToDate = keepsObjects && !plain.hasDeletions
      plain.adopt(target)
      if !isUpToDate { rollBack() }
    case .denied:
      tally.denied += 1
      try require(code == 1600 || code == 1560, "a deletion was to be denied: \(code ?? 0)")
      rollBack()
    case .dangling:
      tally.dangling += 1
      try require(code == 1550 || code == 1560, "a reference to a deleted thing was saved: \(code ?? 0)")
      rollBack()
    case .conflict:
      tally.conflicts += 1
      try require(code == 133_021, "a value was to be taken already: \(code ?? 0)")
      if !keepsObjects { rollBack() }
    }
  }

  private mutating func rollBack() {
    plain.rollBack()
    subject.perform { $0.rollback() }
    subject.reset()
  }

  // MARK: Opening again

  private mutating func reopen(isDurable: Bool) throws {
    rollBack()
    try subject.close()
    firstState = states.count - 1
    power.expect(PowerCut.Bounds(first: firstState, last: firstState, given: identifiers.count))
    try open(machine.files, isDurable)
    let stored = try StoredGraph(try subject.store.engine)
    try stored.check()
    let found = try stored.graph(identifiers.serials)
    try require(found == plain.saved, found.difference(from: plain.saved))
    let read = try subject.graph(identifiers.serials)
    try require(read == plain.saved, "read by Core Data: \(read.difference(from: plain.saved))")
  }

  /// Opens the store on a new machine with the same disk.
  private mutating func open(_ files: MemoryFileLayer, _ isDurable: Bool) throws {
    self.isDurable = isDurable
    machine = SimulatedMachine(files, seed: program.seed &+ UInt64(tally.disks))
    power.watch(files)
    subject = try Subject(machine, model, isDurable: isDurable)
    commits = states.map { _ in 0 }
    commits[states.count - 1] = try subject.store.engine.lastSequence
  }

  private mutating func crash(_ seed: UInt64) throws {
    let files = machine.files.crash(.random(seed: seed)).files
    let durable = try subject.store.engine.durableSequence
    let first = max(firstState, commits.lastIndex { $0 <= durable } ?? 0)
    leave()
    power.expect(PowerCut.Bounds(first: first, last: states.count - 1, given: identifiers.count))
    try open(files, isDurable)
    let stored = try StoredGraph(try subject.store.engine)
    try stored.check()
    let found = try stored.graph(identifiers.serials)
    guard states[first...].contains(found) else {
      throw CrashFailure("this is no state there was: \(found.difference(from: states[states.count - 1]))")
    }
    plain.adopt(found)
    // The disks cut during the opening must have one of the earlier states; from now on only the found state is
    // allowed.
    try checkDisks()
    states = [found]
    commits = [0]
    firstState = 0
  }

  // MARK: Disks

  private mutating func checkDisks() throws {
    for disk in power.takeDisks() {
      tally.disks += 1
      do {
        try DiskCheck(disk, Array(states[disk.bounds.first...disk.bounds.last]), identifiers, model).run()
      } catch {
        throw CrashFailure("\(disk.place), states \(disk.bounds.first) to \(disk.bounds.last): \(error)")
      }
    }
  }
}

extension Attribute {
  /// One of a few values, so that some are equal; texts are of many lengths.
  fileprivate func value(_ number: Int) -> GraphValue {
    switch self {
    case .name: .text("name \(number % 5)")
    case .code: .text("code \(number % 2)")
    case .rank: .number(Int64(number % 2))
    case .number: .number(Int64(number % 10) - 5)
    case .text: .text(String(repeating: "text \(number)", count: 1 << (number % 11)))
    }
  }
}
