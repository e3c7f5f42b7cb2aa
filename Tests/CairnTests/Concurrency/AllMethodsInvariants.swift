import Cairn
import Synchronization

extension Mismatch {
  /// Checks a statement that must always be true of a store, whichever methods are called and by whichever threads.
  static func unless(_ isTrue: Bool, _ words: @autoclosure () -> String) throws {
    guard isTrue else { throw Mismatch(words()) }
  }
}

// MARK: Rows

/// Rows that only one thread writes, with the values of the acknowledged writes.
struct OwnRows: Sendable {
  struct Known: Sendable, Equatable {
    var value: [UInt8]
    var version: UInt64
    var sequence: CommitSequence
  }

  struct Name: Sendable, Hashable {
    var keyspace: Int
    var key: Int
  }

  static let keys = 16

  let thread: Int
  /// The value of this thread's row in the other store; 0 while there is none.
  var other: UInt8 = 0
  private var known: [Name: Known] = [:]

  init(_ thread: Int) { self.thread = thread }

  subscript(name: Name) -> Known? {
    get { known[name] }
    set { known[name] = newValue }
  }

  func key(_ key: Int) -> Key { .tuple([.integer(Int64(thread)), .integer(Int64(key))]) }

  func count(in keyspace: String) -> Int {
    known.keys.count { Stage.orders[$0.keyspace].name == keyspace }
  }

  func check(_ session: Session) throws {
    for keyspace in Stage.orders.indices {
      for key in 0..<Self.keys { try check(Name(keyspace: keyspace, key: key), session) }
    }
  }

  func check(_ name: Name, _ session: Session) throws {
    let row = try session.store.row(key(name.key), in: session.own[name.keyspace])
    let found = row.map { Known(value: $0.value, version: $0.version, sequence: $0.sequence) }
    try Mismatch.unless(found == known[name], "\(name): \(Self.text(found)), not \(Self.text(known[name]))")
  }

  private static func text(_ known: Known?) -> String {
    known.map { "version \($0.version), sequence \($0.sequence)" } ?? "nothing"
  }

  /// Checks one row by every method of a store that reads it.
  func checkInEveryWay(_ name: Name, _ session: Session) throws {
    let (store, keyspace, row) = (session.store, session.own[name.keyspace], key(name.key))
    let known = known[name]
    try Mismatch.unless(try store.get(row, in: keyspace) == known?.value, "get of \(name)")
    try Mismatch.unless(try store.contains(row, in: keyspace) == (known != nil), "contains of \(name)")
    let value = try store.withValue(row, in: keyspace) { bytes in
      _ = try store.get(row, in: keyspace)
      return bytes.array
    }
    try Mismatch.unless(value == known?.value, "withValue of \(name)")
    let history = try store.history(of: row, in: keyspace)
    try Mismatch.unless(history.count <= Stage.mostVersions, "\(history.count) versions")
    for (newer, older) in zip(history, history.dropFirst()) {
      try Mismatch.unless(newer.sequence > older.sequence, "versions out of order")
    }
    if let known {
      let isNewest = history.first?.value == known.value && history.first?.sequence == known.sequence
      try Mismatch.unless(isNewest, "history of \(name)")
    } else {
      try Mismatch.unless(history.first?.isDeletion ?? true, "history of \(name), which is deleted")
    }
  }

  /// Checks all rows by every method of a snapshot that reads them.
  func check(_ snapshot: Snapshot, _ session: Session) throws {
    for (keyspace, own) in session.own.enumerated() {
      let keys = (0..<Self.keys).map(key)
      let expected = (0..<Self.keys).map { known[Name(keyspace: keyspace, key: $0)]?.value }
      try Mismatch.unless(try snapshot.get(many: keys, in: own) == expected, "many rows of \(own.name)")
      var scanned: [[UInt8]] = []
      var count = 0
      let mine = keys.map(\.encoded)
      try snapshot.scan(in: own, reverse: own.order == .ordered) { key, value, _ in
        count += 1
        if mine.contains(key.array) { scanned.append(value.array) }
        return .next
      }
      try Mismatch.unless(Set(scanned) == Set(expected.compactMap { $0 }), "a scan of \(own.name)")
      try Mismatch.unless(try snapshot.count(in: own) == count, "the count of \(own.name)")
      guard own.order == .ordered else { continue }
      let range = KeyRange.prefix([thread])
      try Mismatch.unless(try snapshot.count(range, in: own) == scanned.count, "a range of \(own.name)")
      let rows = try snapshot.rows(range, in: own)
      try Mismatch.unless(rows.map(\.value) == expected.compactMap { $0 }, "rows of \(own.name)")
    }
  }

