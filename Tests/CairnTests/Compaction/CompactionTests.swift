import CairnSimulation
import Testing

@testable import Cairn

/// What compaction removes, and what it leaves alone.
@Suite struct CompactionTests {
  private let machine = Machine()

  /// No background work, so that each test controls what happens.
  private static var options: StoreOptions {
    var options = Machine.options
    options.compacts = false
    options.writesCheckpoints = false
    return options
  }

  private func open(_ machine: Machine? = nil) throws -> Store { try (machine ?? self.machine).open(Self.options) }

  private func fill(_ store: Store, _ rows: Range<Int64>, round: UInt64 = 0, length: Int = 1000) throws {
    let keyspace = try store.keyspace("rows")
    for row in rows {
      try store.put(.noise(length, seed: UInt64(row) ^ round << 32), at: .integer(row), in: keyspace, .buffered)
    }
    try store.sync()
  }

  private func contents(_ store: Store) throws -> [Row] {
    try store.read { try $0.rows(in: store.keyspace("rows")) }
  }

  @Test("G13: Compaction reclaims the space of overwritten rows.") func overwrittenRowsGiveTheirSpaceBack() throws {
    let store = try open()
    for round in 0..<4 as Range<UInt64> { try fill(store, 0..<200, round: round) }
    let before = try contents(store)
    let report = try store.compact()
    #expect(report.segments > 5)
    #expect(report.gainedBytes > 500_000)
    #expect(store.statistics.logBytes == report.bytesAfter)
    #expect(store.statistics.logBytes < store.statistics.liveBytes * 11 / 10)
    #expect(try contents(store) == before)
    try store.close()
    #expect(try contents(open()) == before)
  }

  @Test("Compaction before the first write shrinks a store that has a single segment.")
  func compactionBeforeTheFirstWrite() throws {
    var options = Self.options
    options.segmentSize = 16 << 20
    let first = try machine.open(options)
    for round in 0..<4 as Range<UInt64> { try fill(first, 0..<200, round: round) }
    let before = try contents(first)
    try first.close()
    let store = try machine.open(options)
    let report = try store.compact()
    #expect(report.segments == 1)
    #expect(store.statistics.logBytes < store.statistics.liveBytes * 11 / 10)
    #expect(try contents(store) == before)
    try store.close()
    #expect(try contents(machine.open(options)) == before)
  }

  @Test("Compaction does nothing where it can gain nothing.") func whereNothingIsToBeGainedNothingIsDone() throws {
    let store = try open()
    try fill(store, 0..<200)
    try store.compact()
    let report = try store.compact()
    #expect(report.segments == 0)
    #expect(report.gainedBytes == 0)
    #expect(report.description.hasPrefix("nothing to compact"))
  }

  @Test func anEmptyStoreIsCompactedToo() throws {
    let store = try open()
    #expect(try store.compact().segments == 0)
    #expect(try store.compact(.everything).segments == 0)
  }

  @Test("Compacting everything puts rows in the order of their keys.")
  func everythingPutsRowsInTheOrderOfTheirKeys() throws {
    let store = try open()
    let keyspace = try store.keyspace("rows")
    for row in 0..<300 as Range<Int64> {
      try store.put(.noise(100, seed: UInt64(row)), at: .integer(row * 7919 % 300), in: keyspace, .buffered)
    }
    try store.compact(.everything)
    let locator = keyspace.index.locator
    var places: [LogAddress] = []
    for row in 0..<300 as Range<Int64> {
      let key = Key.integer(row).encoded
      try unsafe key.withRawBytes { (key) throws(StoreError) in
        places.append(unsafe try locator.find(keyspace.index.hash(key), key)?.address ?? 0)
      }
    }
    #expect(places == places.sorted())
  }

