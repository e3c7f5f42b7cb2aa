import Cairn
import CairnSimulation
import Synchronization

/// One thread, which calls all methods of a store at random.
struct Caller {
  private let stage: Stage
  private var random: SplitMix64
  private(set) var own: OwnRows
  private var snapshots: [HeldSnapshot] = []
  private var counter = 0
  private var newest: CommitSequence = 0

  init(_ number: Int, _ seed: UInt64, _ stage: Stage) {
    own = OwnRows(number)
    self.stage = stage
    random = SplitMix64(seed: seed &+ UInt64(number) &* 0x9E37_79B9)
  }

  mutating func call() throws {
    let session = stage.session
    switch Int.random(in: 0..<1000, using: &random) {
    case 0..<300: try write(session)
    case 300..<420: try transfer(session)
    case 420..<520: try readOwn(session)
    case 520..<560: try takeSnapshot(session)
    case 560..<620: try askSnapshot()
    case 620..<660: try endSnapshot()
    case 660..<700: try share(session)
    case 700..<760: try askShared()
    case 760..<790: endShared()
    case 790..<860: try useTemporary(session)
    case 860..<875: try retain(session)
    case 875..<900: try look(session)
    case 900..<910: _ = try attempt(session, "checkpoint") { try session.store.checkpoint() }
    case 910..<925: try compact(session)
    case 925..<935: session.store.pauseCompaction()
    case 935..<950: session.store.resumeCompaction()
    case 950..<970: try sync(session)
    case 970..<977: try openAgain()
    case 977..<980: try backUp(session)
    case 980..<985: try stage.openDifferently()
    case 985..<993: try useOther(session)
    default: try stage.reopen()
    }
  }

  mutating func finish() throws {
    while !snapshots.isEmpty { try endSnapshot() }
    try own.check(stage.session)
  }

  /// Returns false if the call threw an error that is allowed at this moment.
  private func attempt(
    _ session: Session, _ call: String, allowing codes: Set<StoreError.Code> = [], _ body: () throws -> Void
  ) throws -> Bool {
    do {
      try body()
      return true
    } catch let error as StoreError {
      let isExpected =
        codes.contains(error.code)
        || error.code == .closed && session.isClosing.load(ordering: .sequentiallyConsistent)
      guard isExpected else { throw Mismatch("\(call) threw \(error)") }
      return false
    }
  }

  private mutating func chance(_ one: Int) -> Bool { Int.random(in: 0..<one, using: &random) == 0 }

  // MARK: Rows of its own

  private mutating func newValue() -> [UInt8] {
    counter += 1
    let length = chance(6) ? Int.random(in: 1000...5000, using: &random) : Int.random(in: 0...200, using: &random)
    let filling: [UInt8] = chance(2) ? .noise(length, seed: UInt64(counter)) : Array(repeating: 7, count: length)
    return Array("\(own.thread) \(counter) ".utf8) + filling
  }

  private mutating func anyName() -> OwnRows.Name {
    OwnRows.Name(
      keyspace: Int.random(in: 0..<Stage.orders.count, using: &random),
      key: Int.random(in: 0..<OwnRows.keys, using: &random))
  }

  private enum Way { case batch, async, alone }

