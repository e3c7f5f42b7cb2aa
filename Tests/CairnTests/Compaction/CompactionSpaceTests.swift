import CairnSimulation
import Testing

@testable import Cairn

/// How much disk space compaction needs, what it reports about that, and what snapshots keep it from removing.
@Suite struct CompactionSpaceTests {
  private let machine = Machine()

  /// No background work but the preparation of segments.
  private static var options: StoreOptions {
    var options = Machine.options
    options.compacts = false
    return options
  }

  private static var withoutCheckpoints: StoreOptions {
    var options = options
    options.writesCheckpoints = false
    return options
  }

  private func fill(_ store: Store, _ rows: Range<Int64>, round: UInt64 = 0, length: Int = 1000) throws {
    let keyspace = try store.keyspace("rows")
    for row in rows {
      try store.put(.noise(length, seed: UInt64(row) ^ round << 32), at: .integer(row), in: keyspace, .buffered)
      machine.runBackground()
    }
    try store.sync()
  }

  /// The most bytes of disk that are in use during `body`, less those in use before.
  private func peak(_ body: () throws -> Void) rethrows -> Int {
    machine.runBackground()
    let before = machine.files.used
    machine.files.mostUsed = before
    try body()
    return machine.files.mostUsed - before
  }

  @Test("G13: Compaction needs free space for two segments at most.", arguments: [0, 1, 20, 300, 5000, 50_000])
  func freeSpace(length: Int) throws {
    let store = try machine.open(Self.options)
    let count = Int64(min(20_000, 20 * Self.options.segmentSize / (length + 20)))
    try fill(store, 0..<count, length: length)
    try store.checkpoint()
    try fill(store, count / 2..<count, round: 1, length: length)
    let segments = store.statistics.segments
    #expect(segments > 6)
    let extra = try peak { try store.compact(.everything) }
    #expect(extra <= 2 * Self.options.segmentSize)
    #expect(store.statistics.segments < segments)
    let last = [UInt8].noise(length, seed: UInt64(count - 1) ^ 1 << 32)
    #expect(try store.get(.integer(count - 1), in: store.keyspace("rows")) == last)
  }

  @Test("G13: Compacting a commit longer than two segments needs free space for its needed records only.")
  func longCommit() throws {
    let store = try machine.open(Self.options)
    let rows = try store.keyspace("rows")
    try store.write(durability: .buffered) { batch in
      for row in 0..<1000 as Range<Int64> { try batch.put(.noise(1000, seed: 1), at: .integer(row), in: rows) }
    }
    try fill(store, 0..<600, round: 1)
    let needed = store.segmentStatistics.reduce(0) { max($0, $1.liveBytes) }
    #expect(needed > 4 * Self.options.segmentSize)
    let extra = try peak { try store.compact() }
    #expect(extra <= needed + needed / 50)
    #expect(store.statistics.logBytes < store.statistics.liveBytes * 11 / 10)
  }

  @Test("Compaction reports the bytes that it cannot reclaim because a snapshot needs them.") func pinned() throws {
    let store = try machine.open(Self.options)
    try fill(store, 0..<200)
    let snapshot = store.snapshot()
    try fill(store, 0..<200, round: 1)
    try store.compact(.everything)
    let report = try store.compact()
    #expect(report.gainedBytes == 0)
    #expect(report.pinnedBytes > 200_000)
    #expect(report.description.contains("\(report.pinnedBytes) bytes are kept only for snapshots"))
    snapshot.close()
    let last = try store.compact()
    #expect(last.gainedBytes > 190_000)
    #expect(last.pinnedBytes == 0)
  }

  @Test("G8: Rows inserted and deleted under a snapshot leave no tombstones if the snapshot does not see them.")
  func tombstonesUnderASnapshot() throws {
    let store = try machine.open(Self.options)
    let rows = try store.keyspace("rows")
    try fill(store, 0..<200)
    let snapshot = store.snapshot()
    try fill(store, 0..<50, round: 1)
    try store.compact(.everything)
    for row in 1000..<3000 as Range<Int64> {
      try store.put([1], at: .integer(row), in: rows, .buffered)
      try store.delete(.integer(row), in: rows, .buffered)
    }
    for row in 100..<110 as Range<Int64> { try store.delete(.integer(row), in: rows, .buffered) }
    let before = store.statistics
    #expect(before.tombstoneBytes >= 2000 * 16)
    try store.compact()
    let after = store.statistics
    #expect(after.tombstoneBytes == 0)
    #expect(after.pinnedBytes == before.pinnedBytes)
    #expect(try snapshot.get(100, in: rows) == .noise(1000, seed: 100))
    #expect(try store.get(100, in: rows) == nil)
    snapshot.close()
    #expect(store.statistics.pinnedBytes == 0)
    #expect(store.statistics.tombstoneBytes > 0)
  }

