import Cairn
import CairnInspection
import Foundation
import Synchronization
import Testing

/// Eight threads call whatever a store has, at random, while it is closed and opened again under them. Each knows what
/// it must find.
@Suite(.serialized) struct AllMethodsConcurrencyTests {
  private static let threads = 8

  @Test("every method may be called from any thread, on a simulated machine", .timeLimit(.minutes(60)))
  func simulated() async throws {
    let seed = chooseSeed()
    try await onThread {
      let machine = Machine(seed: seed)
      try Self.run(
        seed,
        World(path: Machine.path, files: machine.files) { path, options in
          try Store.open(at: path, options: options, environment: machine.environment(ThreadScheduler()))
        })
    }
  }

  @Test("every method may be called from any thread, in a directory", .timeLimit(.minutes(60)))
  func directory() async throws {
    let seed = chooseSeed()
    try await onThread {
      try withTemporaryDirectory { directory in
        try Self.run(
          seed,
          World(path: "\(directory)/store", files: SystemFileLayer()) { path, options in
            try Store.open(at: path, options: options)
          })
      }
    }
  }

  private static func run(_ seed: UInt64, _ world: World) throws {
    // A hundred calls of each thread.
    let rounds = chooseRounds(20, debug: 2)
    let stage = try Stage(world)
    let done = Lock<[Actor]>([])
    let threads = Threads()
    for number in 0..<Self.threads {
      threads.start {
        var actor = Actor(number, seed, stage)
        do {
          for _ in 0..<100 * rounds where !stage.hasFailed.load(ordering: .relaxed) { try actor.act() }
          try actor.finish()
        } catch {
          stage.hasFailed.store(true, ordering: .relaxed)
          throw Mismatch("thread \(number), seed \(seed): \(error)")
        }
        done.withLock { $0.append(actor) }
      }
    }
    try threads.join()
    stage.endShared()

    let actors = done.withLock { $0 }
    let session = stage.session
    session.store.resumeCompaction()
    try session.store.setRetention(.newest, of: session.own[Stage.kept])
    for keyspace in session.store.keyspaces where keyspace.name.hasPrefix("temporary") {
      try session.store.drop(keyspace)
    }
    for actor in actors { try actor.checkOwn(session) }
    try session.store.close()
    #expect(session.store.statistics.snapshots == 0)
    #expect(session.store.statistics.retainedVersions == 0)
    #expect(try Verifier(at: world.path, files: world.files).run().findings.isEmpty)

    let again = try Session(world)
    for actor in actors { try actor.checkOwn(again) }
    try again.store.read { try Stage.audit($0.rows(in: again.bank)) }
    for (order, keyspace) in zip(Stage.orders, again.own) {
      let expected = actors.reduce(0) { $0 + $1.count(in: order.name) }
      #expect(try again.store.read { try $0.count(in: keyspace) } == expected)
    }
    try again.store.close()
    let other = try world.open(world.otherPath, Machine.options)
    for actor in actors { try actor.checkOther(other) }
    try other.close()
    #expect(try Verifier(at: world.otherPath, files: world.files).run().findings.isEmpty)
  }
}

// MARK: What all threads have

private struct World: Sendable {
  let path: String
  let files: any FileLayer
  let open: @Sendable (_ path: String, _ options: StoreOptions) throws -> Store

  var otherPath: String { "\(path)-other" }
}

/// A store from its opening to its closing.
private final class Session: Sendable {
  let store: Store
  let own: [Keyspace]
  let bank: Keyspace
  /// Set before it is closed.
  let isClosing = Atomic<Bool>(false)

  init(_ world: World) throws {
    var options = Machine.options
    options.recoveryProgress = { _ in
      // It would wait for itself.
      failure { _ = try world.open(world.path, Machine.options) }?.code == .locked
    }
    store = try world.open(world.path, options)
    own = try Stage.orders.map { [store] in try store.keyspace($0.name, $0.order) }
    bank = try store.keyspace("bank")
  }
}

/// One that any thread asks, and any thread ends.
private final class SharedSnapshot: Sendable {
  let session: Session
  let snapshot: Snapshot
  let bank: [Row]
  let temporary: Keyspace
  let rows: [Row]
  let isEnding = Atomic<Bool>(false)

  init(_ session: Session, temporary: Keyspace) throws {
    self.session = session
    self.temporary = temporary
    snapshot = session.store.snapshot()
    bank = try snapshot.rows(in: session.bank)
    rows = try snapshot.rows(in: temporary)
  }