  private mutating func write(_ session: Session) throws {
    let durability: Durability = chance(4) ? .durable : .buffered
    let way: Way = [.batch, .batch, .async, .alone].randomElement(using: &random) ?? .batch
    var changes: [(name: OwnRows.Name, value: [UInt8]?, expectation: Cairn.Expectation)] = []
    var after = own
    var changed: Set<OwnRows.Name> = []
    for _ in 0..<(way == .alone ? 1 : Int.random(in: 1...6, using: &random)) {
      let name = anyName()
      let present = own[name]
      let isWrong = chance(20)
      let expectation: Cairn.Expectation =
        if isWrong {
          present == nil ? .present : .sequence(1)
        } else if chance(2) {
          .anything
        } else {
          present.map { .sequence($0.sequence) } ?? .absent
        }
      changes.append((name, chance(3) ? nil : newValue(), expectation))
    }
    let isRefused = changes.contains { change in
      switch change.expectation {
      case .anything: false
      case .absent: own[change.name] != nil
      case .present: own[change.name] == nil
      case .sequence(let sequence): own[change.name]?.sequence != sequence
      }
    }
    for change in changes {
      after[change.name] = change.value.map { value in
        OwnRows.Known(value: value, version: (own[change.name]?.version ?? 0) + 1, sequence: 0)
      }
      changed.insert(change.name)
    }
    let isWritten = changed.contains { after[$0] != nil || own[$0] != nil }

    var sequence: CommitSequence = 0
    let (fixed, keyspaces) = (changes, session.own)
    let keys = fixed.map { own.key($0.name.key) }
    @Sendable func fill(_ batch: inout Batch) throws {
      for (change, key) in zip(fixed, keys) {
        let keyspace = keyspaces[change.name.keyspace]
        if let value = change.value {
          try batch.put(value, at: key, in: keyspace, expecting: change.expectation)
        } else {
          try batch.delete(key, in: keyspace, expecting: change.expectation)
        }
      }
    }
    let store = session.store
    let isDone = try attempt(session, "write", allowing: isRefused ? [.conflict] : []) {
      switch way {
      case .batch: sequence = try store.write(durability: durability, fill)
      case .async: sequence = try wait { try await store.submit(durability: durability) { try fill(&$0) } }
      case .alone:
        let change = fixed[0]
        let keyspace = keyspaces[change.name.keyspace]
        sequence =
          if let value = change.value {
            try store.put(value, at: keys[0], in: keyspace, expecting: change.expectation, durability)
          } else {
            try store.delete(keys[0], in: keyspace, expecting: change.expectation, durability)
          }
      }
    }
    try Mismatch.unless(!isDone || !isRefused, "a batch was not refused: \(fixed)")
    if isDone {
      for name in changed { after[name]?.sequence = sequence }
      own = after
      if isWritten { try acknowledged(sequence, session) }
      if durability == .durable {
        try Mismatch.unless(store.durableSequence >= sequence, "\(sequence) is not durable")
      } else if chance(4) {
        _ = try attempt(session, "waitUntilDurable") {
          try wait { [sequence] in try await store.waitUntilDurable(sequence) }
          try Mismatch.unless(store.durableSequence >= sequence, "\(sequence) is not durable after waiting")
        }
      }
    }
    for name in changed { try own.check(name, session) }
  }

  private mutating func acknowledged(_ sequence: CommitSequence, _ session: Session) throws {
    try Mismatch.unless(sequence > newest, "sequence \(sequence) after \(newest)")
    newest = sequence
    try Mismatch.unless(session.store.lastSequence >= sequence, "the last sequence is below \(sequence)")
  }

  private mutating func readOwn(_ session: Session) throws {
    try own.checkInEveryWay(anyName(), session)
    try session.store.read { snapshot in
      try own.check(snapshot, session)
      try Bank.audit(snapshot.rows(in: session.bank))
    }
  }

  // MARK: Backups

  private mutating func backUp(_ session: Session) throws {
    let (last, path, links) = (session.store.lastSequence, stage.world.backupPath, chance(2))
    let isDone = try attempt(session, "backup", allowing: [.locked]) {
      let report = try session.store.backup(to: path, linksFiles: links)
      try Mismatch.unless(report.lastSequence >= last, "a backup of commit \(last) ends with \(report.lastSequence)")
    }
    guard isDone else { return }
    var options = Machine.options
    options.access = .readOnly
    let backup = try stage.world.open(path, options)
    try Mismatch.unless(backup.lastSequence >= last, "a backup of commit \(last) has \(backup.lastSequence)")
    try backup.read { try Bank.audit($0.rows(in: backup.keyspace("bank"))) }
    try backup.close()
  }

  // MARK: Rows of all

