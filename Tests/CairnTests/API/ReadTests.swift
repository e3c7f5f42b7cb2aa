import Cairn
import CairnSimulation
import Testing

@Suite struct ReadTests {
  private let machine = Machine()

  @Test(arguments: [Keyspace.Order.ordered, .unordered]) func everyFormOfReadingAgrees(_ order: Keyspace.Order) throws {
    let store = try machine.open()
    let rows = try store.keyspace("rows", order: order)
    let keys = (0..<100 as Range<Int64>).map { Key.bytes([UInt8]("key \($0)")) }
    var sequences: [CommitSequence] = []
    for (number, key) in keys.enumerated() {
      sequences.append(
        try store.put([UInt8](repeating: UInt8(number), count: number * 7), at: key, in: rows, .buffered))
    }
    let snapshot = store.snapshot()
    for (number, key) in keys.enumerated() {
      let value = [UInt8](repeating: UInt8(number), count: number * 7)
      let row = Row(key, value, version: 1, sequence: sequences[number])
      let bytes = [UInt8]("key \(number)")
      #expect(try store.get(key, in: rows) == value)
      #expect(try store.contains(key, in: rows))
      #expect(try store.row(key, in: rows).map(Row.init) == row)
      #expect(try store.withValue(key, in: rows) { $0.array } == value)
      #expect(try unsafe rows.withValue(bytes: bytes.span.bytes) { $0.array } == value)
      #expect(try snapshot.get(key, in: rows) == value)
      #expect(try snapshot.contains(key, in: rows))
      #expect(try snapshot.row(key, in: rows).map(Row.init) == row)
      #expect(try snapshot.withValue(key, in: rows) { $0.array } == value)
    }
    let asked = (0..<250 as Range<Int64>).map { Key.bytes([UInt8]("key \(($0 * 37) % 130)")) }
    #expect(try snapshot.get(many: asked, in: rows) == asked.map { try store.get($0, in: rows) })
    #expect(try snapshot.get(many: [], in: rows).isEmpty)
    for (key, found) in zip(asked, try snapshot.stampedValues(many: asked, in: rows)) {
      let row = try snapshot.row(key, in: rows)
      let alone = [try store.stampedValue(of: key, in: rows), try snapshot.stampedValue(of: key, in: rows)]
      for found in alone + [found] {
        #expect(found?.value == row?.value)
        #expect(found?.stamp == row.map { RowStamp(version: $0.version, sequence: $0.sequence) })
      }
    }
    #expect(try snapshot.get("none", in: rows) == nil)
    #expect(try snapshot.contains("none", in: rows) == false)
    #expect(try snapshot.row("none", in: rows) == nil)
    #expect(try store.withValue("none", in: rows) { _ in Issue.record("called") } == nil)
    #expect(try snapshot.count(in: rows) == 100)
    #expect(Set(try snapshot.rows(in: rows).map(\.key)) == Set(keys))
  }

  /// `Row` has no public initializer.
  private struct Row: Equatable {
    var key: Key
    var value: [UInt8]
    var version: UInt64
    var sequence: CommitSequence

    init(_ key: Key, _ value: [UInt8], version: UInt64, sequence: CommitSequence) {
      (self.key, self.value, self.version, self.sequence) = (key, value, version, sequence)
    }

    init(_ row: Cairn.Row) {
      self.init(row.key, row.value, version: row.version, sequence: row.sequence)
    }
  }

