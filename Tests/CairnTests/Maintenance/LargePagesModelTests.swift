import CairnSimulation
import Synchronization
import Testing

@testable import Cairn

/// Indexes of several megabytes, parts of which fill large pages.
@Suite struct LargePagesModelTests {
  private static let rows = 250_000

  private static var options: StoreOptions {
    var options = Machine.options
    options.segmentSize = 4 << 20
    return options
  }

  private static func write(_ store: Store, _ numbers: Range<Int>, round: Int) throws {
    let keyspace = try store.keyspace("rows")
    for start in stride(from: numbers.lowerBound, to: numbers.upperBound, by: 500) {
      try store.write(durability: .buffered) { batch in
        for number in start..<min(start + 500, numbers.upperBound) {
          try batch.put([UInt8]("\(number) \(round)"), at: .integer(Int64(number)), in: keyspace)
        }
      }
    }
  }

  private static func expect(_ store: Store, _ number: Int, rounds: [Int]) throws {
    let found = try store.get(.integer(Int64(number)), in: store.keyspace("rows"))
    #expect(rounds.contains { found == [UInt8]("\(number) \($0)") })
  }

  @Test("Rows are found and changed while the index moves into large pages.", arguments: [0, 200_000])
  func rowsAreFoundWhileTheIndexMoves(_ afterCheckpoint: Int) throws {
    let machine = Machine()
    var store = try machine.open(Self.options)
    try Self.write(store, 0..<Self.rows, round: 0)
    try store.checkpoint()
    try store.close()
    var withoutCheckpoints = Self.options
    withoutCheckpoints.writesCheckpoints = false
    store = try machine.open(withoutCheckpoints)
    try Self.write(store, 0..<afterCheckpoint, round: 1)
    try store.close()

    store = try machine.open(Self.options)
    #expect(store.recovery.checkpoint != nil && store.recovery.records == afterCheckpoint)
    let hasMoved = Atomic(false)
    let readers = Threads()
    for seed in 1...2 {
      readers.start { [store] in
        var random = SplitMix64(seed: UInt64(seed))
        while !hasMoved.load(ordering: .acquiring) {
          try Self.expect(store, .random(in: 0..<Self.rows, using: &random), rounds: [0, 1, 2])
        }
      }
    }
    var steps = 0
    while steps < 1000, machine.runOneInBackground() {
      try Self.write(store, steps * 100..<steps * 100 + 50, round: 2)
      steps += 1
    }
    hasMoved.store(true, ordering: .releasing)
    try readers.join()
    #expect((3..<1000).contains(steps))

    var number = 0
    try store.read { snapshot in
      try snapshot.scan(in: store.keyspace("rows")) { _, value, _ in
        let round = number / 100 < steps && number % 100 < 50 ? 2 : number < afterCheckpoint ? 1 : 0
        let text = [UInt8]("\(number) \(round)")
        guard value.byteCount == text.count, unsafe value.withUnsafeBytes({ unsafe $0.elementsEqual(text) }) else {
          Issue.record("row \(number)")
          return .stop
        }
        number += 1
        return .next
      }
    }
    #expect(number == Self.rows)
    try store.close()
  }
}