  func end() {
    isEnding.store(true, ordering: .sequentiallyConsistent)
    snapshot.close()
  }
}

private final class Stage: Sendable {
  static let orders: [(name: String, order: Keyspace.Order)] = [
    ("own", .ordered), ("heap", .unordered), ("kept", .ordered),
  ]
  static let kept = 2
  static let mostVersions = 4
  static let accounts = (0..<10 as Range<Int64>).map { Reference.tuple(["account", .integer($0)]) }
  static let opening = 1000

  let world: World
  let hasFailed = Atomic<Bool>(false)
  let shared = Lock<[SharedSnapshot]>([])
  private let current: Lock<Session>
  private let reopening = Lock<Void>(())

  init(_ world: World) throws {
    self.world = world
    let session = try Session(world)
    try session.store.write { batch in
      for account in Self.accounts { try batch.put(Self.bytes(Self.opening), at: account, in: session.bank) }
    }
    current = Lock(session)
  }

  var session: Session { current.withLock { $0 } }

  /// Closes the store and opens it again, unless somebody is doing that.
  func reopen() throws {
    try reopening.withLockIfAvailable { (_) throws in
      let session = session
      session.isClosing.store(true, ordering: .sequentiallyConsistent)
      try session.store.close()
      let next = try Session(world)
      current.withLock { $0 = next }
    }
  }

  /// While nobody closes the store.
  func openDifferently() throws {
    try reopening.withLockIfAvailable { (_) throws in
      var options = Machine.options
      options.compression = false
      let error = failure { _ = try world.open(world.path, options) }
      guard error?.code == .optionsMismatch else { throw Mismatch("opened with other options: \(error as Any)") }
    }
  }

  func endShared() {
    let all = shared.withLock { shared in
      defer { shared = [] }
      return shared
    }
    for snapshot in all { snapshot.end() }
  }

  static func balance(_ bytes: [UInt8]) -> Int { bytes.reversed().reduce(0) { $0 << 8 | Int($1) } }

  static func bytes(_ balance: Int) -> [UInt8] {
    [UInt8(truncatingIfNeeded: balance), UInt8(truncatingIfNeeded: balance >> 8)]
  }

  static func audit(_ bank: [Row]) throws {
    let sum = bank.reduce(0) { $0 + balance($1.value) }
    guard bank.count == accounts.count, sum == accounts.count * opening else {
      throw Mismatch("\(bank.count) accounts with \(sum) in all")
    }
  }
}

// MARK: One thread

private struct Actor: Sendable {
  /// A row that only this thread writes, as it was acknowledged.
  private struct Known: Sendable, Equatable {
    var value: [UInt8]
    var version: UInt64
    var revision: UInt64
  }

  private struct Name: Sendable, Hashable {
    var keyspace: Int
    var key: Int
  }

  private struct Held {
    var session: Session
    var snapshot: Snapshot
    var known: [Name: Known]
    var bank: [Row]
  }

  private static let keys = 16

  private let number: Int
  private let stage: Stage
  private var random: SplitMix64
  private var known: [Name: Known] = [:]
  private var snapshots = Snapshots()
  private var counter = 0
  private var newest: UInt64 = 0
  private var other: UInt8 = 0

  /// Those this thread holds. Of one thread at a time.
  private final class Snapshots: @unchecked Sendable { var held: [Held] = [] }

  init(_ number: Int, _ seed: UInt64, _ stage: Stage) {
    self.number = number
    self.stage = stage
    random = SplitMix64(seed: seed &+ UInt64(number) &* 0x9E37_79B9)
  }