  func checkOther(_ store: Store) throws {
    let expected: [UInt8]? = other == 0 ? nil : [other]
    let found = try store.get(.integer(Int64(thread)), in: store.keyspace("rows"))
    try Mismatch.unless(found == expected, "the other store")
  }
}

/// Rows that all threads write; the sum of their balances is constant.
enum Bank {
  static let accounts = (0..<10 as Range<Int64>).map { Key.tuple(["account", .integer($0)]) }
  static let opening = 1000

  static func balance(_ bytes: [UInt8]) -> Int { bytes.reversed().reduce(0) { $0 << 8 | Int($1) } }

  static func bytes(_ balance: Int) -> [UInt8] {
    [UInt8(truncatingIfNeeded: balance), UInt8(truncatingIfNeeded: balance >> 8)]
  }

  static func audit(_ rows: [Row]) throws {
    let sum = rows.reduce(0) { $0 + balance($1.value) }
    guard rows.count == accounts.count, sum == accounts.count * opening else {
      throw Mismatch("\(rows.count) accounts with \(sum) in all")
    }
  }
}

// MARK: Snapshots

/// A snapshot of one thread, and what the thread saw in it at first.
struct HeldSnapshot {
  let session: Session
  let snapshot: Snapshot
  private let own: OwnRows
  private let bank: [Row]

  init(_ session: Session, _ own: OwnRows) throws {
    self.session = session
    self.own = own
    snapshot = session.store.snapshot()
    bank = try snapshot.rows(in: session.bank)
  }

  func check() throws {
    try own.check(snapshot, session)
    let bank = try snapshot.rows(in: session.bank)
    try Bank.audit(bank)
    try Mismatch.unless(bank == self.bank, "a snapshot has changed")
  }

  func end() throws {
    snapshot.close()
    let error = failure { _ = try snapshot.get(own.key(0), in: session.own[0]) }
    try Mismatch.unless(error?.code == .closed, "an ended snapshot says \(error as Any)")
  }
}

/// A snapshot that any thread may read and any thread may end.
final class SharedSnapshot: Sendable {
  private let session: Session
  private let snapshot: Snapshot
  private let bank: [Row]
  private let temporary: Keyspace
  private let rows: [Row]
  private let isEnding = Atomic<Bool>(false)

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

  func check(ending: Bool) throws {
    do {
      let bank = try snapshot.rows(in: session.bank)
      try Mismatch.unless(bank == self.bank, "a shared snapshot has changed")
      var rows: [Row] = []
      try snapshot.scan(in: temporary) { key, value, stamp in
        let key = try Key(encoded: key)
        rows.append(Row(key: key, value: value.array, version: stamp.version, sequence: stamp.sequence))
        if ending, rows.count == 40 { end() }
        return .next
      }
      try Mismatch.unless(rows == self.rows, "a shared snapshot has \(rows.count) rows, had \(self.rows.count)")
      try Mismatch.unless(try snapshot.count(in: temporary) == rows.count, "the count of a shared snapshot")
      let values = try snapshot.get(many: rows.map(\.key), in: temporary)
      try Mismatch.unless(values == rows.map(\.value), "many rows of a shared snapshot")
    } catch let error as StoreError where error.code == .closed {
      try Mismatch.unless(isEnding.load(ordering: .sequentiallyConsistent), "a shared snapshot was closed")
    }
  }
}

// MARK: The store as a whole

extension Session {
  /// Checks what the store reports about itself, for a thread that holds `held` of its snapshots.
  func checkFigures(at path: String, held: Int) throws {
    let statistics = store.statistics
    try Mismatch.unless(statistics.snapshots >= held, "\(statistics.snapshots) snapshots, not \(held)")
    try Mismatch.unless(statistics.segments > 0 && statistics.logBytes > 0 && statistics.rows >= 0, "\(statistics)")
    let ids = store.keyspaces.map(\.id)
    try Mismatch.unless(ids == ids.sorted() && ids.contains(bank.id), "keyspaces \(ids)")
    let durable = store.durableSequence
    try Mismatch.unless(store.lastSequence >= durable, "durable before it was written")
    try Mismatch.unless(store.path == path && store.recovery.lastSequence <= store.lastSequence, "recovery")
    try Mismatch.unless(bank.name == "bank" && bank.order == .ordered, "the bank")
  }
}
