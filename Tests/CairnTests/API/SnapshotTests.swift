import CairnSimulation
import Synchronization
import Testing

@testable import Cairn

@Suite struct SnapshotTests {
  private let machine = Machine()

  @Test(
    "G6: A snapshot does not change while rows are overwritten, deleted and inserted and the index grows.",
    arguments: [Keyspace.Order.ordered, .unordered])
  func standsStill(_ order: Keyspace.Order) throws {
    let store = try machine.open()
    let rows = try store.keyspace("rows", order: order)
    var state: [Int64: Int] = [:]
    var snapshots: [(Snapshot, [Int64: Int])] = []
    func check() throws {
      for (snapshot, expected) in snapshots {
        var found: [Int64: Int] = [:]
        try snapshot.scan(in: rows) { key, value, _ in
          guard case .integer(let key) = try Key(encoded: key) else { throw CancellationError() }
          #expect(found.updateValue(Int(String(decoding: value.array, as: UTF8.self))!, forKey: key) == nil)
          return .next
        }
        #expect(found == expected)
        #expect(try snapshot.count(in: rows) == expected.count)
        for key in [0, 1, 2, 3, 500, 4999] as [Int64] {
          #expect(try snapshot.get(.integer(key), in: rows) == expected[key].map { [UInt8]("\($0)") })
        }
      }
    }
    for round in 1...8 {
      try store.write(durability: .buffered) { batch in
        for key in 0..<5000 as Range<Int64> {
          switch (Int(key) + round) % 4 {
          case 0:
            try batch.delete(.integer(key), in: rows)
            state[key] = nil
          case 1 where round > 1 || key < 300:
            try batch.put("\(round)", at: .integer(key), in: rows)
            state[key] = round
          default: break
          }
        }
      }
      snapshots.append((store.snapshot(), state))
      try check()
      if round == 5 {
        snapshots.remove(at: 2).0.close()
        try check()
      }
    }
    #expect(store.statistics.snapshots == 7)
    // End the snapshots in another order than they were taken.
    for index in [3, 0, 4, 1, 2, 0, 0] {
      snapshots.remove(at: index).0.close()
      try check()
    }
    #expect(store.statistics.olderVersions == 0)
    #expect(store.statistics.snapshots == 0)
    #expect(store.statistics.rows == state.count)
  }

  @Test("G6: A row that is overwritten many times under one snapshot keeps two versions.") func hotKey() throws {
    let store = try machine.open()
    let rows = try store.keyspace("rows")
    try store.put([0], at: "hot", in: rows)
    let snapshot = store.snapshot()
    var indexBytes = 0
    for round in 1...20_000 {
      try store.put([UInt8(round & 0xFF)], at: "hot", in: rows, .buffered)
      // The newest version is in the index itself and does not count.
      if store.statistics.olderVersions != 1 { Issue.record("\(store.statistics.olderVersions) versions") }
      if round == 1000 { indexBytes = store.statistics.indexBytes }
    }
    #expect(store.statistics.indexBytes == indexBytes)
    #expect(try snapshot.get("hot", in: rows) == [0])
    snapshot.close()
    #expect(store.statistics.olderVersions == 0)
  }

  @Test func snapshotsShareVersionsAndEachIsKeptAsLongAsSomebodyNeedsIt() throws {
    let store = try machine.open()
    let rows = try store.keyspace("rows")
    try store.put([0], at: "k", in: rows)
    let first = store.snapshot()
    let second = store.snapshot()
    #expect(first.sequence == second.sequence)
    try store.put([1], at: "k", in: rows)
    #expect(store.statistics.olderVersions == 1)
    let third = store.snapshot()
    try store.delete("k", in: rows)
    let fourth = store.snapshot()
    try store.put([3], at: "k", in: rows)
    #expect(store.statistics.olderVersions == 2)
    first.close()
    first.close()
    #expect(store.statistics.olderVersions == 2)
    #expect(failure { _ = try first.get("k", in: rows) }?.code == .closed)
    #expect(failure { _ = try first.rows(in: rows) }?.code == .closed)
    #expect(failure { _ = try first.count(in: rows) }?.code == .closed)
    #expect(failure { _ = try first.get(many: ["k"], in: rows) }?.code == .closed)
    #expect(try second.get("k", in: rows) == [0])
    #expect(try third.get("k", in: rows) == [1])
    #expect(try fourth.get("k", in: rows) == nil)
    #expect(try fourth.count(in: rows) == 0)
    second.close()
    #expect(store.statistics.olderVersions == 1)
    third.close()
    #expect(store.statistics.olderVersions == 0)
    #expect(try fourth.get("k", in: rows) == nil)
    #expect(try store.get("k", in: rows) == [3])
  }

