import Cairn

/// Opening, closing, and what becomes of the store when the process ends or the power fails.
extension Runner {
  /// Opens the store, and tries again if an armed fault or a full disk has prevented it. False if the store has refused
  /// to open up to a commit.
  @discardableResult
  mutating func open(upTo last: CommitSequence? = nil) throws -> Bool {
    var attempts = 0
    while true {
      attempts += 1
      let struck = machine.files.struck
      do throws(StoreError) {
        store = try machine.open(program.options, upTo: last)
        break
      } catch {
        observe("\(error.code)")
        if error.code == .commitNotFound, let last, machine.files.struck == struck {
          try oracles.checkRefusal(error, machine.files, last)
          return false
        }
        if machine.files.struck == struck, machine.files.capacity == nil || error.code != .noSpace || attempts > 9 {
          throw Failure(.opening, "\(error)")
        }
        if attempts > 8 { machine.files.capacity = nil }
      }
    }
    isPoisoned = false
    oracles.tally.recoveries += 1
    guard let store else { return true }
    keyspaces = try oracles.keyspaces(store)
    return true
  }

  /// Closes the store, and requires that reading continues to work and that a write is refused.
  mutating func close() throws {
    guard let store else { return }
    oracles.tally.closings += 1
    follow()
    try end(store)
    try located("closed", .results) {
      try store.read { try oracles.compare($0, keyspaces, model.rows) }
      try compareSnapshots()
      var code: StoreError.Code?
      do throws(StoreError) {
        if let keyspace = keyspaces[0] { try store.put([1], at: oracles.keys.all[0], in: keyspace) }
      } catch {
        code = error.code
      }
      try require(code == .closed, .results, "a write was answered with \(code.map { "\($0)" } ?? "success")")
    }
    releaseAll()
    self.store = nil
    follow()
    machine.scheduler.drain()
  }

  private mutating func end(_ store: Store) throws {
    // If nothing has been written since recovery, closing makes nothing more durable than it was.
    let hasWritten = store.statistics.appendedBytes > 0
    let isSound = meantime.during(.exclusive) { machine.close(store) }
    let isExcused = isPoisoned || machine.files.struck > 0 || machine.files.capacity != nil
    try require(isSound || isExcused, .errors, "closing failed without a fault")
    if isSound, hasWritten, Promise.closingMakesDurable, !isPoisoned { madeDurable(upTo: model.last) }
  }

  mutating func reopen() throws {
    releaseAll()
    if let store { try end(store) }
    store = nil
    follow()
    machine.scheduler.drain()
    machine = SimulatedMachine(machine.files, seed: mix(program.seed, 2, nextMachine()))
    let mustRemain = model.newest
    try open()
    try recovered(atLeast: mustRemain)
  }

  /// Opens the store up to an earlier commit. The commits after that one remain until something is written.
  mutating func goBack(_ number: Int) throws {
    // After this, it is known which commits there are.
    try reopen()
    guard let store, model.left == nil else { return }
    machine.close(store)
    self.store = nil
    machine.scheduler.drain()
    machine = SimulatedMachine(machine.files, seed: mix(program.seed, 2, nextMachine()))
    let sequence = model.commit(number)
    guard try open(upTo: sequence) else {
      try open()
      return try recovered(atLeast: model.newest)
    }
    oracles.tally.wentBack += 1
    copies = [:]
    guard let store = self.store else { return }
    try require(
      store.lastSequence == sequence, .lookingBack,
      "opened up to commit \(sequence), but the store ends with \(store.lastSequence)")
    observe("gone back")
    model.wentBack(to: sequence)
    recorded = min(recorded, sequence)
    try unwatched { runner in
      try store.read { try runner.oracles.compare($0, runner.keyspaces, runner.model.rows) }
    }
  }

  private mutating func nextMachine() -> UInt64 {
    machines += 1
    return machines
  }

  /// Lets the next process, or the next machine, open the disk.
  mutating func move(to files: MemoryFileLayer, atLeast floor: CommitSequence) throws {
    try verifyCaptures()
    releaseAll()
    watch.end(machine.files)
    if let store { machine.close(store) }
    store = nil
    oracles.tally.add(machine.files)
    machine = SimulatedMachine(files, seed: mix(program.seed, 2, nextMachine()))
    follow()
    try open()
    try recovered(atLeast: floor)
  }

  private mutating func recovered(atLeast floor: CommitSequence) throws {
    guard let store else { return }
    let sequence = store.lastSequence
    observe("recovered \(number(of: sequence))")
    // The copied files would bring back commits that have been lost.
    if sequence != model.newest || model.possible != nil { copies = [:] }
    try require(sequence >= floor, .durability, "recovered commit \(sequence), but \(floor) must not be lost")
    try require(
      model.recovered(at: sequence), .prefix, "recovered commit \(sequence), which matches no earlier state")
    try unwatched { runner in
      try store.read { try runner.oracles.compare($0, runner.keyspaces, runner.model.rows) }
      try runner.oracles.compareWithLog(store, runner.machine.files, runner.model.rows)
    }
  }
}
