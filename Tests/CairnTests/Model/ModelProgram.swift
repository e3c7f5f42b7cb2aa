import Cairn
import CairnSimulation

/// One random program, run against a store and its model.
struct ModelProgram {
  private(set) var step = 0
  private var random: SplitMix64
  private var machine: Machine
  private var store: Store
  private var keyspaces: [Keyspace] = []
  private var model: ModelStore
  private var snapshots: [(snapshot: Snapshot, rows: [ModelStore.Rows])] = []
  private let shapes: [KeyShape]
  private let keyCount: Int
  private let options: StoreOptions

  private static let names = ["first", "second", "heap"]

  init(seed: UInt64) throws {
    random = SplitMix64(seed: seed)
    machine = Machine(seed: random.next())
    model = ModelStore(keyspaces: Self.names.count)
    shapes = Self.names.map { [random] _ in
      var random = random
      return KeyShape.allCases[Int.random(in: 0..<KeyShape.allCases.count, using: &random)]
    }
    keyCount = [3, 20, 200][Int.random(in: 0..<3, using: &random)]
    var options = Machine.options
    options.compresses = Bool.random(using: &random)
    self.options = options
    store = try machine.open(options)
    try findKeyspaces()
  }

  private mutating func findKeyspaces() throws {
    keyspaces = try Self.names.map { try store.keyspace($0, order: $0 == "heap" ? .unordered : .ordered) }
  }

  mutating func run(steps: Int) throws {
    for _ in 0..<steps {
      step += 1
      switch Int.random(in: 0..<100, using: &random) {
      case 0..<45: try write()
      case 45..<60: try readOne()
      case 60..<75: try scan()
      case 75..<82: try takeSnapshot()
      case 82..<89: releaseSnapshot()
      case 89..<92: machine.runBackground()
      case 92..<94:
        try store.sync()
        model.madeDurable(upTo: store.durableSequence)
      case 94..<97: try reopen()
      default: try crash()
      }
    }
    while !snapshots.isEmpty { releaseSnapshot() }
    try require(store.statistics.olderVersions == 0, "versions kept for nobody")
    try checkAll(model.rows, store.snapshot())
    try reopen()
    try store.close()
  }

  private func require(_ condition: Bool, _ what: @autoclosure () -> String) throws {
    guard condition else { throw Mismatch(what()) }
  }

  private mutating func keyspace() -> Int { Int.random(in: 0..<Self.names.count, using: &random) }

  private mutating func key(_ keyspace: Int) -> Key {
    shapes[keyspace].key(Int.random(in: 0..<keyCount, using: &random))
  }

  private mutating func value() -> [UInt8] {
    let length = [0, 1, 39, 40, 100, 3000][Int.random(in: 0..<6, using: &random)]
    let fill = UInt8.random(in: 0...255, using: &random)
    if Bool.random(using: &random) { return [UInt8](repeating: fill, count: length) }
    return (0..<length).map { _ in UInt8.random(in: 0...255, using: &random) }
  }

  private mutating func expectation(_ row: ModelStore.Row?) -> Expectation {
    switch Int.random(in: 0..<12, using: &random) {
    case 0: return row == nil ? .absent : .present
    case 1: return row.map { .sequence($0.sequence) } ?? .absent
    case 2: return Int.random(in: 0..<4, using: &random) == 0 ? (row == nil ? .present : .absent) : .anything
    default: return .anything
    }
  }

  // MARK: Steps

  private mutating func write() throws {
    struct Change {
      var keyspace: Int
      var key: Key
      var value: [UInt8]?
      var isCheck: Bool
      var expectation: Expectation
    }
    var changes: [Change] = []
    for _ in 0..<Int.random(in: 1...20, using: &random) {
      let keyspace = keyspace()
      let key = key(keyspace)
      let kind = Int.random(in: 0..<10, using: &random)
      changes.append(
        Change(
          keyspace: keyspace, key: key, value: kind < 6 ? value() : nil, isCheck: kind == 9,
          expectation: expectation(model.rows[keyspace][key.encoded])))
    }
    let durability: Durability = Int.random(in: 0..<4, using: &random) == 0 ? .durable : .buffered
    let broken = changes.filter { change in
      let row = model.rows[change.keyspace][change.key.encoded]
      switch change.expectation {
      case .anything: return false
      case .absent: return row != nil
      case .present: return row == nil
      case .sequence(let sequence): return row?.sequence != sequence
      }
    }
    let before = model.rows
    do {
      let sequence = try store.write(durability: durability) { batch in
        for change in changes {
          let keyspace = keyspaces[change.keyspace]
          if change.isCheck {
            try batch.check(change.key, in: keyspace, change.expectation)
          } else if let value = change.value {
            try batch.put(value, at: change.key, in: keyspace, expecting: change.expectation)
          } else {
            try batch.delete(change.key, in: keyspace, expecting: change.expectation)
          }
        }
      }
      try require(broken.isEmpty, "a broken expectation went through")
      for change in changes where !change.isCheck {
        let key = change.key.encoded
        if let value = change.value {
          model.put(value, at: key, in: change.keyspace, sequence: sequence, before: before)
        } else {
          model.delete(key, in: change.keyspace)
        }
      }
      if model.rows != before { model.committed(sequence) }
      try require(store.lastSequence == sequence, "the commit isn't the newest")
      if durability == .durable {
        try require(store.durableSequence >= sequence, "acknowledged and not durable")
        model.madeDurable(upTo: sequence)
      }
    } catch let error as StoreError where error.code == .conflict {
      try require(error.conflicts.count == broken.count, "\(error.conflicts.count) conflicts of \(broken.count)")
    }
  }