  @Test func readingAndWritingInsideOfReading() throws {
    let store = try machine.open()
    let rows = try store.keyspace("rows")
    let old = [UInt8].noise(3000)
    let text = [UInt8](repeating: 7, count: 3000)
    try store.write { batch in
      try batch.put(old, at: 1, in: rows)
      try batch.put(text, at: 2, in: rows)
    }
    for (key, value) in [(1, old), (2, text)] as [(Key, [UInt8])] {
      try store.withValue(key, in: rows) { outer in
        try store.put([1], at: key, in: rows)
        #expect(try store.get(key, in: rows) == [1])
        try store.delete(key, in: rows)
        // Write enough to roll segments and to grow the index.
        try store.write(durability: .buffered) { batch in
          for filler in 0..<5000 as Range<Int64> { try batch.put([UInt8].noise(40), at: [.integer(filler)], in: rows) }
        }
        try store.withValue([.integer(4999)], in: rows) { inner in #expect(inner.array == .noise(40)) }
        #expect(outer.array == value)
      }
      #expect(try store.get(key, in: rows) == nil)
    }
  }

  @Test func scanningAndWritingInsideOfScanning() throws {
    let store = try machine.open()
    let rows = try store.keyspace("rows")
    try store.write { batch in
      for key in 0..<1000 as Range<Int64> { try batch.put("old \(key)", at: .integer(key), in: rows) }
    }
    for isReverse in [false, true] {
      var seen: [String] = []
      try store.read { snapshot in
        try snapshot.scan(in: rows, reverse: isReverse) { key, value, _ in
          let key = try Key(encoded: key)
          seen.append(String(decoding: value.array, as: UTF8.self))
          try store.write(durability: .buffered) { batch in
            try batch.put(value.array, at: [key, "copy"], in: rows)
            try batch.delete(key, in: rows)
          }
          let again = store.snapshot()
          #expect(try again.get(key, in: rows) == nil)
          try again.scan(.prefix([key]), in: rows) { _, inner, _ in
            #expect(inner.array == value.array)
            return .next
          }
          return .next
        }
      }
      #expect(seen == (isReverse ? (0..<1000).reversed() : Array(0..<1000)).map { "old \($0)" })
      // Restore the rows.
      try store.write { batch in
        for key in 0..<1000 as Range<Int64> {
          try batch.put("old \(key)", at: .integer(key), in: rows)
          try batch.delete([.integer(key), "copy"], in: rows)
        }
      }
    }
    #expect(store.statistics.olderVersions == 0)
    #expect(try store.read { try $0.count(.all, in: rows) } == 1000)
  }

  @Test func whatAClosureThrowsComesOut() throws {
    let store = try machine.open()
    let rows = try store.keyspace("rows")
    try store.put([1], at: 1, in: rows)
    #expect(throws: CancellationError.self) { try store.withValue(1, in: rows) { _ in throw CancellationError() } }
    #expect(throws: CancellationError.self) { try store.read { _ in throw CancellationError() } }
    #expect(throws: CancellationError.self) {
      try store.read { try $0.scan(in: rows) { _, _, _ in throw CancellationError() } }
    }
    #expect(store.statistics.snapshots == 0)
  }

  @Test("D14: Reading a record with a changed byte throws `corrupted`.") func aDamagedRecord() throws {
    let store = try machine.open()
    let rows = try store.keyspace("rows")
    try store.put([UInt8]("precious"), at: "k", in: rows)
    try store.put([UInt8]("other"), at: "l", in: rows)
    let path = Machine.segment(1)
    let bytes = try #require(machine.files.contents[path])
    let offset = try #require(bytes.firstRange(of: [UInt8]("precious"))?.lowerBound)
    let file = try machine.files.open(path, .readWrite)
    try file.write([UInt8]("pretious"), at: offset)
    for error in [
      failure { _ = try store.get("k", in: rows) }, failure { _ = try store.row("k", in: rows) },
      failure { _ = try store.withValue("k", in: rows) { _ in } },
      failure { _ = try store.read { try $0.get("k", in: rows) } },
      failure { _ = try store.read { try $0.rows(in: rows) } },
      failure { _ = try store.read { try $0.get(many: ["l", "k"], in: rows) } },
    ] {
      #expect(error?.code == .corrupted)
      let place = try #require(error?.place)
      #expect(place.segment == 1 && place.offset < offset && place.offset > offset - 64)
    }
    #expect(try store.get("l", in: rows) == [UInt8]("other"))
    #expect(store.statistics.snapshots == 0)
  }
}
