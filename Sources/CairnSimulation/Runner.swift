package import Cairn

/// Runs one program on a simulated machine, compares what it sees with the model, and looks at every disk that a crash
/// may have left.
package struct Runner {
  /// What a program came to.
  package struct Result: Sendable {
    package var failure: Failure?
    package var tally: Tally
    /// The same for the same program, to the last call and byte.
    package var digest: UInt64
    /// Every call and result, if they were to be kept.
    package var trace: [String]
    /// What a user of the store has seen, whatever its options.
    package var observations: [String]
  }

  private let program: Program
  var oracles: Oracles
  let watch: Watch
  var machine: SimulatedMachine
  var model = Model()
  var store: Store?
  var keyspaces: [Keyspace] = []
  private var snapshots: [(snapshot: Snapshot, rows: Model.Rows, keyspaces: [Keyspace])] = []
  private var observations: [String] = []
  private var isPoisoned = false
  /// What the store has committed of its own accord: dictionaries.
  private var ownCommits: UInt64 = 0
  /// Mishaps that have been met when the last was excused.
  private var machines: UInt64 = 0

  /// `deaf` are syncs that do nothing, for a test that this is noticed.
  package static func run(
    _ program: Program, _ sampling: Sampling, keepsTrace: Bool = false, deaf: Set<MemoryFileLayer.Operation> = []
  ) -> Result {
    var runner = Runner(program, sampling.watch, keepsTrace)
    runner.machine.files.deaf = deaf
    var failure: Failure?
    do {
      try runner.run()
    } catch let error as Failure {
      failure = error
    } catch {
      failure = Failure(.errors, "\(error)")
    }
    runner.leave()
    runner.oracles.tally.programs = 1
    return Result(
      failure: failure, tally: runner.oracles.tally, digest: runner.watch.digest, trace: runner.watch.lines,
      observations: runner.observations)
  }

  /// How much of what a crash may leave is looked at.
  package enum Sampling: Sendable, Hashable {
    /// Only the crashes that are steps of the program.
    case none
    /// One of some calls, one outcome of each.
    case some
    /// Every call, several outcomes of each.
    case every(decisions: Int, random: Int)

    fileprivate var watch: Watch.Sampling {
      switch self {
      case .none: .none
      case .some: .random(oneIn: 3)
      case .every(let decisions, let random): .every(decisions: decisions, random: random)
      }
    }
  }

  private init(_ program: Program, _ sampling: Watch.Sampling, _ keepsTrace: Bool) {
    self.program = program
    oracles = Oracles(program.options)
    watch = Watch(seed: mix(program.seed, 3), sampling: sampling, keepsLines: keepsTrace)
    machine = SimulatedMachine(MemoryFileLayer(), seed: mix(program.seed, 2))
  }

  private mutating func run() throws {
    watch.begin(step: 0)
    try located("the first opening", .opening) { try open() }
    for step in program.steps {
      watch.begin(step: step.id)
      try located("step \(step.id)", .errors) { try run(step) }
      oracles.tally.steps += 1
    }
    watch.begin(step: 0)
    try located("the end", .errors) {
      try compare()
      releaseAll()
      // A checkpoint in the making holds versions like a snapshot.
      try background(.max)
      if let store, !isPoisoned {
        let older = model.rows.reduce(0) { $0 + $1.olderCount }
        try require(store.statistics.retainedVersions == older, .snapshots, "versions are kept for nobody")
        try require(store.statistics.pinnedBytes == 0, .space, "bytes are kept for nobody")
        try unwatched { try $0.oracles.compareWithLog(store, $0.machine.files, $0.model.rows) }
      }
      try reopen()
    }
    // What the store leaves when it is closed is part of the trace.
    watch.end(machine.files)
    try store?.close()
    for (path, bytes) in machine.files.contents.sorted(by: { $0.key < $1.key }) where !path.hasSuffix("LOCK") {
      watch.note("\(path) \(bytes.count) \(unsafe bytes.withUnsafeBytes { unsafe CRC32C.checksum($0) })")
    }
  }

  private mutating func leave() {
    watch.end(machine.files)
    releaseAll()
    try? store?.close()
    store = nil
    oracles.tally.add(machine.files)
  }

  private mutating func releaseAll() {
    for (snapshot, _, _) in snapshots { snapshot.close() }
    snapshots = []
  }

  private mutating func seed(_ step: Step) -> UInt64 { mix(program.seed, UInt64(step.id), 5) }

  // MARK: Steps

  private mutating func run(_ step: Step) throws {
    watch.note("\(step)")
    follow()
    switch step.operation {
    case .write(let changes, let durability, let beside): try write(changes, durability, beside)
    case .sync: try sync()
    case .background(let count): try background(count)
    case .checkpoint: try checkpoint()
    case .compact(let extent): try compact(extent)
    case .drop(let keyspace): try drop(keyspace)
    case .retain(let keyspace, let count): try retain(keyspace, count)
    case .snapshot: if let store, snapshots.count < 6 { snapshots.append((store.snapshot(), model.rows, keyspaces)) }
    case .release(let number):
      if !snapshots.isEmpty { snapshots.remove(at: number % snapshots.count).snapshot.close() }
    case .check: try compare()
    case .readBeside:
      // What a failed write left in a file is read too.
      if !isPoisoned { try unwatched { try $0.oracles.readBeside($0.machine.files, $0.model.rows, seed: 1) } }
    case .reopen: try reopen()
    case .kill: try move(to: machine.files.afterKill())
    case .crash:
      let (files, tally) = machine.files.crash(.random(seed: seed(step)))
      oracles.tally.add(tally)
      oracles.tally.crashStates += 1
      watch.note("\(tally)")
      try move(to: files)
    case .fail(let fault, let after): arm(fault, after: after, seed(step))
    case .space(let left): machine.files.capacity = left.map { machine.files.used + $0 }
    case .flip(let count):
      for number in 0..<count { try unwatched { try $0.flip(mix($0.seed(step), UInt64(number))) } }
    case .misdirect: try unwatched { try $0.misdirect($0.seed(step)) }
    }
    follow()
    try verifyCaptures()
  }

  private func follow(_ possible: Model.Rows? = nil) {
    var model = model
    if let possible { model.possible = possible }
    watch.follow(machine.files, model, floor: model.durable, store: store)
  }

  /// The calls that `body`, which only reads, makes are no part of the program. A mishap that was meant for the program
  /// and meets it makes it begin again.
  private mutating func unwatched(_ body: (inout Runner) throws -> Void) throws {
    let gate = machine.files.gate
    machine.files.gate = nil
    defer { machine.files.gate = gate }
    while true {
      let struck = machine.files.struck
      do {
        return try body(&self)
      } catch {
        guard machine.files.struck > struck else { throw error }
      }
    }
  }

  private mutating func verifyCaptures() throws {
    for (number, capture) in watch.takeCaptures().enumerated() {
      oracles.tally.add(capture.tally)
      try located("crash before \(capture.place)", .opening) {
        try oracles.verify(
          capture.files, capture.model, floor: capture.floor, seed: mix(program.seed, UInt64(number), 9))
      }
    }
  }

  /// Each row that the store and the snapshots show.
  private mutating func compare() throws {
    guard let store else { return }
    try store.read { try oracles.compare($0, keyspaces, model.rows) }
    for (snapshot, rows, keyspaces) in snapshots {
      try located("a snapshot of commit \(snapshot.sequence)", .snapshots) {
        try oracles.compare(snapshot, keyspaces, rows)
      }
    }
    try require(
      store.lastSequence == model.last, .results, "the last commit is \(store.lastSequence), not \(model.last)")
    observe(
      "\(number(of: model.last)): \(model.rows.map { $0.versions.sorted { $0.key < $1.key }.map { "\($0.key) \($0.value.map(\.version))" } })"
    )
  }

  /// Which of the program's commits it is, whatever epochs there were and whatever else was committed.
  private func number(of sequence: UInt64) -> Int {
    model.history.count { $0.sequence <= sequence } - Int(ownCommits)
  }

  private mutating func observe(_ line: String) {
    watch.note(line)
    observations.append(line)
  }

  // MARK: Writing

  /// An error is excused by a mishap that the disk has met, or by a disk that is nearly full.
  private mutating func excuse(_ error: StoreError) throws {
    observe("\(error.code)")
    let isExcused = machine.files.struck > 0 || machine.files.capacity != nil
    try require(isExcused && error.code != .conflict && error.code != .corrupted, .errors, "\(error)")
    if error.code == .poisoned { isPoisoned = true }
  }

  private mutating func write(_ changes: [Change], _ durability: Durability, _ beside: [Change]) throws {
    guard let store else { return }
    let before = store.lastSequence
    let conflicts = model.conflicts(changes)
    let next = conflicts == 0 ? model.after(changes) : nil
    if !isPoisoned { follow(next) }
    let second = besideWrite(beside, after: next, store)
    do throws(any Error) {
      let sequence = try put(changes, durability, model, store)
      watch.setBeside(0, nil)
      observe("commit behind \(number(of: sequence))")
      try require(!isPoisoned, .errors, "written after a failure that poisons")
      try require(conflicts == 0, .results, "a batch went through although it has \(conflicts) conflicts")
      if let next {
        try require(sequence > model.last, .results, "commit \(sequence) after \(model.last)")
        model.committed(next, sequence)
        oracles.tally.commits += 1
      } else {
        try require(sequence == before, .results, "a batch that changes nothing took sequence \(sequence)")
      }
      if durability == .durable && next != nil {
        model.madeDurable(upTo: sequence)
        try require(store.durableSequence >= sequence, .durability, "acknowledged and not durable")
      }
    } catch let error as StoreError {
      watch.setBeside(0, nil)
      if error.code == .conflict {
        observe("\(error.conflicts.count) conflicts")
        try require(conflicts > 0, .results, "\(error)")
        try require(error.conflicts.count == conflicts, .results, "\(error.conflicts.count) conflicts of \(conflicts)")
        try require(store.lastSequence == before, .results, "a conflict took a sequence")
      } else {
        let wasPoisoned = isPoisoned
        try excuse(error)
        let committed = second.withLock { $0.first } ?? store.lastSequence
        if let next, committed > before, !wasPoisoned {
          model.committed(next, committed)
        } else if let next, isPoisoned, !wasPoisoned {
          model.possible = next
        }
      }
    }
    let written = second.withLock { $0 }
    guard let rows = written.rows else { return }
    if let sequence = written.second {
      model.committed(rows, sequence)
    } else {
      // It may be in the log or not.
      model.possible = rows
      isPoisoned = true
    }
  }

  private func put(
    _ changes: [Change], _ durability: Durability, _ model: Model, _ store: Store
  ) throws -> UInt64 {
    try store.write(durability) { batch in
      for change in changes {
        let reference = oracles.keys.references[change.key]
        let keyspace = keyspaces[change.keyspace]
        let expectation = model.expectation(change)
        switch change.kind {
        case .put(let length, let fill):
          try batch.put(
            Keys.value(length: length, fill: fill), at: reference, in: keyspace, expecting: expectation)
        case .delete: try batch.delete(reference, in: keyspace, expecting: expectation)
        case .check: try batch.check(reference, in: keyspace, expectation)
        }
      }
    }
  }

  private struct Beside: Sendable {
    /// The commit beside whose sync it was written.
    var first: UInt64?
    /// What it leads to; nil if it has changed nothing.
    var rows: Model.Rows?
    /// nil if it has failed and may be found all the same.
    var second: UInt64?
  }

  /// Prepares the second batch, to be written when the first is in the log and its sync has begun.
  private func besideWrite(_ changes: [Change], after next: Model.Rows?, _ store: Store) -> Lock<Beside> {
    let result = Lock(Beside())
    guard let next, !changes.isEmpty, !isPoisoned else { return result }
    watch.setBeside(store.lastSequence) { [self] in
      var model = model
      model.committed(next, store.lastSequence)
      guard model.conflicts(changes) == 0, let rows = model.after(changes) else { return }
      model.possible = rows
      let floor = model.durable
      let first = model.last
      watch.follow(machine.files, model, floor: floor, store: store)
      do {
        let sequence = try put(changes, .buffered, model, store)
        result.withLock { $0 = Beside(first: first, rows: rows, second: sequence) }
        model.committed(rows, sequence)
        watch.follow(machine.files, model, floor: floor, store: store)
      } catch {
        let isPossible = (error as? StoreError)?.code == .poisoned
        result.withLock { $0 = Beside(first: first, rows: isPossible ? rows : nil, second: nil) }
      }
    }
    return result
  }

  private mutating func sync() throws {
    guard let store else { return }
    do throws(StoreError) {
      try store.sync()
    } catch {
      return try excuse(error)
    }
    model.madeDurable(upTo: model.last)
    try require(
      store.durableSequence >= store.lastSequence, .durability,
      "synced, and commit \(store.lastSequence) is not durable")
  }

  private mutating func drop(_ number: Int) throws {
    guard let store, store.keyspaces.contains(keyspaces[number]) else { return }
    let before = store.lastSequence
    let next = model.withoutRows(of: number)
    if !isPoisoned { follow(next) }
    do throws(StoreError) {
      let sequence = try store.drop(keyspaces[number])
      model.committed(next, sequence)
      model.madeDurable(upTo: sequence)
    } catch {
      let wasPoisoned = isPoisoned
      try excuse(error)
      if store.lastSequence > before, !wasPoisoned {
        model.committed(next, store.lastSequence)
      } else if isPoisoned, !wasPoisoned {
        model.possible = next
      }
    }
    keyspaces = try oracles.keyspaces(store)
  }

  private mutating func retain(_ number: Int, _ count: Int) throws {
    guard let store else { return }
    let before = store.lastSequence
    let next = model.rows[number].retention == count ? nil : model.retaining(count, in: number)
    if !isPoisoned { follow(next) }
    do throws(StoreError) {
      let sequence = try store.setRetention(.last(count), of: keyspaces[number])
      if let next { model.committed(next, sequence) }
      model.madeDurable(upTo: sequence)
    } catch {
      let wasPoisoned = isPoisoned
      try excuse(error)
      guard let next, !wasPoisoned else { return }
      if store.lastSequence > before {
        model.committed(next, store.lastSequence)
      } else if isPoisoned {
        model.possible = next
      }
    }
    try require(store.lastSequence == model.last || isPoisoned, .results, "another commit than the one for a retention")
  }

  private mutating func checkpoint() throws {
    do throws(StoreError) { try store?.checkpoint() } catch { try excuse(error) }
  }

  private mutating func compact(_ extent: CompactionExtent) throws {
    do throws(StoreError) { try store?.compact(extent) } catch { try excuse(error) }
  }

  /// Runs so many pieces of background work, each of which may commit a dictionary.
  private mutating func background(_ count: Int) throws {
    for _ in 0..<count {
      if !isPoisoned { follow(model.rows) }
      guard machine.scheduler.runOne() else { return }
      guard let store, !isPoisoned else { continue }
      if store.lastSequence > model.last {
        model.committed(model.rows, store.lastSequence)
        ownCommits += 1
        oracles.tally.dictionaries += 1
      } else if store.isPoisoned {
        isPoisoned = true
        model.possible = model.rows
      }
    }
  }

  // MARK: Opening

  /// Opens what is there; again, as long as mishaps get in the way.
  private mutating func open() throws {
    var attempts = 0
    while true {
      attempts += 1
      let struck = machine.files.struck
      do throws(StoreError) {
        store = try machine.open(program.options)
        break
      } catch {
        observe("\(error.code)")
        if machine.files.struck == struck, machine.files.capacity == nil || error.code != .noSpace || attempts > 9 {
          throw Failure(.opening, "\(error)")
        }
        if attempts > 8 { machine.files.capacity = nil }
      }
    }
    isPoisoned = false
    oracles.tally.recoveries += 1
    guard let store else { return }
    keyspaces = try oracles.keyspaces(store)
  }

  private mutating func reopen() throws {
    releaseAll()
    try store?.close()
    store = nil
    follow()
    machine.scheduler.drain()
    machine = SimulatedMachine(machine.files, seed: mix(program.seed, 2, nextMachine()))
    let mustRemain = model.last
    try open()
    try recovered(atLeast: mustRemain)
  }

  private mutating func nextMachine() -> UInt64 {
    machines += 1
    return machines
  }

  /// The next process, or the next machine, has the disk now.
  private mutating func move(to files: MemoryFileLayer) throws {
    try verifyCaptures()
    releaseAll()
    watch.end(machine.files)
    try store?.close()
    store = nil
    oracles.tally.add(machine.files)
    machine = SimulatedMachine(files, seed: mix(program.seed, 2, nextMachine()))
    follow()
    try open()
    try recovered(atLeast: model.durable)
  }

  private mutating func recovered(atLeast floor: UInt64) throws {
    guard let store else { return }
    let sequence = store.lastSequence
    observe("recovered \(number(of: sequence))")
    try require(sequence >= floor, .durability, "recovered commit \(sequence), and \(floor) may not be lost")
    try require(
      model.recovered(at: sequence), .prefix, "recovered commit \(sequence), which is no state there was")
    try unwatched { runner in
      try store.read { try runner.oracles.compare($0, runner.keyspaces, runner.model.rows) }
      try runner.oracles.compareWithLog(store, runner.machine.files, runner.model.rows)
    }
  }

  // MARK: Mishaps

  private func arm(_ fault: Fault, after count: Int, _ seed: UInt64) {
    let broken = FileError.Cause.system(5)
    func strike(_ operations: [MemoryFileLayer.Operation], _ mishap: MemoryFileLayer.Mishap) {
      let operation = operations[Int(seed % UInt64(operations.count))]
      machine.files.strikeNext(operation, after: count, mishap, label: fault.rawValue)
    }
    switch fault {
    case .open: strike([.open, .create], .fails(broken))
    case .read: strike([.read, .size, .map, .list], .fails(broken))
    case .write: strike([.write, .write, .truncate], .fails(broken))
    case .shortWrite: strike([.write], .writesPart(Int(seed >> 32 & 255), broken))
    case .sync: strike([.sync], .fails(broken))
    case .directorySync: strike([.syncDirectory], .fails(broken))
    case .name: strike([.rename, .remove], .fails(broken))
    case .noSpace: strike([.reserve, .create, .reserve, .write], .fails(.noSpace))
    case .falseSync, .bitFlip, .misdirectedWrite: break
    }
  }
}
