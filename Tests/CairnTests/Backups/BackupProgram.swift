import CairnSimulation

@testable import Cairn

/// A random program that writes to a store, compacts it, takes it back, crashes, and makes backups into one directory.
/// Every backup has the state of the store at its commit.
struct BackupProgram {
  private(set) var step = 0
  private(set) var backups = 0
  private(set) var stoppedBackups = 0
  private(set) var restored = 0
  private var random: SplitMix64
  private var machine: Machine
  private var store: Store
  /// The state after each commit that was ever made. No sequence is used twice.
  private var states: [CommitSequence: StoreState] = [:]
  /// The commits that are part of the log, in order.
  private var line: [CommitSequence] = [0]
  /// The same, when the newest backup was made; nil if there is none.
  private var backedUp: [CommitSequence]?
  private let options: StoreOptions

  private static let names = ["first", "second", "heap"]

  init(seed: UInt64) throws {
    random = SplitMix64(seed: seed)
    machine = Machine(seed: random.next())
    var options = Machine.options
    options.compacts = Bool.random(using: &random)
    options.writesCheckpoints = Bool.random(using: &random)
    self.options = options
    store = try machine.open(options)
    states[0] = try StoreState(store)
  }

  mutating func run(steps: Int) throws {
    for _ in 0..<steps {
      step += 1
      switch Int.random(in: 0..<100, using: &random) {
      case 0..<55: try write()
      case 55..<60: try changeKeyspace()
      case 60..<68:
        machine.runBackground()
        // A dictionary is adopted by a commit of its own.
        try note(store.lastSequence)
      case 68..<73: try store.compact(Bool.random(using: &random) ? .everything : .worthwhile)
      case 73..<75: try store.checkpoint()
      case 75..<85: try backUp(store)
      case 85..<87: try backUpFromAReader()
      case 87..<90: try stopBackup()
      case 90..<93: try restore()
      case 93..<95: try takeBack()
      case 95..<98: try reopen()
      default: try crash(machine.crash(using: &random))
      }
    }
    try store.close()
  }

  private func require(_ condition: Bool, _ what: @autoclosure () -> String) throws {
    guard condition else { throw Mismatch(what()) }
  }

  // MARK: Changes

  private mutating func keyspace() throws -> Keyspace {
    let name = Self.names[Int.random(in: 0..<Self.names.count, using: &random)]
    return try store.keyspace(name, order: name == "heap" ? .unordered : .ordered)
  }

  private mutating func write() throws {
    let keyspace = try keyspace()
    let rows = (0..<Int.random(in: 1...8, using: &random)).map { _ in Int64.random(in: 0..<40, using: &random) }
    let lengths = rows.map { _ in [0, 40, 900, 4000][Int.random(in: 0..<4, using: &random)] }
    let seed = random.next()
    let deletes = Int.random(in: 0..<4, using: &random) == 0
    try note(
      try store.write(durability: Bool.random(using: &random) ? .durable : .buffered) { batch in
        for (row, length) in zip(Set(rows).sorted(), lengths) {
          if deletes {
            try batch.delete(.integer(row), in: keyspace)
          } else {
            try batch.put(.noise(length, seed: seed &+ UInt64(row)), at: .integer(row), in: keyspace)
          }
        }
      })
  }

  private mutating func changeKeyspace() throws {
    let keyspace = try keyspace()
    guard store.keyspaces.contains(where: { $0.name == keyspace.name }) else { return }
    if Int.random(in: 0..<4, using: &random) == 0 {
      try note(store.drop(keyspace))
    } else {
      try note(store.setRetention(.last(Int.random(in: 1...3, using: &random)), of: keyspace))
    }
  }

  private mutating func note(_ sequence: CommitSequence) throws {
    states[sequence] = try StoreState(store)
    if line.last != sequence { line.append(sequence) }
  }

  // MARK: Backups

