import Cairn
import CairnSimulation
import Testing

/// Random programs, compared with a dictionary that holds the expected state.
@Suite struct StoreModelTests {
  enum Shape: UInt64, CaseIterable {
    case random, sharedPrefix, sequential, tuples, zeros, mixed
  }

  @Test("A store equals a dictionary after any sequence of operations.", arguments: Shape.allCases)
  func programs(_ shape: Shape) throws {
    let seed = chooseSeed("programs(\(shape))")
    for round in 0..<UInt64(chooseRounds(700, debug: 8)) {
      var program = try Program(shape, seed: seed &+ round &* 0x1234_5678_9ABC_DEF1)
      do {
        try program.run()
      } catch let problem as Problem {
        Issue.record("\(shape), CAIRN_SEED=\(seed &+ round &* 0x1234_5678_9ABC_DEF1), step \(program.step): \(problem)")
        return
      }
    }
  }

  struct Problem: Error, CustomStringConvertible {
    var description: String
  }

  struct Saved: Equatable {
    var value: [UInt8]
    var version: UInt64
    var sequence: CommitSequence
  }

  typealias State = [[Key: Saved]]

  struct Program {
    private var random: SplitMix64
    private var machine: Machine
    private var store: Store
    private var keyspaces: [Keyspace] = []
    private let keys: [Key]
    private var state: State = [[:], [:]]
    private var snapshots: [(Snapshot, State)] = []
    /// The state after each commit that a crash may go back to.
    private var history: [CommitSequence: State] = [:]
    private var highest: CommitSequence = 0
    private(set) var step = 0

    init(_ shape: Shape, seed: UInt64) throws {
      random = SplitMix64(seed: seed)
      keys = Program.keys(shape, &random)
      machine = Machine(seed: random.next())
      store = try machine.open()
      history[0] = state
      try findKeyspaces()
    }

    private static func keys(_ shape: Shape, _ random: inout SplitMix64) -> [Key] {
      let count = Int.random(in: 1...250, using: &random)
      let prefix = [UInt8].noise(Int.random(in: 90...300, using: &random), seed: random.next())
      return (0..<count).map { number in
        var shape = shape
        if shape == .mixed { shape = Shape(rawValue: .random(in: 0..<5, using: &random)) ?? .random }
        switch shape {
        case .random, .mixed: return .bytes(.noise(Int.random(in: 0...30, using: &random), seed: random.next()))
        case .sharedPrefix:
          return .bytes(prefix + [UInt8].noise(Int.random(in: 0...12, using: &random), seed: random.next() % 9))
        case .sequential: return .integer(Int64(number) - 100)
        case .tuples:
          return [
            .integer(.random(in: -3...3, using: &random)), .string(String(repeating: "t", count: number % 20)),
            .integer(Int64(number % 40)),
          ]
        case .zeros:
          let zeros = [UInt8](repeating: 0, count: Int.random(in: 0...40, using: &random))
          return .bytes([UInt8](prefix.prefix(Int.random(in: 0...2, using: &random) * 45)) + zeros)
        }
      }
    }

    private mutating func findKeyspaces() throws {
      keyspaces = [try store.keyspace("ordered"), try store.keyspace("unordered", order: .unordered)]
    }

    mutating func run() throws {
      for number in 0..<Int.random(in: 1...70, using: &random) {
        step = number
        switch Int.random(in: 0..<40, using: &random) {
        case 0..<16: try write()
        case 16..<18: snapshots.append((store.snapshot(), state))
        case 18..<20:
          if !snapshots.isEmpty { snapshots.remove(at: .random(in: 0..<snapshots.count, using: &random)).0.close() }
        case 20..<26: try scan()
        case 26..<29: try get()
        case 29: machine.runBackground()
        case 30: machine.runOneInBackground()
        case 31:
          try store.sync()
          try check(store.durableSequence == store.lastSequence, "synced to \(store.durableSequence)")
        case 32..<34: try reopen()
        case 34..<37: try crash()
        case 37: try kill()
        default: try compare(store.snapshot(), state)
        }
      }
      try compare(store.snapshot(), state)
      for (snapshot, state) in snapshots {
        try compare(snapshot, state)
        snapshot.close()
      }
      try check(store.statistics.olderVersions == 0, "\(store.statistics.olderVersions) versions left over")
      try check(store.statistics.rows == state[0].count + state[1].count, "\(store.statistics.rows) rows")
      try check(store.statistics.liveBytes <= store.statistics.logBytes, "more lives than there is")
      try reopen()
      try compare(store.snapshot(), state)
    }

    private func check(_ holds: Bool, _ problem: @autoclosure () -> String) throws {
      if !holds { throw Problem(description: problem()) }
    }

    private mutating func key() -> Key { keys.randomElement(using: &random) ?? 0 }

