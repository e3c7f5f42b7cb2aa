import Cairn
import CairnSimulation
import Synchronization

#if canImport(Glibc)
  import Glibc
#elseif canImport(Musl)
  import Musl
#elseif canImport(Darwin)
  import Darwin
#endif

/// Threads that use a few rows of one store in random ways, one history after the other, and a record of all their
/// calls and answers.
final class HistoryRecorder: Sendable {
  struct Shape: Sendable {
    var threads: Int
    var callsPerThread: Int
    var histories: Int
  }

  /// The state of the rows before a history, and the calls of the history.
  struct Recording: Sendable {
    var initial: RowsModel.State
    var calls: RowsModel.History
  }

  let store: Store
  let rows: [(keyspace: Keyspace, key: Key)]
  private let seed: UInt64
  private let shape: Shape
  private let clock = Atomic<Int>(0)
  /// The last value that was put. No two puts have the same value.
  private let values = Atomic<UInt64>(0)
  private let rendezvous: Rendezvous
  private let initials = Lock<[RowsModel.State]>([])
  private let calls: Lock<[RowsModel.History]>

  init(_ store: Store, rows: [(keyspace: Keyspace, key: Key)], seed: UInt64, shape: Shape) {
    self.store = store
    self.rows = rows
    self.seed = seed
    self.shape = shape
    rendezvous = Rendezvous(shape.threads)
    calls = Lock(Array(repeating: [], count: shape.histories))
  }

  func record() throws -> [Recording] {
    let threads = Threads()
    for thread in 0..<shape.threads {
      threads.start { [self] in
        do {
          try run(thread)
        } catch {
          rendezvous.giveUp()
          throw error
        }
      }
    }
    try threads.join()
    let initials = initials.withLock { $0 }
    return calls.withLock { zip(initials, $0).map { Recording(initial: $0, calls: $1) } }
  }

  private func run(_ thread: Int) throws {
    var user = User(recorder: self, random: SplitMix64(seed: seed &+ UInt64(thread) &* 0x9E37_79B9_7F4A_7C15))
    for history in 0..<shape.histories {
      try rendezvous.meet()
      if thread == 0 { try begin() }
      try rendezvous.meet()
      var recorded: RowsModel.History = []
      recorded.reserveCapacity(shape.callsPerThread)
      for _ in 0..<shape.callsPerThread {
        let began = clock.add(1, ordering: .sequentiallyConsistent).newValue
        let operation = try user.call()
        let ended = clock.add(1, ordering: .sequentiallyConsistent).newValue
        recorded.append(Call(thread: thread, operation: operation, began: began, ended: ended))
        user.pause()
        try user.maintain()
      }
      // The final state is part of the history: this read begins after all other calls have ended.
      try rendezvous.meet()
      if thread == 0 {
        let began = clock.add(1, ordering: .sequentiallyConsistent).newValue
        let operation = try user.readAll()
        let ended = clock.add(1, ordering: .sequentiallyConsistent).newValue
        recorded.append(Call(thread: thread, operation: operation, began: began, ended: ended))
      }
      calls.withLock { $0[history] += recorded }
    }
  }

  private func begin() throws {
    let state = try store.read { snapshot in
      RowsModel.State(
        sequence: snapshot.sequence,
        rows: try rows.map { row in
          try snapshot.row(row.key, in: row.keyspace).map { try RowsModel.Row($0) }
        })
    }
    initials.withLock { $0.append(state) }
  }

  /// One thread's source of random calls, and the sequences that it remembers.
  private struct User {
    let recorder: HistoryRecorder
    var random: SplitMix64
    /// The sequence of each row when this thread last saw or wrote it.
    var sequences: [CommitSequence?]

    init(recorder: HistoryRecorder, random: SplitMix64) {
      self.recorder = recorder
      self.random = random
      sequences = Array(repeating: nil, count: recorder.rows.count)
    }