  @Test("Compaction reports its progress and can be cancelled.") func progressIsToldAndTheRestCanBeLeft() throws {
    let store = try open()
    for round in 0..<3 as Range<UInt64> { try fill(store, 0..<300, round: round) }
    let before = try contents(store)
    var calls = 0
    #expect(throws: StoreError.self) {
      try store.compact { progress in
        calls += 1
        return progress.bytes == 0 || calls < 4
      }
    }
    #expect(calls == 4)
    #expect(try contents(store) == before)
    try store.compact()
    #expect(try contents(store) == before)
    try store.close()
    #expect(try contents(open()) == before)
  }

  @Test("G8: A deleted row stays deleted if its tombstone's segment is compacted before the row's.")
  func tombstoneOutlivesItsRow() throws {
    let store = try open()
    let keyspace = try store.keyspace("rows")
    // Two versions of the row are in two segments, and the delete is in a third.
    try store.put(.noise(100), at: "k", in: keyspace)
    try fill(store, 0..<70)
    try store.put(.noise(100, seed: 2), at: "k", in: keyspace)
    try fill(store, 100..<170)
    try store.delete("k", in: keyspace)
    try fill(store, 200..<270)
    for row in 200..<270 as Range<Int64> { try store.delete(.integer(row), in: keyspace, .buffered) }
    try fill(store, 300..<370)
    let before = try contents(store)
    try store.compact()
    #expect(try contents(machine.kill().open(Self.options)) == before)
    try store.compact(.everything)
    #expect(try contents(machine.kill().open(Self.options)) == before)
    #expect(try store.get("k", in: keyspace) == nil)
  }

  @Test("G8: Compaction drops a tombstone once no older record of its row is left.") func tombstonesGo() throws {
    let store = try open()
    try fill(store, 0..<1000, length: 100)
    let keyspace = try store.keyspace("rows")
    for row in 0..<1000 as Range<Int64> where row % 10 != 0 { try store.delete(.integer(row), in: keyspace, .buffered) }
    try store.compact()
    let statistics = store.statistics
    #expect(statistics.tombstoneBytes <= statistics.logBytes / 100)
    #expect(statistics.rows == 100)
    try store.close()
    #expect(try contents(open()).count == 100)
  }

  @Test("A checkpoint that is not renewed is removed before the deletions after it make the log too long.")
  func checkpointInTheWay() throws {
    var options = Self.options
    options.compacts = true
    let store = try machine.open(options)
    try fill(store, 0..<8000, length: 10)
    try store.checkpoint()
    let keyspace = try store.keyspace("rows")
    for row in 0..<7900 as Range<Int64> {
      try store.delete(.integer(row), in: keyspace, .buffered)
      if row % 100 == 0 { machine.runBackground() }
    }
    let statistics = store.statistics
    #expect(statistics.checkpointBytes == 0)
    #expect(statistics.logBytes <= statistics.liveBytes * 5 / 4 + 2 * options.segmentSize)
    let before = try contents(store)
    #expect(try contents(machine.kill().open(options)) == before)
    try store.checkpoint()
    #expect(store.statistics.checkpointBytes > 0)
  }

  @Test("Every byte of a segment just compacted is counted as needed, and retained deletions are counted once.")
  func allOfACopyIsNeeded() throws {
    let store = try open()
    let keyspace = try store.keyspace("rows")
    try store.setRetention(.last(3), of: keyspace)
    try fill(store, 0..<300, length: 20)
    for row in 0..<200 as Range<Int64> { try store.delete(.integer(row), in: keyspace, .buffered) }
    try store.compact(.everything)
    let copies = store.segmentStatistics.filter { $0.overhead > 0 }
    #expect(!copies.isEmpty)
    for copy in copies {
      #expect(copy.liveBytes + copy.pinnedBytes + copy.tombstoneBytes + copy.overhead == copy.end)
    }
  }

  @Test("Compaction drops deletions although older segments have nothing to reclaim.") func keepingSegments() throws {
    let store = try open()
    try fill(store, 0..<400)
    let cold = store.statistics.logBytes
    for round in 1..<5 as Range<Int64> {
      try fill(store, round * 1000..<round * 1000 + 500, length: 10)
      for row in round * 1000..<round * 1000 + 500 {
        try store.delete(.integer(row), in: store.keyspace("rows"), .buffered)
      }
    }
    let before = try contents(store)
    let report = try store.compact()
    #expect(report.gainedBytes > 0)
    #expect(store.statistics.tombstoneBytes <= store.statistics.logBytes / 50)
    #expect(store.statistics.logBytes < cold + cold / 50)
    #expect(try store.compact().segments == 0)
    #expect(try contents(machine.kill().open(Self.options)) == before)
  }

  @Test("G13: A row that is written while compaction copies it keeps the newer value.") func writtenMeanwhile() throws {
    var options = Machine.options
    options.writesCheckpoints = false
    let store = try machine.open(options)
    let keyspace = try store.keyspace("rows")
    for round in 0..<6 as Range<UInt64> { try fill(store, 0..<200, round: round) }
    // Each row is overwritten or deleted between two steps of a compaction.
    var row: Int64 = 0
    while machine.runOneInBackground(), row < 200 {
      for _ in 0..<8 where row < 200 {
        if row % 2 == 0 {
          try store.put([UInt8(row)], at: .integer(row), in: keyspace, .buffered)
        } else {
          try store.delete(.integer(row), in: keyspace, .buffered)
        }
        row += 1
      }
    }
    machine.runBackground()
    let before = try contents(store)
    #expect(store.statistics.compactedBytes > 0)
    try store.sync()
    #expect(try contents(machine.kill().open(options)) == before)
    #expect(before.filter { $0.value.count == 1 }.count == Int(row + 1) / 2)
  }

  @Test("D8: Compaction drops a record only after the record that superseded it is durable.", arguments: [false, true])
  func supersededByWhatIsNotDurable(_ isDelete: Bool) throws {
    let store = try open()
    try fill(store, 0..<200)
    let keyspace = try store.keyspace("rows")
    for row in 0..<190 as Range<Int64> {
      if isDelete {
        try store.delete(.integer(row), in: keyspace, .buffered)
      } else {
        try store.put([1], at: .integer(row), in: keyspace, .buffered)
      }
    }
    let before = try contents(store)
    try store.compact()
    #expect(try contents(machine.crash().open(Self.options)) == before)
  }

  @Test("D8: A record superseded while compaction runs is dropped only after its successor is durable.")
  func supersededMeanwhile() throws {
    let store = try open()
    try fill(store, 0..<600)
    let keyspace = try store.keyspace("rows")
    var isAtWork = false
    try store.compact(.everything) { _ in
      if isAtWork { return true }
      isAtWork = true
      for row in 0..<600 as Range<Int64> {
        if failure({ try store.put([1], at: .integer(row), in: keyspace, .buffered) }) != nil { return false }
      }
      return true
    }
    #expect(isAtWork)
    let found = try contents(machine.crash().open(Self.options))
    #expect(found.map(\.key) == (0..<600).map { .integer($0) })
  }

  @Test("D17: Compaction leaves a damaged frame as it is, and never gives it a valid checksum.") func damage() throws {
    let store = try open()
    for round in 0..<2 as Range<UInt64> { try fill(store, 0..<300, round: round) }
    let path = "\(Machine.path)/\(Segment.fileName(2))"
    let file = try machine.files.open(path, .readWrite)
    let end = try file.size()
    for offset in stride(from: 300, to: end - 8, by: 1500) { try file.writeAll([0xEE], at: offset) }
    let report = try store.compact(.everything)
    #expect(report.damaged == [Place(segment: 2, offset: SegmentHeader.size)])
    #expect(report.segments > 0)
    #expect(store.statistics.damagedSegments == 1)
    #expect(machine.files.contents.keys.contains(path))
    #expect(throws: StoreError.self) { try open(machine.kill()) }
  }

  @Test("D17: A segment damaged after it was verified is left unchanged, and the other segments are compacted.")
  func damageBeforeTheCopy() throws {
    let store = try open()
    for round in 0..<2 as Range<UInt64> { try fill(store, 0..<300, round: round) }
    // The row that was written last is in the newest segment.
    let id = SegmentID(UInt32(store.statistics.segments))
    let file = try machine.files.open("\(Machine.path)/\(Segment.fileName(id))", .readWrite)
    let end = try file.size()
    var done = 0
    var isDamaged = false
    let report = try store.compact(.everything) { progress in
      // The count falls once all segments have been verified, before the first record is copied.
      if progress.bytes < done, !isDamaged {
        isDamaged = true
        for offset in stride(from: 300, to: end - 8, by: 500) { try? file.writeAll([0xEE], at: offset) }
      }
      done = progress.bytes
      return true
    }
    #expect(isDamaged)
    #expect(report.damaged.map(\.segment) == [id])
    #expect(report.segments > 0)
    #expect(store.statistics.damagedSegments == 1)
    #expect(machine.files.contents.keys.contains(Machine.segment(Int(id.rawValue))))
  }

  @Test("D17: A frame that claims to have billions of records is reported as damaged.") func damagedCount() throws {
    let store = try open()
    for round in 0..<2 as Range<UInt64> { try fill(store, 0..<300, round: round) }
    let before = try contents(store)
    let path = Machine.segment(2)
    let bytes = try #require(machine.files.contents[path])
    var offset = SegmentHeader.size
    for _ in 0..<20 {
      // The most significant byte of the record count.
      try machine.files.flip(0xF0, at: offset + 15, in: path)
      offset += (Int(bytes[offset + 8]) | Int(bytes[offset + 9]) << 8) * Format.unit
    }
    let report = try store.compact(.everything)
    #expect(report.damaged == [Place(segment: 2, offset: SegmentHeader.size)])
    #expect(report.segments > 0)
    #expect(store.statistics.damagedSegments == 1)
    #expect(try contents(store) == before)
  }

  @Test("G6: A snapshot sees its rows after all their segments have been compacted.", arguments: [false, true])
  func underASnapshot(_ drops: Bool) throws {
    let store = try open()
    try fill(store, 0..<200)
    let keyspace = try store.keyspace("rows")
    let snapshot = store.snapshot()
    let before = try snapshot.rows(in: keyspace)
    if drops {
      try store.drop(keyspace)
    } else {
      for round in 1..<6 as Range<UInt64> { try fill(store, 0..<200, round: round) }
    }
    try store.compact(.everything)
    #expect(try snapshot.rows(in: keyspace) == before)
    let statistics = store.statistics
    #expect(statistics.pinnedBytes > 200_000)
    #expect(statistics.logBytes < (statistics.liveBytes + statistics.pinnedBytes) * 13 / 10)
    snapshot.close()
    #expect(store.statistics.pinnedBytes == 0)
    try store.compact(.everything)
    #expect(store.statistics.logBytes < (drops ? 1000 : 250_000))
  }

  @Test func aDroppedKeyspaceLeavesNothing() throws {
    let store = try open()
    try fill(store, 0..<200)
    try store.put([1], at: 1, in: try store.keyspace("others"))
    try store.drop(try store.keyspace("rows"))
    try store.compact()
    #expect(store.statistics.logBytes < 1000)
    try store.close()
    let again = try open()
    #expect(again.keyspaces.map(\.name) == ["others"])
    #expect(try again.get(1, in: try again.keyspace("others")) == [1])
  }

  @Test("G9: Readers continue in a segment that has been removed.") func readersOfWhatIsGone() throws {
    let store = try open()
    for round in 0..<2 as Range<UInt64> { try fill(store, 0..<200, round: round) }
    let keyspace = try store.keyspace("rows")
    let expected = try store.get(7, in: keyspace)
    try store.withValue(7, in: keyspace) { value in
      try store.compact(.everything)
      try fill(store, 1000..<1200)
      #expect(store.statistics.retiredBytes > 0)
      #expect(value.array == expected)
    }
    try store.compact(.everything)
    #expect(store.statistics.retiredBytes == 0)
  }

  @Test("Compaction that failed on a full disk succeeds once there is space.") func aFullDiskIsNoReasonToStop() throws {
    let store = try open()
    for round in 0..<3 as Range<UInt64> { try fill(store, 0..<100, round: round) }
    let before = try contents(store)
    machine.files.capacity = machine.files.used
    let error = failure { try store.compact() }
    #expect(error == nil || error?.code == .noSpace)
    machine.files.capacity = nil
    try store.compact()
    #expect(try contents(store) == before)
    #expect(store.statistics.logBytes < store.statistics.liveBytes * 12 / 10)
  }

  @Test("G21: Opening as of a commit before a compaction is refused.")
  func goingBackToBeforeACompactionIsRefused() throws {
    let store = try open()
    try fill(store, 0..<100)
    let middle = store.lastSequence
    try fill(store, 0..<100, round: 1)
    try store.compact()
    let last = store.lastSequence
    try store.close()
    var options = Self.options
    options.access = .readOnly
    options.upTo = middle
    #expect(failure { _ = try machine.open(options) }?.code == .commitNotFound)
    options.upTo = last
    #expect(try contents(machine.open(options)).count == 100)
  }

  @Test("Going back makes the requested commit the last one.") func goingBackMakesTheCommitGoneBackToTheLast() throws {
    let store = try open()
    try fill(store, 0..<100)
    let middle = store.lastSequence
    for start in stride(from: 100, to: 500, by: 50) as StrideTo<Int64> {
      try fill(store, start..<start + 50)
      // The manifest lists a full segment as sealed with the next segment, which background work makes.
      machine.runBackground()
    }
    try store.close()
    var options = Self.options
    options.upTo = middle
    let back = try machine.open(options)
    // This begins an epoch and commits nothing.
    try back.compact(.everything)
    #expect(try contents(back).count == 100)
    try back.close()
    let again = try open()
    #expect(again.lastSequence == middle)
    #expect(try contents(again).count == 100)
  }
}