  private mutating func transfer(_ session: Session) throws {
    guard let from = Bank.accounts.randomElement(using: &random),
      let to = Bank.accounts.randomElement(using: &random), from != to,
      let source = try session.store.row(from, in: session.bank),
      let target = try session.store.row(to, in: session.bank)
    else { return }
    let amount = min(Int.random(in: 1...300, using: &random), Bank.balance(source.value))
    var sequence: CommitSequence = 0
    let isDone = try attempt(session, "transfer", allowing: [.conflict]) {
      sequence = try session.store.write(durability: .buffered) { batch in
        try batch.put(
          Bank.bytes(Bank.balance(source.value) - amount), at: from, in: session.bank,
          expecting: .sequence(source.sequence))
        try batch.put(
          Bank.bytes(Bank.balance(target.value) + amount), at: to, in: session.bank,
          expecting: .sequence(target.sequence))
      }
    }
    if isDone { try acknowledged(sequence, session) }
  }

  // MARK: Snapshots

  private mutating func takeSnapshot(_ session: Session) throws {
    guard snapshots.count < 4 else { return }
    snapshots.append(try HeldSnapshot(session, own))
  }

  private mutating func askSnapshot() throws { try snapshots.randomElement(using: &random)?.check() }

  private mutating func endSnapshot() throws {
    guard let position = snapshots.indices.randomElement(using: &random) else { return }
    let held = snapshots.remove(at: position)
    if chance(2) { try held.end() }
  }

  private mutating func share(_ session: Session) throws {
    guard stage.shared.withLock({ $0.count }) < 6, let temporary = try temporary(session) else { return }
    let snapshot = try SharedSnapshot(session, temporary: temporary)
    stage.shared.withLock { $0.append(snapshot) }
  }

  private mutating func askShared() throws {
    guard let shared = stage.shared.withLock({ $0 }).randomElement(using: &random) else { return }
    try shared.check(ending: chance(4))
  }

  private mutating func endShared() {
    let one = random.next()
    let ended: SharedSnapshot? = stage.shared.withLock { shared in
      shared.isEmpty ? nil : shared.remove(at: Int(truncatingIfNeeded: one % UInt64(shared.count)))
    }
    ended?.end()
  }

  // MARK: Keyspaces that come and go

  /// Returns nil if another thread has made the keyspace with the other order.
  private mutating func temporary(_ session: Session) throws -> Keyspace? {
    let name = "temporary \(Int.random(in: 0..<3, using: &random))"
    let order: Keyspace.Order = chance(2) ? .ordered : .unordered
    var keyspace: Keyspace?
    _ = try attempt(session, "keyspace", allowing: [.orderMismatch]) {
      keyspace = try session.store.keyspace(name, order: order)
    }
    return keyspace
  }

  private mutating func useTemporary(_ session: Session) throws {
    guard let keyspace = try temporary(session) else { return }
    let store = session.store
    let first = Int64.random(in: 0..<300, using: &random)
    let drops = chance(8)
    let value = newValue()
    // Another thread may have dropped the keyspace, or may drop it before this call ends.
    switch Int.random(in: 0..<10, using: &random) {
    case 0..<6:
      _ = try attempt(session, "write to a temporary keyspace", allowing: [.keyspaceDropped]) {
        try store.write(durability: .buffered) { batch in
          for number in first..<first + 60 { try batch.put(value, at: .integer(number), in: keyspace) }
          if drops { try store.drop(keyspace, .buffered) }
        }
      }
    case 6:
      _ = try attempt(session, "asynchronous write", allowing: [.keyspaceDropped, .orderMismatch]) {
        // The keyspace is looked up only inside the batch, when its turn comes.
        let (name, order) = (keyspace.name, keyspace.order)
        try wait {
          _ = try await store.submit(durability: .buffered) { batch in
            let keyspace = try store.keyspace(name, order: order)
            try batch.put(value, at: .integer(first), in: keyspace)
            try batch.check(.integer(first), in: keyspace, .anything)
          }
        }
      }
    case 7, 8: _ = try attempt(session, "drop", allowing: [.keyspaceDropped]) { try store.drop(keyspace, .buffered) }
    default:
      let count = Int.random(in: 1...3, using: &random)
      _ = try attempt(session, "setRetention", allowing: [.keyspaceDropped]) {
        try store.setRetention(.last(count), of: keyspace, .buffered)
      }
    }
  }