    private var store: Store { recorder.store }
    private mutating func number(below limit: Int) -> Int { Int.random(in: 0..<limit, using: &random) }

    mutating func pause() {
      if number(below: 4) == 0 { sched_yield() }
    }

    /// Makes a call that changes nothing that can be seen.
    mutating func maintain() throws {
      if number(below: 100) == 0 { try store.checkpoint() }
    }

    mutating func call() throws -> RowsModel.Operation {
      switch number(below: 20) {
      case 0..<5: try readOne()
      case 5..<8: try readAll()
      case 8..<10: try readTogether()
      case 10..<12: try scan()
      default: try write()
      }
    }

    // MARK: Reading

    private mutating func readOne() throws -> RowsModel.Operation {
      let row = number(below: recorder.rows.count)
      let (keyspace, key) = recorder.rows[row]
      let sight: RowsModel.Sight
      switch number(below: 4) {
      case 0: sight = try store.contains(key, in: keyspace) ? .something : .nothing
      case 1: sight = try store.get(key, in: keyspace).map { .value(try Payload.number($0)) } ?? .nothing
      case 2:
        sight =
          try store.withValue(key, in: keyspace) { RowsModel.Sight.value(try Payload.number($0.array)) }
          ?? .nothing
      default:
        let found = try store.row(key, in: keyspace)
        sequences[row] = found?.sequence
        sight = try found.map { .row(try RowsModel.Row($0)) } ?? .nothing
      }
      return .read([RowsModel.Reading(row: row, sight: sight)])
    }

    /// Reads all rows of one snapshot, one after the other, in random order.
    mutating func readAll() throws -> RowsModel.Operation {
      let snapshot = store.snapshot()
      defer { snapshot.close() }
      var readings: [RowsModel.Reading] = []
      for row in recorder.rows.indices.shuffled(using: &random) {
        let found = try snapshot.row(recorder.rows[row].key, in: recorder.rows[row].keyspace)
        sequences[row] = found?.sequence
        readings.append(.init(row: row, sight: try found.map { .row(try RowsModel.Row($0)) } ?? .nothing))
        pause()
      }
      return .read(readings, at: snapshot.sequence)
    }

    private mutating func readTogether() throws -> RowsModel.Operation {
      let snapshot = store.snapshot()
      defer { snapshot.close() }
      var readings: [RowsModel.Reading] = []
      for keyspace in Set(recorder.rows.map(\.keyspace)) {
        let rows = recorder.rows.indices.filter { recorder.rows[$0].keyspace == keyspace }
        let values = try snapshot.get(many: rows.map { recorder.rows[$0].key }, in: keyspace)
        for (row, value) in zip(rows, values) {
          readings.append(.init(row: row, sight: try value.map { .value(try Payload.number($0)) } ?? .nothing))
        }
        pause()
      }
      return .read(readings, at: snapshot.sequence)
    }

    private mutating func scan() throws -> RowsModel.Operation {
      let snapshot = store.snapshot()
      defer { snapshot.close() }
      var sights = recorder.rows.map { _ in RowsModel.Sight.nothing }
      for keyspace in Set(recorder.rows.map(\.keyspace)) {
        var count = 0
        let reverse = keyspace.order == .ordered && Bool.random(using: &random)
        try snapshot.scan(in: keyspace, reverse: reverse) { key, value, stamp in
          let key = try Key(encoded: key)
          let row = recorder.rows.firstIndex { $0.keyspace == keyspace && $0.key == key }
          guard let row, sights[row] == .nothing else { throw Mismatch("a scan gave \(key)") }
          sights[row] = .row(
            .init(value: try Payload.number(value.array), version: stamp.version, sequence: stamp.sequence))
          count += 1
          pause()
          return .next
        }
        let expected = try snapshot.count(in: keyspace)
        guard count == expected else { throw Mismatch("a scan gave \(count) rows of \(expected)") }
      }
      return .read(sights.enumerated().map { .init(row: $0, sight: $1) }, at: snapshot.sequence)
    }

