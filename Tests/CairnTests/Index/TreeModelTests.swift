import Cairn
import CairnSimulation
import Testing

/// Many rows in one ordered keyspace, most of them deleted in random order and inserted again.
@Suite struct TreeModelTests {
  enum Shape: CaseIterable {
    case random, sequential, reversed, longPrefixes, nestedPrefixes, trailingZeros, tied, texts
  }

  private func key(_ shape: Shape, _ number: Int) -> Key {
    func digits(_ count: Int) -> [UInt8] {
      (0..<count).reversed().map { UInt8(truncatingIfNeeded: number >> (8 * $0)) }
    }
    switch shape {
    case .random: return .bytes([UInt8].noise(4 + number % 30, seed: UInt64(number)) + digits(3))
    case .sequential: return .integer(Int64(number))
    case .reversed: return .integer(-Int64(number))
    case .longPrefixes: return .bytes([UInt8](repeating: 0x61, count: 250 + number % 5 * 7) + digits(3))
    // Each group of rows begins with the same bytes as the group before and goes on for longer.
    case .nestedPrefixes: return .bytes([UInt8](repeating: 1, count: number % 300) + [2] + digits(3))
    case .trailingZeros: return .bytes(digits(2).prefix(1) + [UInt8](repeating: 0, count: number >> 8))
    // Many rows share a head; their keys differ only after it.
    case .tied: return .bytes([UInt8](repeating: UInt8(number % 3), count: 20) + digits(4))
    case .texts: return ["entity", .string("name \(number % 97)"), .integer(Int64(number))]
    }
  }

  @Test("G9: Scans are correct while a tree grows, shrinks and grows again.", arguments: Shape.allCases)
  func growShrinkGrow(_ shape: Shape) throws {
    let seed = chooseSeed("growShrinkGrow(\(shape))")
    var random = SplitMix64(seed: seed)
    let count = shape == .trailingZeros ? 256 * chooseRounds(60, debug: 6) : chooseRounds(40_000, debug: 1500)
    let machine = Machine(seed: seed)
    var options = Machine.options
    options.segmentSize = 4 << 20
    let store = try machine.open(options)
    let rows = try store.keyspace("rows")
    var all = (0..<count).map { key(shape, $0) }
    if shape != .sequential && shape != .reversed { all.shuffle(using: &random) }
    var present: Set<Key> = []

    func check(_ phase: String) throws {
      let expected = present.sorted()
      let snapshot = store.snapshot()
      let forwards = try keys(snapshot, rows, reverse: false)
      let backwards = try keys(snapshot, rows, reverse: true)
      guard forwards == expected, backwards == expected.reversed() else {
        Issue.record("\(phase), CAIRN_SEED=\(seed): \(forwards.count) and \(backwards.count) rows of \(expected.count)")
        throw CancellationError()
      }
      for _ in 0..<200 {
        let one = all.randomElement(using: &random) ?? 0
        let start = expected.firstIndex { $0 >= one } ?? expected.count
        #expect(
          try snapshot.rows(.from(one), in: rows, limit: 5).map(\.key) == Array(expected[start...].prefix(5)))
        #expect(
          try snapshot.rows(.before(one), in: rows, reverse: true, limit: 5).map(\.key)
            == Array(expected[..<start].reversed().prefix(5)))
        if shape != .trailingZeros {
          #expect(try store.contains(one, in: rows) == present.contains(one))
        }
      }
    }
    func change(_ keys: some Sequence<Key>, isPut: Bool) throws {
      var iterator = keys.makeIterator()
      var isDone = false
      while !isDone {
        try store.write(durability: .buffered) { batch in
          for _ in 0..<500 {
            guard let key = iterator.next() else {
              isDone = true
              return
            }
            if isPut {
              try batch.put([1], at: key, in: rows)
              present.insert(key)
            } else {
              try batch.delete(key, in: rows)
              present.remove(key)
            }
          }
        }
      }
    }

    try change(all, isPut: true)
    try check("filled")
    for round in 1...3 {
      let removed = all.shuffled(using: &random).prefix(count * 9 / 10)
      let held = round == 2 ? store.snapshot() : nil
      let before = present
      try change(removed, isPut: false)
      try check("emptied, round \(round)")
      if let held {
        let found = try keys(held, rows, reverse: false)
        #expect(found == before.sorted())
        held.close()
        try check("released, round \(round)")
      }
      try change(round == 1 ? removed.reversed() : removed.shuffled(using: &random), isPut: true)
      try check("filled again, round \(round)")
    }
    try change(all.shuffled(using: &random), isPut: false)
    try check("empty")
    try change(all.prefix(count / 40), isPut: true)
    try check("some")
    #expect(store.statistics.olderVersions == 0)
  }

  private func keys(_ snapshot: Snapshot, _ rows: Keyspace, reverse: Bool) throws -> [Key] {
    var found: [Key] = []
    try snapshot.scan(in: rows, reverse: reverse) { key, _, _ in
      found.append(try Key(encoded: key))
      return .next
    }
    return found
  }

  /// Separators are as long as keys can be. Runs on the real file system, with 200 MB.
  @Test("G9: A tree finds keys of 65,536 bytes that differ only at their ends.") func longestKeys() throws {
    try withTemporaryDirectory { directory in
      let store = try Store.open(at: "\(directory)/store")
      let rows = try store.keyspace("rows")
      let shared = [UInt8](repeating: 7, count: 65_533)
      let count = chooseRounds(300, debug: 70)
      for number in 0..<count {
        try store.put([1], at: .bytes(shared + [UInt8(number >> 8), UInt8(number & 0xFF)]), in: rows, .buffered)
      }
      #expect(try store.read { try $0.count(.all, in: rows) } == count)
      let last = try store.read { try $0.rows(in: rows, reverse: true, limit: 1) }
      #expect(last.map(\.key) == [.bytes(shared + [UInt8((count - 1) >> 8), UInt8((count - 1) & 0xFF)])])
    }
  }

  @Test("G9: A tree can have many separators of 60,000 bytes that share few bytes.") func longSeparators() throws {
    try withTemporaryDirectory { directory in
      let store = try Store.open(at: "\(directory)/store")
      let rows = try store.keyspace("rows")
      // The keys share 300 bytes, so that no head tells them apart: 60 groups of 60 long keys.
      let front = [UInt8](repeating: 7, count: 300)
      let count = chooseRounds(60, debug: 2)
      for group in 0..<count {
        let shared = front + [UInt8(group)] + [UInt8](repeating: UInt8(group), count: 60_000)
        try store.write(durability: .buffered) { batch in
          for number in 0..<60 { try batch.put([1], at: .bytes(shared + [UInt8(number)]), in: rows) }
        }
      }
      #expect(try store.read { try $0.count(.all, in: rows) } == 60 * count)
    }
  }
}