  private mutating func retain(_ session: Session) throws {
    let count = Int.random(in: 1...Stage.mostVersions, using: &random)
    let kept = session.own[Stage.kept]
    _ = try attempt(session, "setRetention") { try session.store.setRetention(.last(count), of: kept) }
    try Mismatch.unless((1...Stage.mostVersions).contains(kept.retention.count), "retention")
  }

  // MARK: The store as a whole

  private func look(_ session: Session) throws {
    try session.checkFigures(at: stage.world.path, held: snapshots.count { $0.session === session })
  }

  private mutating func compact(_ session: Session) throws {
    let extent: CompactionExtent = chance(3) ? .everything : .worthwhile
    let last = chance(3) ? Int.random(in: 0..<3, using: &random) : Int.max
    var calls = 0
    var isRead = true
    let (store, row, keyspace) = (session.store, own.key(0), session.own[0])
    _ = try attempt(session, "compact", allowing: last < .max ? [.cancelled] : []) {
      let report = try store.compact(extent) { _ in
        calls += 1
        _ = store.statistics
        isRead = isRead && failure { try store.read { _ = try $0.get(row, in: keyspace) } } == nil
        return calls <= last
      }
      try Mismatch.unless(isRead, "a row could not be read while the store was compacted")
      try Mismatch.unless(report.damaged.isEmpty, "\(report)")
    }
  }

  private func sync(_ session: Session) throws {
    let last = session.store.lastSequence
    _ = try attempt(session, "sync") {
      try session.store.sync()
      try Mismatch.unless(session.store.durableSequence >= last, "\(last) is not durable")
    }
  }

  /// Opens the path of the current store: gives the same store or, after a close, the next one.
  private func openAgain() throws {
    let store = try stage.world.open(stage.world.path, Machine.options)
    for name in [OwnRows.Name(keyspace: 0, key: 0), OwnRows.Name(keyspace: 1, key: 1)] {
      let (keyspace, order) = Stage.orders[name.keyspace]
      let value = try store.get(own.key(name.key), in: store.keyspace(keyspace, order: order))
      try Mismatch.unless(value == own[name]?.value, "\(name) in a store that is opened again")
    }
  }

  private mutating func useOther(_ session: Session) throws {
    let store = try stage.world.open(stage.world.otherPath, Machine.options)
    let rows = try store.keyspace("rows")
    let next = own.other == .max ? 1 : own.other + 1
    let durability: Durability = chance(2) ? .durable : .buffered
    let refusal = failure { try session.store.put([next], at: 1, in: rows) }
    try Mismatch.unless(refusal?.code == .foreignKeyspace, "a keyspace of another store: \(refusal as Any)")
    // Another thread may have the same store and close it.
    let row = Key.integer(Int64(own.thread))
    if try attempt(session, "put", allowing: [.closed], { try store.put([next], at: row, in: rows, durability) }) {
      own.other = next
    }
    _ = try attempt(session, "checkpoint", allowing: [.closed], { try store.checkpoint() })
    if chance(2) { try store.close() }
    try own.checkOther(store)
  }
}

/// Blocks the current thread until an asynchronous closure returns.
private func wait<R: Sendable>(_ body: @escaping @Sendable () async throws -> R) throws -> R {
  let result = Monitor<Result<R, any Error>?>(nil)
  Task {
    do {
      let value = try await body()
      result.withLock { $0 = .success(value) }
    } catch {
      result.withLock { $0 = .failure(error) }
    }
  }
  return try result.wait { $0 }.get()
}