  private mutating func readOne() throws {
    let keyspace = keyspace()
    let key = key(keyspace)
    try check(model.rows[keyspace][key.encoded], try store.row(key, in: keyspaces[keyspace]), key)
    for (snapshot, rows) in snapshots {
      let row = try snapshot.row(key, in: keyspaces[keyspace])
      try check(rows[keyspace][key.encoded], row, key)
    }
  }

  private func check(_ expected: ModelStore.Row?, _ found: Row?, _ key: Key) throws {
    let row = found.map { ModelStore.Row(value: $0.value, version: $0.version, sequence: $0.sequence) }
    try require(row == expected, "\(key): found \(describe(row)), expected \(describe(expected))")
  }

  private func describe(_ row: ModelStore.Row?) -> String {
    row.map { "\($0.value.count) bytes, version \($0.version), sequence \($0.sequence)" } ?? "nothing"
  }

  private mutating func scan() throws {
    let keyspace = Int.random(in: 0..<2, using: &random)
    let from = key(keyspace)
    let to = key(keyspace)
    let range: KeyRange
    switch Int.random(in: 0..<5, using: &random) {
    case 0: range = .all
    case 1: range = .from(from)
    case 2: range = .before(to)
    case 3: range = from < to ? KeyRange(from..<to) : KeyRange(to...from)
    default: range = .prefix(from)
    }
    let reverse = Bool.random(using: &random)
    let limit = Bool.random(using: &random) ? Int.max : Int.random(in: 0...10, using: &random)
    let pick = snapshots.isEmpty || Bool.random(using: &random) ? nil : snapshots.indices.randomElement(using: &random)
    let rows = pick.map { snapshots[$0].rows } ?? model.rows
    var expected = ModelStore.sorted(rows[keyspace]).filter { range.contains($0.key) }
    if reverse { expected.reverse() }
    let snapshot = pick.map { snapshots[$0].snapshot } ?? store.snapshot()
    let found = try snapshot.rows(range, in: keyspaces[keyspace], reverse: reverse, limit: limit)
    try require(
      found.map(\.key.encoded) == expected.prefix(limit).map(\.key),
      "a scan found \(found.count) rows, expected \(min(limit, expected.count))")
    try require(found.map(\.value) == expected.prefix(limit).map(\.row.value), "a scan found other values")
  }

  private mutating func takeSnapshot() throws {
    guard snapshots.count < 6 else { return }
    snapshots.append((store.snapshot(), model.rows))
  }

  private mutating func releaseSnapshot() {
    guard let index = snapshots.indices.randomElement(using: &random) else { return }
    snapshots.remove(at: index).snapshot.close()
  }

  private func checkAll(_ rows: [ModelStore.Rows], _ snapshot: Snapshot) throws {
    for (index, keyspace) in keyspaces.enumerated() {
      var found = try snapshot.rows(in: keyspace)
      if keyspace.order == .unordered { found.sort { $0.key < $1.key } }
      let expected = ModelStore.sorted(rows[index])
      try require(found.map(\.key.encoded) == expected.map(\.key), "\(keyspace.name): other rows")
      for (row, (_, wanted)) in zip(found, expected) { try check(wanted, row, row.key) }
      try require(try snapshot.count(in: keyspace) == expected.count, "\(keyspace.name): another count")
    }
  }

  private mutating func checkSnapshots() throws {
    for (snapshot, rows) in snapshots { try checkAll(rows, snapshot) }
  }

  private mutating func reopen() throws {
    try checkSnapshots()
    while !snapshots.isEmpty { releaseSnapshot() }
    try store.close()
    store = try machine.open(options)
    try findKeyspaces()
    try require(store.lastSequence == model.history.last?.sequence, "another sequence after reopening")
    try checkAll(model.rows, store.snapshot())
  }

  /// The machine loses its power: everything that was not synced is gone.
  private mutating func crash() throws {
    try checkSnapshots()
    while !snapshots.isEmpty { releaseSnapshot() }
    let next = Bool.random(using: &random) ? machine.crash() : machine.crash(using: &random)
    try store.close()
    machine = next
    store = try machine.open(options)
    try findKeyspaces()
    try require(
      model.recover(at: store.lastSequence), "recovered at \(store.lastSequence), which is no state it may be in")
    try checkAll(model.rows, store.snapshot())
  }
}

extension KeyRange {
  fileprivate func contains(_ key: [UInt8]) -> Bool {
    !key.precedes(lower) && upper.map(key.precedes) ?? true
  }
}