  private mutating func backUp(_ source: Store) throws {
    let links = Bool.random(using: &random)
    let last = source.lastSequence
    let report = try source.backup(to: Machine.backup, linksFiles: links)
    try require(report.lastSequence == last, "the backup has commit \(report.lastSequence) instead of \(last)")
    backups += 1
    backedUp = line.filter { $0 <= last }
    try checkBackup([last])
  }

  private mutating func backUpFromAReader() throws {
    let reader = try machine.reader(at: Machine.path)
    defer { try? reader.close() }
    if Bool.random(using: &random) { try store.compact(.everything) }
    try backUp(reader)
  }

  /// The backup has one of these commits, and the state of that.
  @discardableResult
  private func checkBackup(_ commits: [CommitSequence]) throws -> CommitSequence {
    let backup = try machine.reader(at: Machine.backup)
    defer { try? backup.close() }
    let last = backup.lastSequence
    try require(commits.contains(last), "the backup has commit \(last) instead of one of \(commits)")
    try require(try StoreState(backup) == states[last], "the backup of commit \(last) has another state")
    return last
  }

  /// Makes a backup, and continues on a disk as it was at one of its calls.
  private mutating func stopBackup() throws {
    let left = Lock(Int.random(in: 0..<60, using: &random))
    let found = Lock<MemoryFileLayer?>(nil)
    let (files, seed) = (machine.files, random.next())
    files.gate = { _, _ in
      let isNow = left.withLock { left in
        left -= 1
        return left == 0
      }
      guard isNow else { return }
      var random = SplitMix64(seed: seed)
      let disk = files.crash(using: &random)
      found.withLock { $0 = disk }
    }
    let (old, commit) = (backedUp?.last, store.lastSequence)
    try store.backup(to: Machine.backup, linksFiles: Bool.random(using: &random))
    files.gate = nil
    guard let disk = found.withLock({ $0 }) else {
      backedUp = line
      return
    }
    stoppedBackups += 1
    let line = line
    try crash(Machine(disk, seed: random.next()))
    if let old {
      if try checkBackup([old, commit]) == commit { backedUp = line }
    } else if machine.contents["\(Machine.backup)/MANIFEST"] != nil {
      try checkBackup([commit])
      backedUp = line
    }
  }

  private mutating func restore() throws {
    guard let commits = backedUp else { return }
    restored += 1
    let path = "/restored \(restored)"
    let commit = commits[Int.random(in: max(0, commits.count - 10)..<commits.count, using: &random)]
    do throws(StoreError) {
      try machine.restore(to: path, at: commit)
    } catch {
      // Compaction has looked at a later commit.
      try require(error.code == .commitNotFound && commit < commits.last ?? 0 || commit == 0, "\(error)")
      return
    }
    let copy = try machine.openOther(at: path)
    try require(try StoreState(copy) == states[commit], "the restored store of commit \(commit) has another state")
    try require(copy.identity != store.identity, "the restored store has the identity of the original")
    try copy.put([1], at: 1, in: copy.keyspace("new"))
    try copy.close()
    for name in try machine.names(at: path) { try machine.files.remove("\(path)/\(name)") }
  }

  // MARK: Openings

  private mutating func opened() throws {
    let last = store.lastSequence
    line = line.filter { $0 <= last }
    try require(line.last == last, "the store has commit \(last), which was never made")
    try require(try StoreState(store) == states[last], "the store has another state")
  }

  private mutating func reopen() throws {
    try store.close()
    store = try machine.open(options)
    try opened()
  }

  private mutating func crash(_ next: Machine) throws {
    try store.close()
    machine = next
    store = try machine.open(options)
    try opened()
  }

  private mutating func takeBack() throws {
    let commit = line[Int.random(in: max(0, line.count - 6)..<line.count, using: &random)]
    try store.close()
    var options = options
    options.upTo = commit
    do {
      store = try machine.open(options)
    } catch let error as StoreError {
      try require(error.code == .commitNotFound, "\(error)")
      return try reopen()
    }
    try opened()
    if Bool.random(using: &random) { try store.beginWriting() } else { try backUp(store) }
    try reopen()
  }
}
