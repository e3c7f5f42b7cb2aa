import CairnSimulation
import Synchronization
import Testing

@testable import Cairn

/// What compaction does in the background, and when.
@Suite struct BackgroundCompactionTests {
  private let machine = Machine()

  private static var options: StoreOptions {
    var options = Machine.options
    options.writesCheckpoints = false
    return options
  }

  /// Puts rows, and, unless told otherwise, runs all background work to its end after each.
  private func fill(
    _ store: Store, _ rows: Range<Int64>, round: UInt64 = 0, length: Int = 1000, runsBackground: Bool = true
  ) throws {
    let keyspace = try store.keyspace("rows")
    for row in rows {
      try store.put(.noise(length, seed: UInt64(row) ^ round << 32), at: .integer(row), in: keyspace, .buffered)
      if runsBackground { try runBackground() }
    }
  }

  private func runBackground() throws {
    var pieces = 0
    while machine.runOneInBackground() {
      pieces += 1
      try #require(pieces < 10_000, "it does not come to an end")
    }
  }

  private func isBounded(_ store: Store) -> Bool {
    let statistics = store.statistics
    let needed = statistics.liveBytes + statistics.pinnedBytes
    return statistics.logBytes <= needed * 13 / 10 + 4 * Self.options.segmentSize
  }

  private var segmentFiles: Set<String> { Set(machine.contents.keys.filter { $0.hasSuffix(".segment") }) }

  @Test("Background compaction stops while it is paused, and continues afterwards.")
  func aPauseHoldsItAndResumingLetsItGoOn() throws {
    let store = try machine.open(Self.options)
    store.pauseCompaction()
    for round in 0..<6 as Range<UInt64> { try fill(store, 0..<200, round: round) }
    #expect(store.statistics.compactedBytes == 0)
    #expect(!isBounded(store))
    store.resumeCompaction()
    try runBackground()
    #expect(isBounded(store))
  }

  @Test("Pausing compaction removes its unfinished segments, and checkpoints are still written.")
  func pausedHalfway() throws {
    var options = Machine.options
    options.segmentSize = 1 << 22
    options.compacts = true
    let store = try machine.open(options)
    store.pauseCompaction()
    for round in 0..<6 as Range<UInt64> { try fill(store, 0..<4000, round: round) }
    let files = segmentFiles
    let checkpoint = store.log.manifest.newestCheckpoint?.sequence ?? 0
    store.resumeCompaction()
    while segmentFiles == files { try #require(machine.runOneInBackground()) }
    #expect(segmentFiles.isSuperset(of: files))
    store.pauseCompaction()
    #expect(segmentFiles == files)
    for round in 6..<8 as Range<UInt64> { try fill(store, 0..<4000, round: round) }
    #expect((store.log.manifest.newestCheckpoint?.sequence ?? 0) > checkpoint)
    #expect(store.statistics.compactedBytes == 0)
    store.resumeCompaction()
    try runBackground()
    #expect(store.statistics.compactedBytes > 0)
  }

  @Test(
    "G13: The space of versions kept for a snapshot is reclaimed when it ends, without another write.",
    arguments: [false, true])
  func aSnapshotEnds(_ drops: Bool) throws {
    let store = try machine.open(Self.options)
    try fill(store, 0..<1000)
    let snapshot = store.snapshot()
    if drops {
      try store.drop(store.keyspace("rows"))
      try fill(store, 0..<10)
    } else {
      try fill(store, 0..<1000, round: 1)
    }
    try runBackground()
    #expect(store.statistics.pinnedBytes > 900_000)
    snapshot.close()
    try runBackground()
    #expect(store.statistics.pinnedBytes == 0)
    #expect(isBounded(store))
  }

  @Test("The space of versions that are no longer retained is reclaimed without another write.")
  func whatIsRetainedNoLongerIsGivenBackWithoutAnotherWrite() throws {
    let store = try machine.open(Self.options)
    let rows = try store.keyspace("rows")
    try store.setRetention(.last(5), of: rows)
    for round in 0..<5 as Range<UInt64> { try fill(store, 0..<200, round: round) }
    try store.setRetention(.newest, of: rows)
    try runBackground()
    #expect(isBounded(store))
  }

  @Test("Compaction does not copy the deletions that a snapshot keeps again and again.")
  func deletionsUnderASnapshot() throws {
    let store = try machine.open(Self.options)
    let rows = try store.keyspace("rows")
    try fill(store, 0..<1200, length: 10)
    let snapshot = store.snapshot()
    for row in 0..<1200 as Range<Int64> { try store.delete(.integer(row), in: rows, .buffered) }
    try store.compact()
    let copied = store.statistics.compactedBytes
    for _ in 0..<10 {
      try store.put([1], at: "one more", in: rows)
      store.resumeCompaction()
      try runBackground()
    }
    #expect(store.statistics.compactedBytes == copied)
    #expect(try snapshot.count(in: rows) == 1200)
  }

  @Test("D11: Small segments are not rewritten in vain where there is no space for two together.")
  func smallSegmentsOnAFullDisk() throws {
    var options = Self.options
    options.segmentSize = 1 << 20
    var store = try machine.open(options)
    for part in 0..<6 as Range<Int64> {
      store.pauseCompaction()
      try fill(store, part * 240..<part * 240 + 240)
      try store.close()
      if part == 5 {
        try machine.files.remove("\(Machine.path)/\(Reserve.fileName)")
        machine.files.capacity = machine.files.used + 400_000
      }
      store = try machine.open(options)
    }
    try store.delete(0, in: store.keyspace("rows"))
    try runBackground()
    machine.files.capacity = nil
    for row in 1..<1440 as Range<Int64> {
      #expect(try store.get(.integer(row), in: store.keyspace("rows")) == .noise(1000, seed: UInt64(row)))
    }
  }

  @Test("G13: Writers are slowed down only while the log grows faster than compaction can reclaim.")
  func pace() throws {
    let store = try machine.open(Self.options)
    try fill(store, 0..<200)
    for round in 0..<3 as Range<UInt64> { try fill(store, 0..<200, round: round) }
    #expect(machine.paused.load(ordering: .relaxed) == 0)
    for round in 3..<6 as Range<UInt64> { try fill(store, 0..<200, round: round, runsBackground: false) }
    #expect(machine.paused.load(ordering: .relaxed) == 0)
    machine.runOneInBackground()
    try fill(store, 0..<10, round: 6, runsBackground: false)
    let delayed = machine.paused.load(ordering: .relaxed)
    #expect(delayed > 0)
    try runBackground()
    #expect(isBounded(store))
    try fill(store, 0..<10, round: 7)
    #expect(machine.paused.load(ordering: .relaxed) == delayed)
  }
}