    private mutating func value() -> [UInt8] {
      let count = Int.random(in: 0..<20, using: &random) == 0 ? 20_000 : Int.random(in: 0...90, using: &random)
      return Bool.random(using: &random)
        ? .noise(count, seed: random.next()) : [UInt8](repeating: .random(in: 0...255, using: &random), count: count)
    }

    private mutating func expectation(_ saved: Saved?) -> Cairn.Expectation {
      switch Int.random(in: 0..<24, using: &random) {
      case 0: .absent
      case 1: .present
      case 2: .sequence(saved?.sequence ?? 1)
      case 3: .sequence(3)
      case 4..<7: saved == nil ? .absent : .present
      default: .anything
      }
    }

    private func holds(_ expectation: Cairn.Expectation, _ saved: Saved?) -> Bool {
      switch expectation {
      case .anything: true
      case .absent: saved == nil
      case .present: saved != nil
      case .sequence(let sequence): saved?.sequence == sequence
      }
    }

    private mutating func write() throws {
      let durability: Durability = Int.random(in: 0..<3, using: &random) == 0 ? .durable : .buffered
      var next: [Int: [Key: [UInt8]?]] = [:]
      var expected: [String] = []
      var changes: [(Int, Key, [UInt8]??, Cairn.Expectation)] = []
      for _ in 0..<Int.random(in: 0...25, using: &random) {
        let keyspace = Int.random(in: 0...1, using: &random)
        let key = key()
        let saved = state[keyspace][key]
        let expectation = expectation(saved)
        if !holds(expectation, saved) {
          expected.append("\(keyspaces[keyspace].name) \(key) \(expectation) \(saved?.sequence ?? 0)")
        }
        switch Int.random(in: 0..<8, using: &random) {
        case 0: changes.append((keyspace, key, nil, expectation))
        case 1..<4:
          changes.append((keyspace, key, .some(nil), expectation))
          next[keyspace, default: [:]][key] = .some(nil)
        default:
          let value = value()
          changes.append((keyspace, key, value, expectation))
          next[keyspace, default: [:]][key] = value
        }
      }
      var found: [String] = []
      var sequence: CommitSequence = 0
      let before = store.lastSequence
      let error = failure {
        sequence = try store.write(durability: durability) { batch in
          for (keyspace, key, change, expectation) in changes {
            switch change {
            case .none: try batch.check(key, in: keyspaces[keyspace], expectation)
            case .some(.none): try batch.delete(key, in: keyspaces[keyspace], expecting: expectation)
            case .some(.some(let value)):
              try batch.put(value, at: key, in: keyspaces[keyspace], expecting: expectation)
            }
          }
        }
      }
      if let error {
        try check(error.code == .conflict, "\(error)")
        found = error.conflicts.map { "\($0.keyspace) \($0.key) \($0.expected) \($0.found ?? 0)" }
      }
      try check(found == expected, "conflicts: \(found), not \(expected)")
      guard error == nil else {
        return try check(store.lastSequence == before, "a conflict took a sequence")
      }
      var changesSomething = false
      for (keyspace, rows) in next {
        for (key, value) in rows {
          let saved = state[keyspace][key]
          if let value {
            state[keyspace][key] = Saved(value: value, version: (saved?.version ?? 0) + 1, sequence: sequence)
            changesSomething = true
          } else {
            state[keyspace][key] = nil
            if saved != nil { changesSomething = true }
          }
        }
      }
      if changesSomething {
        try check(sequence > highest, "sequence \(sequence) after \(highest)")
        highest = sequence
      } else {
        try check(sequence == before, "nothing took sequence \(sequence)")
      }
      history[sequence] = state
      try check(store.lastSequence == sequence, "last sequence \(store.lastSequence), not \(sequence)")
      if durability == .durable && changesSomething {
        try check(store.durableSequence >= sequence, "\(sequence) is not durable")
      }
    }

    private func compare(_ snapshot: Snapshot, _ state: State) throws {
      for keyspace in 0...1 {
        var found: [Key: Saved] = [:]
        var last: Key?
        for row in try snapshot.rows(in: keyspaces[keyspace]) {
          try check(
            found.updateValue(
              Saved(value: row.value, version: row.version, sequence: row.sequence), forKey: row.key) == nil,
            "\(row.key) twice")
          if keyspace == 0, let last { try check(last < row.key, "\(row.key) after \(last)") }
          last = row.key
        }
        if found != state[keyspace] {
          let all = Set(found.keys).union(state[keyspace].keys)
          let wrong = all.filter { found[$0] != state[keyspace][$0] }.sorted().prefix(3)
          throw Problem(
            description: "\(keyspaces[keyspace].name): "
              + wrong.map { "\($0) is \(found[$0] as Any), not \(state[keyspace][$0] as Any)" }.joined(separator: "; "))
        }
        try check(try snapshot.count(in: keyspaces[keyspace]) == found.count, "wrong count")
        try check(try snapshot.count(.all, in: keyspaces[keyspace]) == found.count, "wrong count")
      }
    }

