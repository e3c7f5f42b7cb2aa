import Cairn
import CairnSimulation
import Testing

@Suite struct BatchTests {
  private let machine = Machine()

  @Test("G3: A batch over several keyspaces is applied as a whole, also after reopening.")
  func atomicAcrossKeyspaces() throws {
    var store = try machine.open()
    let people = try store.keyspace("people")
    let towns = try store.keyspace("towns", order: .unordered)
    try store.write { batch in
      try batch.put("Ada", at: 1, in: people)
      try batch.put("London", at: "town", in: towns)
    }
    #expect(throws: CancellationError.self) {
      try store.write { batch in
        try batch.put("Bob", at: 2, in: people)
        try batch.delete("town", in: towns)
        throw CancellationError()
      }
    }
    for _ in 0..<2 {
      #expect(try store.texts(try store.keyspace("people")) == ["1=Ada"])
      #expect(try store.texts(try store.keyspace("towns", order: .unordered)) == ["\"town\"=London"])
      try store.close()
      store = try machine.open()
    }
  }

  @Test func theLastOfSeveralChangesOfARowCounts() throws {
    let store = try machine.open()
    let rows = try store.keyspace("rows")
    try store.put([UInt8]("kept"), at: 3, in: rows)
    let before = store.statistics.logBytes
    try store.write { batch in
      try batch.put("one", at: 1, in: rows)
      try batch.put("two", at: 1, in: rows)
      try batch.put("here", at: 2, in: rows)
      try batch.delete(2, in: rows)
      try batch.delete(3, in: rows)
      try batch.put("again", at: 3, in: rows)
    }
    #expect(try store.texts(rows) == ["1=two", "3=again"])
    #expect(try store.row(1, in: rows)?.version == 1)
    #expect(try store.row(3, in: rows)?.version == 2)
    // One frame, with a record for each of the two rows and no others.
    #expect(store.statistics.logBytes - before < 48 + 2 * 32)
  }

  @Test func duplicatesAreFoundInABatchOfAnySize() throws {
    let store = try machine.open()
    let rows = try store.keyspace("rows")
    for count in [2, 31, 32, 33, 34, 127, 128, 129, 5000] {
      try store.write { batch in
        for round in 0..<3 {
          for key in 0..<count { try batch.put("\(count) \(round)", at: .integer(Int64(key)), in: rows) }
        }
      }
      #expect(try store.read { try $0.count(in: rows) } == count)
      for row in try store.read({ try $0.rows(in: rows) }) { #expect(row.value == [UInt8]("\(count) 2")) }
      try store.write { batch in for key in 0..<count { try batch.delete(.integer(Int64(key)), in: rows) } }
    }
  }

  @Test func theSameKeyInTwoKeyspacesIsTwoRows() throws {
    let store = try machine.open()
    let one = try store.keyspace("one")
    let two = try store.keyspace("two")
    try store.write { batch in
      try batch.put("1", at: "k", in: one)
      try batch.put("2", at: "k", in: two)
      try batch.delete("k", in: one)
    }
    #expect(try store.get("k", in: one) == nil)
    #expect(try store.get("k", in: two) == [UInt8]("2"))
  }

  @Test func aBatchThatChangesNothingTakesNoSequence() throws {
    let store = try machine.open()
    let rows = try store.keyspace("rows")
    let sequence = try store.put([1], at: 1, in: rows)
    let before = machine.contents
    #expect(try store.write { _ in } == sequence)
    #expect(try store.delete(2, in: rows) == sequence)
    #expect(try store.write { try $0.check(1, in: rows, .present) } == sequence)
    #expect(
      try store.write { batch in
        try batch.put([2], at: 5, in: rows)
        try batch.delete(5, in: rows)
      } == sequence)
    #expect(machine.contents == before)
    #expect(store.lastSequence == sequence)
    #expect(try store.put([1], at: 1, in: rows) == sequence + 1)
  }

  @Test func aRowHasTheSequenceOfItsCommit() throws {
    let store = try machine.open()
    let rows = try store.keyspace("rows")
    for round in 1...5 as ClosedRange<UInt64> {
      let sequence = try store.write { batch in
        for key in 0..<3 as Range<Int64> { try batch.put([UInt8(round)], at: .integer(key), in: rows) }
      }
      #expect(store.lastSequence == sequence)
      #expect(store.durableSequence == sequence)
      for key in 0..<3 as Range<Int64> {
        let row = try #require(try store.row(.integer(key), in: rows))
        #expect(row.sequence == sequence)
        #expect(row.version == round)
        #expect(row.key == .integer(key))
      }
    }
  }

  @Test func versionsBeginAgainAfterADelete() throws {
    var store = try machine.open()
    func version() throws -> UInt64? { try store.row("k", in: store.keyspace("rows"))?.version }
    func reopen() throws {
      try store.close()
      store = try machine.open()
    }
    for expected in 1...3 as ClosedRange<UInt64> {
      try store.put([1], at: "k", in: store.keyspace("rows"))
      #expect(try version() == expected)
    }
    try reopen()
    #expect(try version() == 3)
    try store.put([1], at: "k", in: store.keyspace("rows"))
    #expect(try version() == 4)
    try store.delete("k", in: store.keyspace("rows"))
    #expect(try version() == nil)
    try store.put([1], at: "k", in: store.keyspace("rows"))
    #expect(try version() == 1)
    // Also while a snapshot keeps the row before the delete.
    let snapshot = store.snapshot()
    try store.delete("k", in: store.keyspace("rows"))
    try store.put([1], at: "k", in: store.keyspace("rows"))
    try store.put([1], at: "k", in: store.keyspace("rows"))
    #expect(try version() == 2)
    snapshot.close()
    #expect(try version() == 2)
    try reopen()
    #expect(try version() == 2)
  }

  @Test func valuesOfEverySizeComeBack() throws {
    var store = try machine.open()
    let sizes = [0, 1, 7, 8, 39, 40, 41, 127, 128, 1000, 16_383, 16_384, 65_535, 65_536, 65_537, 1 << 20, 3_000_001]
    func check() throws {
      let rows = try store.keyspace("rows")
      for size in sizes {
        #expect(try store.get([.integer(Int64(size)), 0], in: rows) == [UInt8](repeating: 5, count: size), "\(size)")
        #expect(try store.get([.integer(Int64(size)), 1], in: rows) == [UInt8].noise(size), "\(size)")
      }
    }
    try store.write { batch in
      let rows = try store.keyspace("rows")
      for size in sizes {
        try batch.put([UInt8](repeating: 5, count: size), at: [.integer(Int64(size)), 0], in: rows)
        try batch.put([UInt8].noise(size), at: [.integer(Int64(size)), 1], in: rows)
      }
    }
    try check()
    try store.close()
    store = try machine.open()
    try check()
    #expect(store.recovery.discardedBytes == 0)
  }

  @Test func everyFormOfPutPutsTheSame() throws {
    let store = try machine.open()
    let rows = try store.keyspace("rows")
    let value = [UInt8]("value")
    let key = [UInt8]("key")
    try store.write { batch in
      try batch.put(value, at: 1, in: rows)
      try unsafe batch.put(value.span.bytes, at: 2, in: rows)
      try unsafe batch.put(value.span.bytes, bytes: key.span.bytes, in: rows)
      try batch.put("value", at: 3, in: rows)
    }
    #expect(try store.read { try $0.rows(in: rows) }.map(\.key) == [1, 2, 3, .bytes(key)])
    #expect(try store.read { try $0.rows(in: rows) }.allSatisfy { $0.value == value })
  }
}
