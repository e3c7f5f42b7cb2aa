import Cairn
import CairnSimulation
import Testing

@Suite struct CursorTests {
  @Test("A cursor has the rows of one moment in both directions, however many change meanwhile.", arguments: seeds)
  func rows(_ seed: UInt64) throws {
    var random = SplitMix64(seed: seed)
    let store = try Machine().open()
    let rows = try store.keyspace("rows")
    try store.write { batch in
      for number in 0..<Int.random(in: 0...900, using: &random) {
        try rows.put(
          [UInt8](repeating: 1, count: .random(in: 0...900, using: &random)), at: number * 3, in: &batch)
      }
    }
    let (lower, upper) = (Int.random(in: 0...1500, using: &random), Int.random(in: 0...3000, using: &random))
    for reverse in [false, true] {
      let range = KeyRange(from: lower, to: upper)
      let expected = try rows.rows(range, reverse: reverse)
      var cursor = rows.cursor(range, reverse: reverse)
      var found: [Row] = []
      while let row = try cursor.next() {
        found.append(row)
        if found.count.isMultiple(of: 50) {
          try rows.put("new", at: Int.random(in: 0...3000, using: &random), durability: .buffered)
          try rows.delete(Int.random(in: 0...900, using: &random) * 3, durability: .buffered)
        }
      }
      #expect(found == expected)
      #expect(try cursor.next() == nil)
    }
  }

  @Test("A cursor holds neither memory nor files between two calls, but a snapshot until it is gone.")
  func holds() throws {
    let store = try Machine().open()
    let rows = try store.keyspace("rows")
    for number in 0..<1000 { try rows.put("value", at: number, durability: .buffered) }
    do {
      var cursor = rows.cursor()
      _ = try cursor.next()
      #expect(store.statistics.snapshots == 1)
      try rows.deleteRows(.all)
      try store.compact(.everything)
      #expect(store.statistics.retiredBytes == 0)
      var count = 1
      while try cursor.next() != nil { count += 1 }
      #expect(count == 1000)
    }
    #expect(store.statistics.snapshots == 0)
  }

  @Test("A cursor ends with its snapshot, and refuses an unordered keyspace.") func refusals() throws {
    let store = try Machine().open()
    let rows = try store.keyspace("rows")
    for number in 0..<100 { try rows.put("value", at: number, durability: .buffered) }
    let snapshot = store.snapshot()
    var cursor = rows.cursor(at: snapshot)
    _ = try cursor.next()
    snapshot.close()
    #expect(failure { while try cursor.next() != nil {} }?.code == .closed)
    var unordered = try store.keyspace("unordered", order: .unordered).cursor()
    #expect(failure { _ = try unordered.next() }?.code == .notOrdered)
  }
}
