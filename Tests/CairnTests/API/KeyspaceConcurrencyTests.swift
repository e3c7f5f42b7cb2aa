import Cairn
import CairnSimulation
import Synchronization
import Testing

/// Ordered and unordered keyspaces under readers of every kind, while the indexes grow, shrink and replace.
@Suite struct KeyspaceConcurrencyTests {
  @Test(
    "G9: Readers find every row, and whole batches, while the index grows and shrinks.",
    .timeLimit(.minutes(5)),
    arguments: [Keyspace.Order.ordered, .unordered])
  func growth(_ order: Keyspace.Order) throws {
    var options = Machine.options
    // A checkpoint in the making retains versions as a snapshot does.
    options.writesCheckpoints = false
    let store = try Machine().openThreaded(options)
    let rows = try store.keyspace("rows", order: order)
    let kept = (0..<300 as Range<Int64>).map { Key.tuple([.integer($0 * 50), "kept"]) }
    try store.write { batch in for key in kept { try batch.put([0], at: key, in: rows) } }
    let isDone = Atomic<Bool>(false)
    let readers = Threads()
    for reader in 0..<3 as Range<UInt64> {
      readers.start {
        var random = SplitMix64(seed: reader)
        repeat {
          let snapshot = store.snapshot()
          let asked = (0..<100).map { _ in kept.randomElement(using: &random) ?? 0 }
          // All these rows were written by the same commit.
          let values = Set(try snapshot.get(many: asked, in: rows))
          guard values.count == 1, values.first != .some(nil) else { throw Mismatch("\(values) of one batch") }
          for key in asked where try store.get(key, in: rows) == nil { throw Mismatch("\(key) is gone") }
          var found: Set<[UInt8]> = []
          var count = 0
          var first: [UInt8]?
          try snapshot.scan(in: rows) { key, value, _ in
            count += 1
            if value.byteCount == 1 {
              found.insert(key.array)
              first = first ?? value.array
              if first != value.array { throw Mismatch("half a batch") }
            }
            return .next
          }
          let expected = try snapshot.count(in: rows)
          guard found.count == kept.count, count == expected else {
            throw Mismatch("\(found.count) rows of \(kept.count), \(count) of \(expected)")
          }
        } while !isDone.load(ordering: .acquiring)
      }
    }
    var random = SplitMix64(seed: 99)
    for round in 0..<3 {
      let keys = (0..<5000).shuffled(using: &random).map { number in
        Key.tuple([.integer(Int64(number * 7 % 25_000)), .integer(Int64(round))])
      }
      for isPut in [true, false] {
        for start in stride(from: 0, to: keys.count, by: 100) {
          try store.write(durability: .buffered) { batch in
            for key in keys[start..<start + 100] {
              if isPut { try batch.put([2, 2], at: key, in: rows) } else { try batch.delete(key, in: rows) }
            }
            if start % 1000 == 0 {
              for key in kept { try batch.put([UInt8(start / 1000 + 1)], at: key, in: rows) }
            }
          }
        }
      }
    }
    isDone.store(true, ordering: .releasing)
    try readers.join()
    #expect(try store.read { try $0.count(.all, in: rows) } == kept.count)
    // Compaction may have been at work when the last reader ended; it releases the versions it kept soon afterwards.
    try store.close()
    #expect(store.statistics.olderVersions == 0)
    #expect(store.statistics.snapshots == 0)
  }

  @Test(
    "G18: Keyspaces can be made while another thread writes and others take short snapshots.", .timeLimit(.minutes(5)))
  func making() throws {
    let store = try Machine().openThreaded()
    let rows = try store.keyspace("rows")
    let isDone = Atomic<Bool>(false)
    let writers = Threads()
    for writer in 0..<2 as Range<Int64> {
      writers.start {
        var number: Int64 = 0
        while !isDone.load(ordering: .acquiring) {
          number += 1
          let snapshot = store.snapshot()
          try store.put([1, 2, 3], at: [.integer(writer), .integer(number % 500)], in: rows, .buffered)
          snapshot.close()
        }
      }
    }
    for number in 0..<3000 {
      let keyspace = try store.keyspace("k\(number)", order: number % 2 == 0 ? .ordered : .unordered)
      if number % 10 == 0 { try store.put([UInt8(number % 251)], at: 7, in: keyspace, .buffered) }
    }
    isDone.store(true, ordering: .releasing)
    try writers.join()
    for number in stride(from: 0, to: 3000, by: 10) {
      let keyspace = try store.keyspace("k\(number)", order: number % 2 == 0 ? .ordered : .unordered)
      #expect(try store.get(7, in: keyspace) == [UInt8(number % 251)])
    }
    try store.close()
  }
}
