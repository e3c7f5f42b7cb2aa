import Cairn
import CairnSimulation
import Testing

@Suite struct RangeTests {
  private let machine = Machine()

  /// Keys whose order is hard to get right, sorted.
  private static let keys: [Key] = {
    let long = String(repeating: "p", count: 150)
    let zeros = (0..<20).map { Key.bytes([1, 2] + [UInt8](repeating: 0, count: $0)) }
    let longZeros = (0..<20).map { Key.string(long + String(repeating: "\0", count: $0)) }
    let others: [Key] = [
      .integer(.min), -65_536, -1, 0, 1, 255, 256, .integer(.max), "", "\0", "a", "a\0", "a\0\0", "a\u{1}", "aa", "b",
      .string(long), .string(long + "a"), .string(long + "b"), .string(long + "b\0"), .string(long + long),
      .string("q"),
      .uuid(0), .uuid(1), .uuid(.max), .bytes([]), .bytes([0]), .bytes([0, 0]), .bytes([0xFF]), .bytes([0xFF, 0xFF]),
      [],
      [0], ["", ""], ["", 0], ["a"], ["a", 0], ["a", 1], ["a", "b"], ["a\0"], ["a\0", 1], ["a", []], ["a", [1], 1],
      ["b"], [.bytes([0])], [.bytes([0, 0])], [.bytes([0]), 1], [[]], [[], 1], [[1], 1], [[1, 2]],
    ]
    return Set(others + zeros + longZeros).sorted()
  }()

  private func filled(_ count: Int = 0) throws -> (Store, Keyspace, [Key]) {
    let store = try machine.open()
    let rows = try store.keyspace("rows")
    var all = Set(Self.keys)
    for number in 0..<count {
      all.insert(.string("filler " + String(number % 7) + String(repeating: "f", count: 120) + "\(number)"))
    }
    try store.write { batch in
      // The order of this set is arbitrary.
      for key in all { try batch.put(key.encoded, at: key, in: rows) }
    }
    return (store, rows, all.sorted())
  }

  private func ranges(_ keys: [Key]) -> [(KeyRange, (Key) -> Bool)] {
    var ranges: [(KeyRange, (Key) -> Bool)] = [(.all, { _ in true })]
    for one in keys {
      ranges.append((.from(one), { $0 >= one }))
      ranges.append((.after(one), { $0 > one }))
      ranges.append((.before(one), { $0 < one }))
      ranges.append((.through(one), { $0 <= one }))
      ranges.append((.prefix(one), { $0.begins(with: one) }))
      ranges.append((KeyRange(one..<one), { _ in false }))
      ranges.append((KeyRange(one...one), { $0 == one }))
    }
    for (one, other) in zip(keys, keys.dropFirst(3)) {
      ranges.append((KeyRange(one..<other), { $0 >= one && $0 < other }))
      ranges.append((KeyRange(one...other), { $0 >= one && $0 <= other }))
    }
    return ranges
  }

