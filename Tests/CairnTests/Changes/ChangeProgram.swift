import CairnSimulation
import Testing

@testable import Cairn

/// A random program of writers, maintenance, restarts, losses of power and readers of changes. Each reader keeps a copy
/// of the rows, which it changes only as it is told.
struct ChangeProgram {
  /// Somebody outside of the store: what it knows survives every crash.
  struct Reader {
    var copy: [String: [Key: [UInt8]]] = [:]
    var position: ChangePosition
    let name: String?
    var cursor: ChangeCursor?
    var last: CommitSequence
    /// Whether the log may have forgotten deletions that it has to know.
    var mayExpire: Bool { name == nil }

    mutating func apply(_ changes: [RowChange]) {
      for change in changes {
        switch change {
        case .put(let row, let keyspace): copy[keyspace, default: [:]][row.key] = row.value
        case .deleted(let key, let keyspace): copy[keyspace]?[key] = nil
        case .dropped(let keyspace): copy[keyspace] = nil
        }
      }
    }
  }

  /// A row that differs in a reader's copy, with the lengths of both values; nil for no row.
  struct Difference: Error {
    let reader: Int
    let keyspace: String
    let key: Key
    let copy: Int?
    let row: Int?
  }

  private var random: SplitMix64
  private var machine: Machine
  private var store: Store
  private var readers: [Reader] = []
  private var snapshots: [Snapshot] = []
  /// The commits of the present history that a store could be taken back to.
  private var commits: [CommitSequence] = []
  private let keys: Int
  private let largest: Int
  private(set) var returned = 0
  private(set) var restarts = 0

  private static let names = ["ordered", "retained", "unordered"]

  init(seed: UInt64) throws {
    random = SplitMix64(seed: seed)
    machine = Machine(seed: random.next())
    keys = [3, 12, 60][Int.random(in: 0..<3, using: &random)]
    largest = [40, 900, 9000][Int.random(in: 0..<3, using: &random)]
    store = try machine.open()
    for name in [nil, "search", "copies"] { readers.append(try reader(name)) }
  }

  mutating func run(_ steps: Int) throws {
    for _ in 0..<steps { try step() }
    for number in readers.indices { try check(number) }
  }

  private mutating func number(_ range: Range<Int>) -> Int { Int.random(in: range, using: &random) }

  private func keyspace(_ number: Int) throws -> Keyspace {
    try store.keyspace(Self.names[number], order: number == 2 ? .unordered : .ordered)
  }

  // MARK: Steps

  private mutating func step() throws {
    switch number(0..<40) {
    case 0..<14: try write()
    case 14..<17: try store.compact(number(0..<2) == 0 ? .everything : .worthwhile)
    case 17..<20: for _ in 0..<number(1..<6) { machine.runOneInBackground() }
    case 20: try store.checkpoint()
    case 21:
      let keyspace = try keyspace(number(0..<3))
      if store.keyspaces.contains(keyspace) { commits.append(try store.drop(keyspace)) }
    case 22: commits.append(try keyspace(1).setRetention(.last(number(1..<4))))
    case 23: snapshots.append(store.snapshot())
    case 24: if !snapshots.isEmpty { snapshots.remove(at: number(0..<snapshots.count)).close() }
    case 25: try store.sync()
    case 26, 27: try restart(machine)
    case 28: try restart(machine.kill())
    case 29, 30: try restart(machine.crash(using: &random))
    case 31: if number(0..<3) == 0 { try takeBack() }
    case 32: try check(number(0..<readers.count))
    default: try read(number(0..<readers.count), number(1..<6))
    }
  }

  private mutating func write() throws {
    let count = [1, 1, 3, 20][number(0..<4)]
    let isDeletion = number(0..<3) == 0
    var changes: [(Int, Key, [UInt8]?)] = []
    for _ in 0..<count {
      let key = Key.integer(Int64(number(0..<keys)))
      let isDeleted = isDeletion || number(0..<4) == 0
      changes.append((number(0..<3), key, isDeleted ? nil : .noise(number(0..<largest), seed: random.next())))
    }
    let durability: Durability = number(0..<3) == 0 ? .durable : .buffered
    let sequence = try store.write(durability: durability) { batch in
      for (number, key, value) in changes {
        let keyspace = try keyspace(number)
        if let value { try batch.put(value, at: key, in: keyspace) } else { try batch.delete(key, in: keyspace) }
      }
    }
    commits.append(sequence)
  }