    // MARK: Writing

    private mutating func write() throws -> RowsModel.Operation {
      var steps: [RowsModel.Step] = []
      let isConditional = number(below: 3) > 0
      for row in recorder.rows.indices.shuffled(using: &random).prefix(1 + number(below: recorder.rows.count)) {
        let change: RowsModel.Change
        switch number(below: 8) {
        case 0: change = .check
        case 1, 2: change = .delete
        default: change = .put(recorder.values.add(1, ordering: .relaxed).newValue)
        }
        steps.append(
          RowsModel.Step(row: row, change: change, expectation: isConditional ? expectation(row) : .anything))
      }
      let durability: Durability = number(below: 3) == 0 ? .durable : .buffered
      do {
        let sequence = try commit(steps, durability)
        for step in steps where step.change != .check {
          sequences[step.row] = step.change == .delete ? nil : sequence
        }
        return .write(steps, .committed(sequence))
      } catch let error as StoreError where error.code == .conflict {
        let conflicts = try error.conflicts.map { conflict in
          let row = recorder.rows.firstIndex {
            $0.keyspace.name == conflict.keyspace && $0.key == conflict.key
          }
          guard let row else { throw Mismatch("a conflict about \(conflict.key)") }
          sequences[row] = conflict.found
          return RowsModel.Conflict(row: row, expected: conflict.expected, found: conflict.found)
        }
        return .write(steps, .refused(conflicts))
      }
    }

    private mutating func expectation(_ row: Int) -> Expectation {
      switch number(below: 6) {
      case 0: .anything
      case 1: Bool.random(using: &random) ? .absent : .present
      default: sequences[row].map { .sequence($0) } ?? .absent
      }
    }

    private mutating func commit(_ steps: [RowsModel.Step], _ durability: Durability) throws -> CommitSequence {
      let first = steps[0]
      let (keyspace, key) = recorder.rows[first.row]
      let isAlone = steps.count == 1 && Bool.random(using: &random)
      if isAlone, first.change == .delete {
        return try store.delete(key, in: keyspace, expecting: first.expectation, durability)
      }
      if isAlone, case .put(let value) = first.change {
        return try store.put(
          Payload.bytes(value), at: key, in: keyspace, expecting: first.expectation, durability)
      }
      return try store.write(durability: durability) { batch in
        for step in steps {
          let (keyspace, key) = recorder.rows[step.row]
          switch step.change {
          case .put(let value):
            try batch.put(Payload.bytes(value), at: key, in: keyspace, expecting: step.expectation)
          case .delete: try batch.delete(key, in: keyspace, expecting: step.expectation)
          case .check: try batch.check(key, in: keyspace, step.expectation)
          }
        }
      }
    }
  }
}

extension RowsModel.Row {
  fileprivate init(_ row: Row) throws {
    self.init(value: try Payload.number(row.value), version: row.version, sequence: row.sequence)
  }
}

/// Values of various lengths that tell which put they are from, and show when they are torn.
private enum Payload {
  static func bytes(_ number: UInt64) -> [UInt8] {
    let length = [0, 3, 60, 900][Int(number & 3)]
    let noise: UInt8 = number & 4 == 0 ? 0 : 37
    let head = unsafe withUnsafeBytes(of: number.littleEndian) { unsafe Array($0) }
    return head + (0..<length).map { UInt8(truncatingIfNeeded: number) &+ noise &* UInt8(truncatingIfNeeded: $0) }
  }

  static func number(_ bytes: [UInt8]) throws(Mismatch) -> UInt64 {
    let number = bytes.prefix(8).reversed().reduce(0) { $0 << 8 | UInt64($1) }
    guard bytes == self.bytes(number) else { throw Mismatch("a value that nobody has put: \(bytes)") }
    return number
  }
}