  /// A store in which one row is seen only by the snapshot; its tombstone is followed by rows for almost two segments.
  private func storeWithSnapshot(
    of rows: Range<Int64>, deleting deleted: Int64
  ) throws -> (store: Store, snapshot: Snapshot) {
    let store = try machine.open(Self.withoutCheckpoints)
    try fill(store, rows)
    let snapshot = store.snapshot()
    try store.delete(.integer(deleted), in: store.keyspace("rows"))
    try fill(store, 2000..<2120)
    return (store, snapshot)
  }

  enum End: CaseIterable { case before, betweenSegments, after }

  @Test(
    "G8: A deleted row that only a snapshot needed does not return after the snapshot has ended.",
    arguments: End.allCases)
  func afterTheSnapshot(end: End) throws {
    let (store, snapshot) = try storeWithSnapshot(of: 0..<1000, deleting: 500)
    try store.compact(.everything)
    // The tombstone is now in another segment than the record that it deletes.
    let segments = store.segmentStatistics
    let ofDeleted = try #require(segments.firstIndex { $0.pinnedBytes > 1000 })
    #expect(segments[ofDeleted + 1..<segments.count].contains { (1..<100).contains($0.pinnedBytes) })
    if end == .before { snapshot.close() }
    try fill(store, 2000..<2036, round: 1)
    try fill(store, 2050..<2110, round: 1)
    try store.compact { _ in
      if end == .betweenSegments { snapshot.close() }
      return true
    }
    snapshot.close()
    try fill(store, 2000..<2036, round: 2)
    try store.compact()
    // The record that the snapshot needed is too small to make it worthwhile to write its segment anew.
    #expect(store.statistics.deadBytes > 1000)
    #expect(try store.get(500, in: store.keyspace("rows")) == nil)
    let again = try machine.kill().open(Self.withoutCheckpoints)
    #expect(try again.get(500, in: again.keyspace("rows")) == nil)
    #expect(try again.read { try $0.count(in: again.keyspace("rows")) } == 1119)
  }

  @Test(
    "G8: A deleted row does not return if the snapshot that needed it ends between two pieces of compaction.",
    arguments: 0..<24)
  func betweenPieces(end: Int) throws {
    let (store, snapshot) = try storeWithSnapshot(of: 0..<200, deleting: 20)
    var pieces = 0
    try store.compact(.everything) { _ in
      if pieces == end { snapshot.close() }
      pieces += 1
      return true
    }
    #expect((12...24).contains(pieces))
    let again = try machine.kill().open(Self.withoutCheckpoints)
    #expect(try again.get(20, in: again.keyspace("rows")) == nil)
    #expect(try again.read { try $0.count(in: again.keyspace("rows")) } == 319)
    snapshot.close()
  }

  @Test("D8: Records that compaction moved after a checkpoint are found, and copies kept for a snapshot are no rows.")
  func movedBehindACheckpoint() throws {
    let (store, snapshot) = try storeWithSnapshot(of: 0..<200, deleting: 20)
    try store.checkpoint()
    try store.compact(.everything)
    #expect(store.statistics.pinnedBytes > 1000)
    let again = try machine.kill().open(Self.withoutCheckpoints)
    #expect(again.recovery.checkpoint == store.lastSequence && again.statistics.rows == 319)
    #expect(try again.get(20, in: again.keyspace("rows")) == nil)
    #expect(try again.get(21, in: again.keyspace("rows")) == .noise(1000, seed: 21))
    #expect(try again.read { try $0.count(in: again.keyspace("rows")) } == 319)
    snapshot.close()
  }

  @Test(
    "G8: A row stays deleted if a snapshot ends while compaction is between its record and its tombstone.",
    arguments: [false, true])
  func betweenRecordAndTombstone(isRetained: Bool) throws {
    let store = try machine.open(Self.withoutCheckpoints)
    let rows = try store.keyspace("rows")
    // The segments with the record and with its tombstone have few live rows left, so that they are compacted together.
    try fill(store, 0..<150, length: 400)
    try fill(store, 50..<150, round: 1, length: 400)
    for row in 60..<150 as Range<Int64> { try store.delete(.integer(row), in: rows) }
    if isRetained {
      try store.setRetention(.last(3), of: rows)
      try store.delete(5, in: rows)
    }
    let snapshot = store.snapshot()
    if isRetained { try store.setRetention(.newest, of: rows) } else { try store.delete(5, in: rows) }
    var pieces = 0
    try store.compact(.everything) { _ in
      pieces += 1
      snapshot.close()
      return true
    }
    #expect(pieces > 1)
    #expect(try store.get(5, in: rows) == nil)
    let again = try machine.kill().open(Self.withoutCheckpoints)
    #expect(try again.get(5, in: again.keyspace("rows")) == nil)
    #expect(try again.read { try $0.count(in: again.keyspace("rows")) } == 59)
  }
}