  @Test(arguments: [0, 1000]) func everyRangeInBothDirections(_ fillers: Int) throws {
    let (store, rows, all) = try filled(fillers)
    let snapshot = store.snapshot()
    for (position, (range, contains)) in ranges(Self.keys).enumerated() where fillers == 0 || position % 13 == 0 {
      let expected = all.filter(contains)
      #expect(try snapshot.rows(range, in: rows).map(\.key) == expected, "\(range)")
      #expect(try snapshot.rows(range, in: rows, reverse: true).map(\.key) == expected.reversed(), "\(range)")
      #expect(try snapshot.count(range, in: rows) == expected.count)
      for limit in [0, 1, 2, expected.count, expected.count + 1] {
        #expect(try snapshot.rows(range, in: rows, limit: limit).map(\.key) == Array(expected.prefix(limit)))
        #expect(
          try snapshot.rows(range, in: rows, reverse: true, limit: limit).map(\.key)
            == Array(expected.reversed().prefix(limit)))
      }
    }
  }

  @Test("Bounds of a range need not be rows.") func boundsThatAreNoRows() throws {
    let (store, rows, _) = try filled()
    for key in Self.keys where Self.keys.firstIndex(of: key)! % 2 == 0 {
      try store.delete(key, in: rows, .buffered)
    }
    let left = try store.read { try $0.rows(in: rows) }.map(\.key)
    #expect(left.count == Self.keys.count / 2)
    for (range, contains) in ranges(Self.keys) {
      let expected = left.filter(contains)
      #expect(try store.read { try $0.rows(range, in: rows) }.map(\.key) == expected, "\(range)")
      #expect(
        try store.read { try $0.rows(range, in: rows, reverse: true) }.map(\.key) == expected.reversed(),
        "\(range)")
    }
  }

  @Test func aScanStopsWhenToldOrAtItsLimit() throws {
    let (store, rows, all) = try filled()
    for isReverse in [false, true] {
      for stop in [1, 2, 17] {
        var seen: [Key] = []
        try store.read { snapshot in
          try snapshot.scan(in: rows, reverse: isReverse) { key, value, stamp in
            seen.append(try Key(encoded: key))
            #expect(value.array == key.array)
            #expect(stamp.version == 1 && stamp.sequence == snapshot.sequence)
            return seen.count == stop ? .stop : .next
          }
          #expect(seen == Array((isReverse ? all.reversed() : all).prefix(stop)))
          seen = []
          try snapshot.scan(in: rows, reverse: isReverse, limit: stop) { key, _, _ in
            seen.append(try Key(encoded: key))
            return .next
          }
          #expect(seen == Array((isReverse ? all.reversed() : all).prefix(stop)))
        }
      }
    }
    try store.read { try $0.scan(in: rows, limit: 0) { _, _, _ in throw CancellationError() } }
  }

  @Test("Rows whose keys differ only at their ends are scanned in order.") func rowsThatBeginAsOthersEnd() throws {
    let store = try machine.open()
    let rows = try store.keyspace("rows")
    var all: [Key] = []
    for length in 0..<300 {
      for last in 0..<8 as Range<UInt8> { all.append(.bytes([UInt8](repeating: 3, count: length) + [last])) }
    }
    try store.write { batch in for key in all { try batch.put(key.encoded, at: key, in: rows) } }
    let expected = Set(all).sorted()
    #expect(try store.read { try $0.rows(in: rows) }.map(\.key) == expected)
    #expect(try store.read { try $0.rows(in: rows) }.allSatisfy { $0.key.encoded == $0.value })
  }

  @Test("Scanning an empty keyspace finds nothing.") func nothingInAnEmptyKeyspace() throws {
    let store = try machine.open()
    let rows = try store.keyspace("rows")
    func isEmpty() throws -> Bool {
      try store.read { snapshot in
        try ranges(Self.keys).allSatisfy { range, _ in
          try snapshot.rows(range, in: rows).isEmpty && snapshot.rows(range, in: rows, reverse: true).isEmpty
        }
      }
    }
    #expect(try isEmpty())
    try store.put([1], at: 1, in: rows)
    try store.delete(1, in: rows)
    #expect(try isEmpty())
  }

  @Test("An unordered keyspace is scanned as a whole, and refuses ranges.")
  func anUnorderedKeyspaceIsWalkedAsAWholeAndRefusesRanges() throws {
    let store = try machine.open()
    let rows = try store.keyspace("rows", order: .unordered)
    var expected: [Key: [UInt8]] = [:]
    try store.write { batch in
      for key in 0..<5000 as Range<Int64> {
        expected[.integer(key)] = [UInt8]("\(key)")
        try batch.put("\(key)", at: .integer(key), in: rows)
      }
    }
    func check(_ snapshot: Snapshot) throws {
      let found = try snapshot.rows(in: rows)
      #expect(found.count == expected.count)
      #expect(Dictionary(found.map { ($0.key, $0.value) }) { first, _ in first } == expected)
      #expect(try snapshot.count(.all, in: rows) == expected.count)
      #expect(try snapshot.rows(in: rows, limit: 10).count == 10)
      for error in [
        failure { _ = try snapshot.rows(.from(1), in: rows) },
        failure { _ = try snapshot.rows(in: rows, reverse: true) },
        failure { _ = try snapshot.count(.prefix(1), in: rows) },
        failure { try snapshot.scan(KeyRange(1..<2), in: rows) { _, _, _ in .next } },
      ] {
        #expect(error?.code == .notOrdered)
      }
    }
    let snapshot = store.snapshot()
    try check(snapshot)
    try store.write { batch in
      for key in 0..<6000 as Range<Int64> {
        if key % 3 == 0 {
          try batch.delete(.integer(key), in: rows)
        } else {
          try batch.put("new", at: .integer(key), in: rows)
        }
      }
    }
    try check(snapshot)
    snapshot.close()
    expected = [:]
    for key in 0..<6000 as Range<Int64> where key % 3 != 0 { expected[.integer(key)] = [UInt8]("new") }
    try store.read(check)
  }
}