  mutating func act() throws {
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
    case 970..<980: try openAgain()
    case 980..<985: try stage.openDifferently()
    case 985..<993: try useOther(session)
    default: try stage.reopen()
    }
  }

  mutating func finish() throws {
    while !snapshots.held.isEmpty { try endSnapshot() }
    try checkOwn(stage.session)
  }

  /// False if the call threw what it may throw now.
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

  private func demand(_ isTrue: Bool, _ words: @autoclosure () -> String) throws {
    guard isTrue else { throw Mismatch(words()) }
  }

  private mutating func chance(_ one: Int) -> Bool { Int.random(in: 0..<one, using: &random) == 0 }

  // MARK: Rows of its own

  private func reference(_ key: Int) -> Reference { .tuple([.integer(Int64(number)), .integer(Int64(key))]) }

  private mutating func newValue() -> [UInt8] {
    counter += 1
    let length = chance(6) ? Int.random(in: 1000...5000, using: &random) : Int.random(in: 0...200, using: &random)
    let filling: [UInt8] = chance(2) ? .noise(length, seed: UInt64(counter)) : Array(repeating: 7, count: length)
    return Array("\(number) \(counter) ".utf8) + filling
  }

  private enum Way { case batch, async, alone }

  private mutating func write(_ session: Session) throws {
    let durability: Durability = chance(4) ? .durable : .buffered
    let way: Way = [.batch, .batch, .async, .alone].randomElement(using: &random) ?? .batch
    var changes: [(name: Name, value: [UInt8]?, expectation: Cairn.Expectation)] = []
    var after = known
    var changed: Set<Name> = []
    for _ in 0..<(way == .alone ? 1 : Int.random(in: 1...6, using: &random)) {
      let name = Name(
        keyspace: Int.random(in: 0..<Stage.orders.count, using: &random),
        key: Int.random(in: 0..<Self.keys, using: &random))
      let present = known[name]
      let isWrong = chance(20)
      let expectation: Cairn.Expectation =
        if isWrong {
          present == nil ? .present : .revision(1)
        } else if chance(2) {
          .anything
        } else {
          present.map { .revision($0.revision) } ?? .absent
        }
      changes.append((name, chance(3) ? nil : newValue(), expectation))
    }
    let isRefused = changes.contains { change in
      switch change.expectation {
      case .anything: false
      case .absent: known[change.name] != nil
      case .present: known[change.name] == nil
      case .revision(let revision): known[change.name]?.revision != revision
      }
    }
    for change in changes {
      after[change.name] = change.value.map { value in
        Known(value: value, version: (known[change.name]?.version ?? 0) + 1, revision: 0)
      }
      changed.insert(change.name)
    }
    let isWritten = changed.contains { after[$0] != nil || known[$0] != nil }

    var sequence: UInt64 = 0
    let (fixed, own) = (changes, session.own)
    let references = fixed.map { reference($0.name.key) }
    @Sendable func fill(_ batch: inout Batch) throws {
      for (change, reference) in zip(fixed, references) {
        let keyspace = own[change.name.keyspace]
        if let value = change.value {
          try batch.put(value, at: reference, in: keyspace, expecting: change.expectation)
        } else {
          try batch.delete(reference, in: keyspace, expecting: change.expectation)
        }
      }
    }
    let store = session.store
    let isDone = try attempt(session, "write", allowing: isRefused ? [.conflict] : []) {
      switch way {
      case .batch: sequence = try store.write(durability, fill)
      case .async: sequence = try wait { try await store.write(durability) { try fill(&$0) } }
      case .alone:
        let change = fixed[0]
        let keyspace = own[change.name.keyspace]
        sequence =
          if let value = change.value {
            try store.put(value, at: references[0], in: keyspace, expecting: change.expectation, durability)
          } else {
            try store.delete(references[0], in: keyspace, expecting: change.expectation, durability)
          }
      }
    }
    try demand(!isDone || !isRefused, "a batch was not refused: \(fixed)")
    if isDone {
      for name in changed { after[name]?.revision = sequence }
      known = after
      if isWritten { try acknowledged(sequence, session) }
      if durability == .durable {
        try demand(store.durableSequence >= sequence, "\(sequence) is not durable")
      } else if chance(4) {
        _ = try attempt(session, "waitUntilDurable") {
          try wait { [sequence] in try await store.waitUntilDurable(sequence) }
          try demand(store.durableSequence >= sequence, "\(sequence) is not durable after waiting")
        }
      }
    }
    for name in changed { try checkOwn(name, session) }
  }

  private mutating func acknowledged(_ sequence: UInt64, _ session: Session) throws {
    try demand(sequence > newest, "sequence \(sequence) after \(newest)")
    newest = sequence
    try demand(session.store.lastSequence >= sequence, "the last sequence is below \(sequence)")
  }

  private func checkOwn(_ name: Name, _ session: Session) throws {
    let row = try session.store.row(reference(name.key), in: session.own[name.keyspace])
    let found = row.map { Known(value: $0.value, version: $0.version, revision: $0.revision) }
    try demand(found == known[name], "\(name): \(Self.text(found)), not \(Self.text(known[name]))")
  }

  private static func text(_ known: Known?) -> String {
    known.map { "version \($0.version), revision \($0.revision)" } ?? "nothing"
  }

  func checkOwn(_ session: Session) throws {
    for keyspace in Stage.orders.indices {
      for key in 0..<Self.keys { try checkOwn(Name(keyspace: keyspace, key: key), session) }
    }
  }

  func count(in keyspace: String) -> Int {
    known.keys.count { Stage.orders[$0.keyspace].name == keyspace }
  }

  private mutating func readOwn(_ session: Session) throws {
    let name = Name(
      keyspace: Int.random(in: 0..<Stage.orders.count, using: &random),
      key: Int.random(in: 0..<Self.keys, using: &random))
    let (store, keyspace, row) = (session.store, session.own[name.keyspace], reference(name.key))
    try demand(try store.get(row, in: keyspace) == known[name]?.value, "get of \(name)")
    try demand(try store.contains(row, in: keyspace) == (known[name] != nil), "contains of \(name)")
    let value = try store.withValue(row, in: keyspace) { bytes in
      _ = try store.get(row, in: keyspace)
      return bytes.array
    }
    try demand(value == known[name]?.value, "withValue of \(name)")
    let history = try store.history(of: row, in: keyspace)
    try demand(history.count <= Stage.mostVersions, "\(history.count) versions")
    for (newer, older) in zip(history, history.dropFirst()) {
      try demand(newer.revision > older.revision, "versions out of order")
    }
    if let known = known[name] {
      try demand(history.first?.value == known.value && history.first?.revision == known.revision, "history of \(name)")
    } else {
      try demand(history.first?.isDeletion ?? true, "history of \(name), which is deleted")
    }
    try store.read { snapshot in
      try checkOwn(snapshot, session, known)
      try Stage.audit(snapshot.rows(in: session.bank))
    }
  }

  /// All rows of this thread, in every way a snapshot has.
  private func checkOwn(_ snapshot: Snapshot, _ session: Session, _ known: [Name: Known]) throws {
    for (keyspace, own) in session.own.enumerated() {
      let references = (0..<Self.keys).map(reference)
      let expected = (0..<Self.keys).map { known[Name(keyspace: keyspace, key: $0)]?.value }
      try demand(try snapshot.get(many: references, in: own) == expected, "many rows of \(own.name)")
      var scanned: [[UInt8]] = []
      var count = 0
      let mine = references.map(\.encoded)
      try snapshot.scan(in: own, reverse: own.order == .ordered) { key, value, _ in
        count += 1
        if mine.contains(key.array) { scanned.append(value.array) }
        return .next
      }
      try demand(Set(scanned) == Set(expected.compactMap { $0 }), "a scan of \(own.name)")
      try demand(try snapshot.count(in: own) == count, "the count of \(own.name)")
      guard own.order == .ordered else { continue }
      let range = KeyRange.prefix([.integer(Int64(number))])
      try demand(try snapshot.count(range, in: own) == scanned.count, "a range of \(own.name)")
      try demand(try snapshot.rows(range, in: own).map(\.value) == expected.compactMap { $0 }, "rows of \(own.name)")
    }
  }

  // MARK: Rows of all

  private mutating func transfer(_ session: Session) throws {
    guard let from = Stage.accounts.randomElement(using: &random),
      let to = Stage.accounts.randomElement(using: &random), from != to,
      let source = try session.store.row(from, in: session.bank),
      let target = try session.store.row(to, in: session.bank)
    else { return }
    let amount = min(Int.random(in: 1...300, using: &random), Stage.balance(source.value))
    var sequence: UInt64 = 0
    let isDone = try attempt(session, "transfer", allowing: [.conflict]) {
      sequence = try session.store.write(.buffered) { batch in
        try batch.put(
          Stage.bytes(Stage.balance(source.value) - amount), at: from, in: session.bank,
          expecting: .revision(source.revision))
        try batch.put(
          Stage.bytes(Stage.balance(target.value) + amount), at: to, in: session.bank,
          expecting: .revision(target.revision))
      }
    }
    if isDone { try acknowledged(sequence, session) }
  }

  // MARK: Snapshots

  private mutating func takeSnapshot(_ session: Session) throws {
    guard snapshots.held.count < 4 else { return }
    let snapshot = session.store.snapshot()
    snapshots.held.append(
      Held(session: session, snapshot: snapshot, known: known, bank: try snapshot.rows(in: session.bank)))
  }

  private mutating func askSnapshot() throws {
    guard let held = snapshots.held.randomElement(using: &random) else { return }
    try checkOwn(held.snapshot, held.session, held.known)
    let bank = try held.snapshot.rows(in: held.session.bank)
    try Stage.audit(bank)
    try demand(bank == held.bank, "a snapshot has changed")
  }

  private mutating func endSnapshot() throws {
    guard let position = snapshots.held.indices.randomElement(using: &random) else { return }
    let held = snapshots.held.remove(at: position)
    guard chance(2) else { return }
    held.snapshot.close()
    let error = failure { _ = try held.snapshot.get(reference(0), in: held.session.own[0]) }
    try demand(error?.code == .closed, "an ended snapshot says \(error as Any)")
  }

  private mutating func share(_ session: Session) throws {
    guard stage.shared.withLock({ $0.count }) < 6, let temporary = try temporary(session) else { return }
    let snapshot = try SharedSnapshot(session, temporary: temporary)
    stage.shared.withLock { $0.append(snapshot) }
  }

  private mutating func askShared() throws {
    guard let shared = stage.shared.withLock({ $0 }).randomElement(using: &random) else { return }
    let mayEnd = chance(4)
    do {
      let bank = try shared.snapshot.rows(in: shared.session.bank)
      try demand(bank == shared.bank, "a shared snapshot has changed")
      var rows: [Row] = []
      try shared.snapshot.scan(in: shared.temporary) { key, value, stamp in
        let reference = try Reference(encoded: key)
        rows.append(Row(reference: reference, value: value.array, version: stamp.version, revision: stamp.revision))
        if mayEnd, rows.count == 40 { shared.end() }
        return .next
      }
      try demand(rows == shared.rows, "a shared snapshot has \(rows.count) rows, had \(shared.rows.count)")
      try demand(try shared.snapshot.count(in: shared.temporary) == rows.count, "the count of a shared snapshot")
      let values = try shared.snapshot.get(many: rows.map(\.reference), in: shared.temporary)
      try demand(values == rows.map(\.value), "many rows of a shared snapshot")
    } catch let error as StoreError where error.code == .closed {
      try demand(shared.isEnding.load(ordering: .sequentiallyConsistent), "a shared snapshot was closed")
    }
  }

  private mutating func endShared() {
    let one = random.next()
    let ended: SharedSnapshot? = stage.shared.withLock { shared in
      shared.isEmpty ? nil : shared.remove(at: Int(truncatingIfNeeded: one % UInt64(shared.count)))
    }
    ended?.end()
  }

  // MARK: Keyspaces that come and go

  /// nil if somebody has made it with the other order.
  private mutating func temporary(_ session: Session) throws -> Keyspace? {
    let name = "temporary \(Int.random(in: 0..<3, using: &random))"
    let order: Keyspace.Order = chance(2) ? .ordered : .unordered
    var keyspace: Keyspace?
    _ = try attempt(session, "keyspace", allowing: [.keyspaceMismatch]) {
      keyspace = try session.store.keyspace(name, order)
    }
    return keyspace
  }

  private mutating func useTemporary(_ session: Session) throws {
    guard let keyspace = try temporary(session) else { return }
    let store = session.store
    let first = Int64.random(in: 0..<300, using: &random)
    let drops = chance(8)
    let value = newValue()
    // Somebody may have dropped it, or does before this is done.
    switch Int.random(in: 0..<10, using: &random) {
    case 0..<6:
      _ = try attempt(session, "write to a temporary keyspace", allowing: [.keyspaceMismatch]) {
        try store.write(.buffered) { batch in
          for number in first..<first + 60 { try batch.put(value, at: .integer(number), in: keyspace) }
          if drops { try store.drop(keyspace, .buffered) }
        }
      }
    case 6:
      _ = try attempt(session, "asynchronous write", allowing: [.keyspaceMismatch]) {
        // Only the batch knows the keyspace when its turn comes.
        let (name, order) = (keyspace.name, keyspace.order)
        try wait {
          _ = try await store.write(.buffered) { batch in
            let keyspace = try store.keyspace(name, order)
            try batch.put(value, at: .integer(first), in: keyspace)
            try batch.check(.integer(first), in: keyspace, .anything)
          }
        }
      }
    case 7, 8: _ = try attempt(session, "drop", allowing: [.keyspaceMismatch]) { try store.drop(keyspace, .buffered) }
    default:
      let count = Int.random(in: 1...3, using: &random)
      _ = try attempt(session, "setRetention", allowing: [.keyspaceMismatch]) {
        try store.setRetention(.last(count), of: keyspace, .buffered)
      }
    }
  }

  private mutating func retain(_ session: Session) throws {
    let count = Int.random(in: 1...Stage.mostVersions, using: &random)
    let kept = session.own[Stage.kept]
    _ = try attempt(session, "setRetention") { try session.store.setRetention(.last(count), of: kept) }
    try demand((1...Stage.mostVersions).contains(kept.retention.count), "retention")
  }

  // MARK: The store as a whole

  private func look(_ session: Session) throws {
    let store = session.store
    let held = snapshots.held.count { $0.session === session }
    let statistics = store.statistics
    try demand(statistics.snapshots >= held, "\(statistics.snapshots) snapshots, not \(held)")
    try demand(statistics.segments > 0 && statistics.logBytes > 0 && statistics.rows >= 0, "\(statistics)")
    let ids = store.keyspaces.map(\.id)
    try demand(ids == ids.sorted() && ids.contains(session.bank.id), "keyspaces \(ids)")
    let durable = store.durableSequence
    try demand(store.lastSequence >= durable, "durable before it was written")
    try demand(store.path == stage.world.path && store.recovery.lastSequence <= store.lastSequence, "recovery")
    try demand(session.bank.name == "bank" && session.bank.order == .ordered, "the bank")
  }

  private mutating func compact(_ session: Session) throws {
    let extent: CompactionExtent = chance(3) ? .everything : .worthwhile
    let last = chance(3) ? Int.random(in: 0..<3, using: &random) : Int.max
    var calls = 0
    var isRead = true
    let (store, row, keyspace) = (session.store, reference(0), session.own[0])
    _ = try attempt(session, "compact", allowing: last < .max ? [.cancelled] : []) {
      let report = try store.compact(extent) { _ in
        calls += 1
        _ = store.statistics
        isRead = isRead && failure { try store.read { _ = try $0.get(row, in: keyspace) } } == nil
        return calls <= last
      }
      try demand(isRead, "a row could not be read while the store was compacted")
      try demand(report.damaged.isEmpty, "\(report)")
    }
  }

  private func sync(_ session: Session) throws {
    let last = session.store.lastSequence
    _ = try attempt(session, "sync") {
      try session.store.sync()
      try demand(session.store.durableSequence >= last, "\(last) is not durable")
    }
  }

  /// The same store, or the one that is opened after it.
  private func openAgain() throws {
    let store = try stage.world.open(stage.world.path, Machine.options)
    for name in [Name(keyspace: 0, key: 0), Name(keyspace: 1, key: 1)] {
      let (own, order) = Stage.orders[name.keyspace]
      let value = try store.get(reference(name.key), in: store.keyspace(own, order))
      try demand(value == known[name]?.value, "\(name) in a store that is opened again")
    }
  }

  private mutating func useOther(_ session: Session) throws {
    let store = try stage.world.open(stage.world.otherPath, Machine.options)
    let rows = try store.keyspace("rows")
    let next = other &+ 1
    let durability: Durability = chance(2) ? .durable : .buffered
    let refusal = failure { try session.store.put([next], at: 1, in: rows) }
    try demand(refusal?.code == .keyspaceMismatch, "a keyspace of another store: \(refusal as Any)")
    // Another thread may close it, which has the same one.
    let row = Reference.integer(Int64(number))
    if try attempt(session, "put", allowing: [.closed], { try store.put([next], at: row, in: rows, durability) }) {
      other = next
    }
    _ = try attempt(session, "checkpoint", allowing: [.closed], { try store.checkpoint() })
    if chance(2) { try store.close() }
    try checkOther(store)
  }

  func checkOther(_ store: Store) throws {
    let expected: [UInt8]? = other == 0 ? nil : [other]
    try demand(try store.get(.integer(Int64(number)), in: store.keyspace("rows")) == expected, "the other store")
  }
}

/// Runs what waits on a thread of its own: those of the runtime are few, and what it waits for needs one.
private func onThread(_ body: @escaping @Sendable () throws -> Void) async throws {
  try await withCheckedThrowingContinuation { (continuation: CheckedContinuation<Void, any Error>) in
    Thread.detachNewThread { continuation.resume(with: Result { try body() }) }
  }
}

/// Waits on a thread for what is asynchronous.
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
