import Cairn

/// Runs one program on a simulated machine, compares what it sees with the model, and verifies the disks that a crash
/// may have left.
package struct Runner {
  /// The outcome of a program.
  package struct Result: Sendable {
    package var failure: Failure?
    package var tally: Tally
    /// A hash of the trace. The same program gives the same digest each time, down to the last call and byte.
    package var digest: UInt64
    /// Every call and result; empty unless `keepsTrace` was set.
    package var trace: [String]
    /// What a user of the store has observed. Does not depend on the store's options.
    package var observations: [String]
  }

  let program: Program
  var oracles: Oracles
  let watch: Watch
  var machine: SimulatedMachine
  var model = Model()
  var store: Store?
  var keyspaces: [Keyspace?] = []
  let meantime: Meantime
  /// The machine's files record that the log was durable up to this commit, even if a segment is damaged.
  var recorded: CommitSequence = 0
  /// Every file as it was when the files were copied.
  var copies: [String: [UInt8]] = [:]
  private var observations: [String] = []
  var isPoisoned = false
  /// Whether the disk may run out of space in the middle of an operation.
  var mayLackSpace = false
  /// The number of commits that the store has made by itself, for dictionaries.
  var ownCommits: UInt64 = 0
  /// The number of machines made after the first; their seeds depend on it.
  var machines: UInt64 = 0

  /// - Parameter deaf: Kinds of syncs that report success and do nothing; tests check that the oracles notice it.
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

  /// How many of the disks that a crash may leave are verified.
  package enum Sampling: Sendable, Hashable {
    /// Only the crashes that are steps of the program.
    case none
    /// One of several calls, one outcome of each.
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
    meantime = Meantime(oracles, watch)
    watch.tell { [meantime] operation, path in meantime.called(operation, path) }
  }

  private mutating func run() throws {
    watch.begin(step: 0)
    try located("the first opening", .opening) { _ = try open() }
    for step in program.steps {
      watch.begin(step: step.id)
      try located("step \(step.id)", .errors) { try run(step) }
      oracles.tally.steps += 1
    }
    watch.begin(step: 0)
    try located("the end", .errors) {
      try compare()
      releaseAll()
      // An unfinished checkpoint keeps versions, as a snapshot does.
      try background(.max)
      if let store, !isPoisoned, model.left == nil {
        let older = model.rows.reduce(0) { $0 + $1.olderCount }
        try require(
          store.statistics.olderVersions == older, .snapshots, "versions are kept although nothing needs them")
        try require(store.statistics.pinnedBytes == 0, .space, "bytes are kept although nothing needs them")
        try unwatched { try $0.oracles.compareWithLog(store, $0.machine.files, $0.model.rows) }
      }
      try reopen()
    }
    // The files that the store leaves when it is closed are part of the trace.
    watch.end(machine.files)
    if let store { machine.close(store) }
    for (path, bytes) in machine.files.contents.sorted(by: { $0.key < $1.key }) where !path.hasSuffix("LOCK") {
      watch.note("\(path) \(bytes.count) \(unsafe bytes.withUnsafeBytes { unsafe CRC32C.checksum($0) })")
    }
  }

  private mutating func leave() {
    watch.end(machine.files)
    watch.tell(nil)
    releaseAll()
    if let store { machine.close(store) }
    store = nil
    oracles.tally.add(machine.files)
  }

  mutating func releaseAll() {
    meantime.clear()
    let counts = meantime.takeCounts()
    oracles.tally.deeds += counts.done
    oracles.tally.endedAmid += counts.ended
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
    case .snapshot:
      if let store {
        meantime.hold(Meantime.Held(snapshot: store.snapshot(), rows: model.rows, keyspaces: keyspaces))
      }
    case .release(let number): meantime.release(number)
    case .amid(let deed, let count): meantime.arm(deed, after: count)
    case .check: try compare()
    case .readBeside:
      // A reader would also read what a failed write left in a file, and the commits after the one that the store has
      // gone back to.
      if !isPoisoned, model.left == nil {
        try unwatched { try $0.oracles.readBeside($0.machine.files, $0.model.rows, seed: 1) }
      }
    case .lookBack(let number):
      if !isPoisoned {
        try unwatched { runner in
          let sequence = runner.model.commit(number)
          try runner.oracles.lookBack(runner.machine.files, runner.model, to: sequence, seed: runner.seed(step))
        }
      }
    case .goBack(let number): try goBack(number)
    case .close: try close()
    case .reopen: try reopen()
    case .kill: try move(to: machine.files.afterKill(), atLeast: model.floor)
    case .crash:
      let (files, tally) = machine.files.crash(.random(seed: seed(step)))
      oracles.tally.add(tally)
      oracles.tally.crashStates += 1
      watch.note("\(tally)")
      recorded = 0
      try move(to: files, atLeast: model.floor)
    case .fail(let fault, let after): arm(fault, after: after, seed(step))
    case .space(let left):
      mayLackSpace = true
      machine.files.capacity = left.map { machine.files.used + $0 }
    case .flip(let count):
      for number in 0..<count { try unwatched { try $0.flip(mix($0.seed(step), UInt64(number))) } }
    case .misdirect: try unwatched { try $0.misdirect($0.seed(step)) }
    case .copyFiles: copies = machine.files.contents
    case .spoil(let spoiling): try unwatched { try $0.spoil(spoiling, $0.seed(step)) }
    }
    follow()
    try verifyCaptures()
  }

  func follow(_ possible: Model.Rows? = nil) {
    var model = model
    if let possible { model.possible = possible }
    watch.follow(machine.files, model, floor: model.floor, store: store)
  }

  /// Runs `body`, which only reads, and does not count its calls as part of the program. If a fault that was armed for
  /// the program strikes during `body`, runs `body` again.
  mutating func unwatched(_ body: (inout Runner) throws -> Void) throws {
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

  /// Records that commits are durable. `recorded` does not rise after a fault or while space is limited: the store then
  /// need not record durability outside of the log.
  mutating func madeDurable(upTo sequence: CommitSequence) {
    model.madeDurable(upTo: sequence)
    if machine.files.struck == 0, machine.files.capacity == nil { recorded = max(recorded, sequence) }
  }

  mutating func verifyCaptures() throws {
    for (number, capture) in watch.takeCaptures().enumerated() {
      oracles.tally.add(capture.tally)
      try located("crash before \(capture.place)", .opening) {
        try oracles.verify(
          capture.files, capture.model, floor: capture.floor, seed: mix(program.seed, UInt64(number), 9))
      }
    }
  }

  /// Compares each row that the store and the snapshots show.
  private mutating func compare() throws {
    guard let store else { return }
    try store.read { try oracles.compare($0, keyspaces, model.rows) }
    try compareSnapshots()
    try require(
      store.lastSequence == model.last, .results, "the last commit is \(store.lastSequence), not \(model.last)")
    observe(
      "\(number(of: model.last)): \(model.rows.map { $0.versions.sorted { $0.key < $1.key }.map { "\($0.key) \($0.value.map(\.version))" } })"
    )
  }

  mutating func compareSnapshots() throws {
    for held in meantime.held {
      try located("a snapshot of commit \(held.snapshot.sequence)", .snapshots) {
        try oracles.compare(held.snapshot, held.keyspaces, held.rows)
      }
    }
  }

  /// The number of a commit among the program's own commits. It does not depend on epochs, or on commits that the store
  /// has made by itself.
  func number(of sequence: CommitSequence) -> Int {
    model.history.count { $0.sequence <= sequence } - Int(ownCommits)
  }

  mutating func observe(_ line: String) {
    watch.note(line)
    observations.append(line)
  }

  // MARK: Writing

  /// Accepts an error if an armed fault has struck the disk or the disk's space is limited. Fails for other errors, and
  /// always for `.conflict` and `.corrupted`.
  mutating func excuse(_ error: StoreError) throws {
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
    for change in changes + beside { try ask(change.keyspace, store) }
    model.mayWrite()
    if !isPoisoned { follow(next) }
    let second = besideWrite(beside, after: next, store)
    do throws(any Error) {
      let sequence = try meantime.during(.exclusive) {
        try oracles.put(changes, durability, model, store, keyspaces)
      }
      watch.setBeside(0, nil)
      observe("commit after \(number(of: sequence))")
      try require(!isPoisoned, .errors, "a write succeeded after a failure that poisons the store")
      try require(conflicts == 0, .results, "a batch succeeded although it has \(conflicts) conflicts")
      if let next {
        try require(sequence > model.last, .results, "commit \(sequence) after \(model.last)")
        model.committed(next, sequence)
        oracles.tally.commits += 1
      } else {
        try require(sequence == before, .results, "a batch that changes nothing took sequence \(sequence)")
      }
      if durability == .durable && next != nil {
        madeDurable(upTo: sequence)
        try require(store.durableSequence >= sequence, .durability, "acknowledged, but not durable")
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
      // The second batch may be in the log or not.
      model.possible = rows
      isPoisoned = true
    }
  }

  private mutating func ask(_ number: Int, _ store: Store) throws {
    if keyspaces[number] == nil { keyspaces[number] = try oracles.keyspace(number, store) }
  }

  private struct Beside: Sendable {
    /// The commit during whose sync the second batch was written.
    var first: CommitSequence?
    /// The rows after the second batch; nil if it has changed nothing.
    var rows: Model.Rows?
    /// The commit of the second batch; nil if the batch has failed, in which case recovery may still find it.
    var second: CommitSequence?
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
      let floor = model.floor
      let first = model.last
      watch.follow(machine.files, model, floor: floor, store: store)
      do {
        let sequence = try oracles.put(changes, .buffered, model, store, keyspaces)
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
    model.mayWrite()
    do throws(StoreError) {
      try meantime.during(.exclusive) { () throws(StoreError) in try store.sync() }
    } catch {
      return try excuse(error)
    }
    madeDurable(upTo: model.last)
    try require(
      store.durableSequence >= store.lastSequence, .durability,
      "synced, but commit \(store.lastSequence) is not durable")
  }

  private mutating func drop(_ number: Int) throws {
    guard let store, let keyspace = keyspaces[number], store.keyspaces.contains(keyspace) else { return }
    let before = store.lastSequence
    let next = model.withoutRows(of: number)
    model.mayWrite()
    if !isPoisoned { follow(next) }
    do throws(StoreError) {
      let sequence = try meantime.during(.exclusive) { () throws(StoreError) in try store.drop(keyspace) }
      model.committed(next, sequence)
      madeDurable(upTo: sequence)
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
    try ask(number, store)
    guard let keyspace = keyspaces[number] else { return }
    let before = store.lastSequence
    let next = model.rows[number].retention == count ? nil : model.retaining(count, in: number)
    model.mayWrite()
    if !isPoisoned { follow(next) }
    do throws(StoreError) {
      let sequence = try meantime.during(.exclusive) { () throws(StoreError) in
        try store.setRetention(.last(count), of: keyspace)
      }
      if let next { model.committed(next, sequence) }
      madeDurable(upTo: sequence)
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
    try require(store.lastSequence == model.last || isPoisoned, .results, "the last commit is not its own")
  }

  // MARK: Mishaps

  private mutating func arm(_ fault: Fault, after count: Int, _ seed: UInt64) {
    if fault == .noSpace { mayLackSpace = true }
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
    case .falseSync, .bitFlip, .misdirectedWrite, .cutFile, .zeroedFile, .removedFile, .olderFile: break
    }
  }
}