  @Test("G6: Deleted rows leave the index when the last snapshot that sees them ends.")
  func deletedRowsLeave() throws {
    let store = try machine.open()
    let rows = try store.keyspace("rows")
    try store.write { batch in
      for key in 0..<20_000 as Range<Int64> { try batch.put("\(key)", at: .integer(key), in: rows) }
    }
    let snapshot = store.snapshot()
    try store.write { batch in for key in 0..<20_000 as Range<Int64> { try batch.delete(.integer(key), in: rows) } }
    #expect(store.statistics.olderVersions == 20_000)
    #expect(store.statistics.rows == 0)
    #expect(try snapshot.count(.all, in: rows) == 20_000)
    snapshot.close()
    #expect(store.statistics.olderVersions == 0)
    let bytes = store.statistics.indexBytes
    // The index uses the space again.
    for round in 1...5 as ClosedRange<Int64> {
      try store.write(durability: .buffered) { batch in
        for key in 0..<20_000 as Range<Int64> { try batch.put([1], at: .integer(key + round * 100_000), in: rows) }
      }
      try store.write(durability: .buffered) { batch in
        for key in 0..<20_000 as Range<Int64> { try batch.delete(.integer(key + round * 100_000), in: rows) }
      }
    }
    #expect(store.statistics.indexBytes <= 2 * bytes)
    #expect(try store.read { try $0.count(.all, in: rows) } == 0)
  }

  @Test("Versions kept for a snapshot are removed even if the snapshot ends between two commits.")
  func endBetweenCommits() throws {
    var options = Machine.options
    options.compacts = false
    options.writesCheckpoints = false
    let store = try machine.open(options)
    let rows = try store.keyspace("rows")
    try store.put([1], at: 1, in: rows)
    let snapshot = store.snapshot()
    try store.put([2], at: 1, in: rows)
    let beginsSegment = Atomic<Bool>(false)
    machine.files.gate = { operation, path in
      guard operation == .write, path.hasSuffix(".segment") else { return }
      beginsSegment.store(true, ordering: .relaxed)
      snapshot.close()
    }
    try store.compact()
    machine.files.gate = nil
    let hasBegun = beginsSegment.load(ordering: .relaxed)
    #expect(hasBegun)
    #expect(store.statistics.olderVersions == 0)
    #expect(store.statistics.pinnedBytes == 0)
  }

  @Test(
    "A deleted row is removed with the last snapshot that sees it, in whatever order snapshots end.",
    arguments: [false, true])
  func deletedRow(_ newestEndsFirst: Bool) throws {
    var options = Machine.options
    options.writesCheckpoints = false
    options.compacts = false
    let store = try machine.open(options)
    let rows = try store.keyspace("rows")
    var snapshots: [Snapshot] = []
    for round in 0..<3 as Range<UInt8> {
      try store.write { batch in
        for key in 0..<100 as Range<Int64> { try batch.put([round], at: .integer(key), in: rows) }
      }
      snapshots.append(store.snapshot())
    }
    try store.write { batch in for key in 0..<100 as Range<Int64> { try batch.delete(.integer(key), in: rows) } }
    #expect(store.statistics.olderVersions == 300)
    for snapshot in newestEndsFirst ? snapshots.reversed() : snapshots { snapshot.close() }
    #expect(store.statistics.olderVersions == 0)
    let left = try (0..<100 as Range<Int64>).filter { key in
      try unsafe Key.integer(key).encoded.withUnsafeBytes {
        unsafe try rows.index.locator.find(rows.index.hash($0), $0) != nil
      }
    }
    #expect(left.isEmpty)
    // Nothing needs the tombstones any more, so compaction drops them too.
    try store.compact(.everything)
    #expect(store.statistics.logBytes < 1000)
  }

  @Test func aSnapshotEndsWithItsLastReference() throws {
    let store = try machine.open()
    let rows = try store.keyspace("rows")
    try store.put([0], at: "k", in: rows)
    do {
      let snapshot = store.snapshot()
      try store.put([1], at: "k", in: rows)
      #expect(try snapshot.get("k", in: rows) == [0])
      #expect(store.statistics.snapshots == 1)
    }
    #expect(store.statistics.snapshots == 0)
    #expect(store.statistics.olderVersions == 0)
  }

  @Test func aSnapshotOutlivesItsStore() throws {
    var store: Store? = try machine.open()
    let rows = try #require(try store?.keyspace("rows"))
    try store?.put([0], at: "k", in: rows)
    let snapshot = try #require(store?.snapshot())
    store = nil
    #expect(try snapshot.get("k", in: rows) == [0])
    #expect(try snapshot.rows(in: rows).count == 1)
  }

  @Test("G3: Readers of several rows see only whole batches.") func wholeBatches() throws {
    let store = try machine.open()
    let rows = try store.keyspace("rows")
    for round in 0..<50 as Range<UInt8> {
      let before = store.snapshot()
      try store.write(durability: .buffered) { batch in
        for key in 0..<40 as Range<Int64> { try batch.put([round], at: .integer(key), in: rows) }
      }
      let keys = (0..<40 as Range<Int64>).map { Key.integer($0) }
      #expect(Set(try before.get(many: keys, in: rows)) == [round == 0 ? nil : [round - 1]])
      #expect(Set(try store.read { try $0.rows(in: rows) }.map(\.value)) == [[round]])
    }
  }
}