    private mutating func anySnapshot() -> (Snapshot, State) {
      let index = Int.random(in: 0...snapshots.count, using: &random)
      return index == snapshots.count ? (store.snapshot(), state) : snapshots[index]
    }

    private mutating func scan() throws {
      let (snapshot, state) = anySnapshot()
      let one = key()
      let other = max(one, key())
      let range: KeyRange
      let contains: (Key) -> Bool
      switch Int.random(in: 0..<8, using: &random) {
      case 0: (range, contains) = (.from(one), { $0 >= one })
      case 1: (range, contains) = (.after(one), { $0 > one })
      case 2: (range, contains) = (.before(one), { $0 < one })
      case 3: (range, contains) = (.through(one), { $0 <= one })
      case 4: (range, contains) = (.prefix(one), { $0.begins(with: one) })
      case 5: (range, contains) = (KeyRange(one..<other), { $0 >= one && $0 < other })
      case 6: (range, contains) = (KeyRange(one...other), { $0 >= one && $0 <= other })
      default: (range, contains) = (.all, { _ in true })
      }
      let isReverse = Bool.random(using: &random)
      let limit = Bool.random(using: &random) ? Int.max : Int.random(in: 0...30, using: &random)
      let expected = state[0].keys.filter(contains).sorted()
      let found = try snapshot.rows(range, in: keyspaces[0], reverse: isReverse, limit: limit)
      try check(
        found.map(\.key) == Array((isReverse ? expected.reversed() : expected).prefix(limit)),
        "scan \(isReverse) \(limit) gave \(Self.short(found.map(\.key))), not \(Self.short(expected)); "
          + "bounds \(Self.short([one, other]))"
      )
      for row in found {
        try check(state[0][row.key]?.value == row.value, "scan gave a wrong value of \(row.key)")
      }
      try check(try snapshot.count(range, in: keyspaces[0]) == expected.count, "wrong count of \(range)")
    }

    private static func short(_ keys: [Key]) -> String {
      keys.map { "\($0.encoded.count)…\($0.encoded.suffix(4))" }.joined(separator: " ")
    }

    private mutating func get() throws {
      let (snapshot, state) = anySnapshot()
      let keyspace = Int.random(in: 0...1, using: &random)
      let asked = (0..<Int.random(in: 0...40, using: &random)).map { _ in key() }
      let expected = asked.map { state[keyspace][$0]?.value }
      try check(try snapshot.get(many: asked, in: keyspaces[keyspace]) == expected, "get(many:)")
      for (key, value) in zip(asked, expected) {
        try check(try snapshot.get(key, in: keyspaces[keyspace]) == value, "get \(key)")
        let row = try store.row(key, in: keyspaces[keyspace])
        let now = self.state[keyspace][key]
        try check(
          row.map { Saved(value: $0.value, version: $0.version, sequence: $0.sequence) } == now, "row \(key)")
        try check(try store.contains(key, in: keyspaces[keyspace]) == (now != nil), "contains \(key)")
        try check(
          try store.withValue(key, in: keyspaces[keyspace]) { $0.array } == now?.value, "value of \(key)")
      }
    }

    private mutating func reopen() throws {
      for (snapshot, _) in snapshots { snapshot.close() }
      snapshots = []
      let last = store.lastSequence
      // A tail that was torn by a crash stays in place until something is written.
      let torn = store.statistics.commits == 0 ? store.recovery.discardedBytes : 0
      try store.close()
      store = try machine.open()
      try check(store.lastSequence == last, "reopened at \(store.lastSequence), not \(last)")
      try check(store.recovery.discardedBytes == torn, "reopening discarded \(store.recovery.discardedBytes) bytes")
      try findKeyspaces()
    }

    private mutating func kill() throws {
      let next = try machine.kill()
      let last = store.lastSequence
      try move(to: next)
      try check(store.lastSequence == last, "killed at \(last), reopened at \(store.lastSequence)")
    }

    private mutating func crash() throws {
      let durable = store.durableSequence
      let next = Bool.random(using: &random) ? machine.crash() : machine.crash(using: &random)
      try move(to: next)
      try check(store.lastSequence >= durable, "durable up to \(durable), found \(store.lastSequence)")
      // If none of the commits of the newest epoch is left, the state is that of the commit before the epoch.
      let last = history.keys.filter { $0 <= store.lastSequence }.max() ?? 0
      try check(
        last == store.lastSequence || store.lastSequence.rawValue % 1_000_000_000 == 0,
        "\(store.lastSequence) was never a commit")
      history = history.filter { $0.key <= last }
      guard let then = history[last] else { throw Problem(description: "nothing is left") }
      state = then
      try compare(store.snapshot(), state)
    }

    private mutating func move(to next: Machine) throws {
      snapshots = []
      machine = next
      store = try machine.open()
      try findKeyspaces()
    }
  }
}