  private mutating func restart(_ next: Machine, upTo: CommitSequence? = nil) throws {
    for snapshot in snapshots { snapshot.close() }
    snapshots = []
    for number in readers.indices { readers[number].cursor = nil }
    try? store.close()
    machine = next
    var options = Machine.options
    options.upTo = upTo
    store = try machine.open(options)
    commits.removeAll { $0 > store.lastSequence }
  }

  /// Takes the store back to an earlier commit, so that no position holds any more.
  private mutating func takeBack() throws {
    try store.sync()
    guard let sequence = commits.randomElement(using: &random), sequence < store.lastSequence else { return }
    let before = store.lastSequence
    do {
      try restart(machine, upTo: sequence)
    } catch {
      guard failure({ throw error })?.code == .commitNotFound else { throw error }
      return try restart(machine)
    }
    guard store.lastSequence < before else { return }
    try store.put([1], at: 0, in: try keyspace(0))
    for number in readers.indices {
      let refusal = failure { _ = try store.changes(since: readers[number].position) }
      #expect(refusal?.code == .replaced)
      readers[number] = try reader(readers[number].name)
    }
    try restart(machine)
  }

  // MARK: Readers

  /// A reader that begins with the rows of a snapshot.
  private mutating func reader(_ name: String?) throws -> Reader {
    let snapshot = store.snapshot()
    defer { snapshot.close() }
    let position = try snapshot.position()
    if let name { try store.addChangeReader(name, since: position) }
    return Reader(
      copy: try Self.rows(store, at: snapshot), position: position, name: name, last: position.sequence)
  }

  private static func rows(_ store: Store, at snapshot: Snapshot) throws -> [String: [Key: [UInt8]]] {
    var copy: [String: [Key: [UInt8]]] = [:]
    for keyspace in store.keyspaces {
      try snapshot.forEachRecord(in: keyspace) { record in
        let row = try record.row(store.index.dictionaries)
        copy[keyspace.name, default: [:]][row.key] = row.value
        return .next
      }
    }
    return copy
  }

  /// Reads some changes; false if there are none.
  private mutating func read(_ number: Int, _ count: Int) throws {
    var left = count
    while left > 0, try readOnce(number) { left -= 1 }
    let reader = readers[number]
    guard let name = reader.name, self.number(0..<2) == 0 else { return }
    try store.acknowledge(reader.position, by: name)
  }

  private mutating func readOnce(_ number: Int) throws -> Bool {
    do {
      if readers[number].cursor == nil || self.number(0..<12) == 0 {
        _ = try store.changes(since: readers[number].position)
        readers[number].cursor = ChangeCursor(
          store, after: readers[number].position.sequence, mostMoved: [1, 5, 1000][self.number(0..<3)])
        readers[number].last = readers[number].position.sequence
      }
      guard let commit = try readers[number].cursor?.next() else { return false }
      #expect(commit.sequence >= readers[number].last && commit.sequence <= store.durableSequence)
      #expect(!commit.changes.isEmpty || commit.isComplete)
      readers[number].last = commit.sequence
      readers[number].apply(commit.changes)
      readers[number].position = commit.position
      returned += commit.changes.count
      return true
    } catch {
      guard failure({ throw error })?.code == .positionExpired, readers[number].mayExpire else { throw error }
      readers[number] = try reader(nil)
      restarts += 1
      return true
    }
  }

  /// Reads all changes, and compares the copy with the rows.
  private mutating func check(_ number: Int) throws {
    try store.sync()
    readers[number].position = try #require(ChangePosition(readers[number].position.description))
    while try readOnce(number) {}
    let rows = try store.read { try Self.rows(store, at: $0) }
    for name in Self.names {
      let (copy, rows) = (readers[number].copy[name] ?? [:], rows[name] ?? [:])
      for key in Set(copy.keys).union(rows.keys) where copy[key] != rows[key] {
        throw Difference(reader: number, keyspace: name, key: key, copy: copy[key]?.count, row: rows[key]?.count)
      }
    }
  }
}
