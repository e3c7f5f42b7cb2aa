import CairnSimulation
import Testing

@testable import Cairn

@Suite struct CheckpointTests {
  private static func name(_ id: Int) -> String {
    "\(Machine.path)/\(String(repeating: "0", count: 10 - "\(id)".count))\(id).checkpoint"
  }

  private func fill(_ store: Store, _ range: Range<Int>) throws {
    let rows = try store.keyspace("rows")
    for number in range { try store.put([UInt8]("value \(number)"), at: .integer(Int64(number)), in: rows, .buffered) }
  }

  private func texts(_ machine: Machine, _ options: StoreOptions = Machine.options) throws -> [String] {
    let store = try machine.open(options)
    defer { try? store.close() }
    return try store.texts(store.keyspace("rows"))
  }

  @Test("Opening with a checkpoint reads only the log after it.")
  func openingReadsTheLogBehindTheCheckpointOnly() throws {
    let machine = Machine()
    let store = try machine.open()
    try fill(store, 0..<500)
    try store.checkpoint()
    try fill(store, 500..<510)
    try store.sync()
    let again = try machine.crash().open()
    #expect(again.recovery.checkpoint == 500 && again.recovery.commits == 10 && again.recovery.rows == 510)
    #expect(try again.texts(again.keyspace("rows")).count == 510)
  }

  @Test func aCheckpointIsDurableWhenTheCallReturns() throws {
    let machine = Machine()
    let store = try machine.open()
    try fill(store, 0..<100)
    try store.checkpoint()
    let again = try machine.crash().open()
    #expect(again.recovery.checkpoint == 100 && again.recovery.rows == 100 && again.durableSequence == 100)
  }

  @Test("No checkpoint is written if there are no new commits.") func withNothingNewNoneIsWritten() throws {
    let machine = Machine()
    let store = try machine.open()
    try store.checkpoint()
    #expect(store.statistics.checkpointBytes == 0)
    try fill(store, 0..<10)
    try store.checkpoint()
    let contents = machine.contents
    try store.checkpoint()
    #expect(machine.contents == contents)
  }

  @Test("At most two checkpoints are on disk.") func atMostTwoAreKept() throws {
    let machine = Machine()
    let store = try machine.open()
    for round in 0..<5 {
      try fill(store, round * 10..<round * 10 + 10)
      try store.checkpoint()
      #expect(machine.contents.keys.filter { $0.hasSuffix(".checkpoint") }.count == min(round + 1, 2))
    }
    let bytes = machine.contents.filter { $0.key.hasSuffix(".checkpoint") }.values.reduce(0) { $0 + $1.count }
    #expect(store.statistics.checkpointBytes == bytes)
  }

  private func checkpoints(_ machine: Machine) -> [String] {
    machine.contents.keys.filter { $0.hasSuffix(".checkpoint") }.sorted()
  }

  @Test("The first write removes checkpoints that a crash has left and that the manifest does not list.")
  func leftovers() throws {
    let machine = Machine()
    let store = try machine.open()
    for round in 0..<3 {
      try fill(store, round * 10..<round * 10 + 10)
      try store.checkpoint()
    }
    // The removal of the first checkpoint is not durable.
    let next = machine.crash()
    let file = try next.files.open(Self.name(7), .create)
    try file.write([1, 2, 3], at: 0)
    file.close()
    let found = [1, 2, 3, 7].map(Self.name)
    #expect(checkpoints(next) == found)
    var options = Machine.options
    options.access = .readOnly
    try next.open(options).close()
    let again = try next.open()
    #expect(checkpoints(next) == found)
    try fill(again, 30..<31)
    #expect(checkpoints(next) == [2, 3].map(Self.name))
    try again.sync()
    let last = try next.crash().open()
    #expect(last.recovery.checkpoint == 30 && last.recovery.rows == 31)
  }

  @Test(
    "A checkpoint that takes the place of an unfinished one is not removed as a leftover.", arguments: [false, true])
  func leftoverBegunAnew(_ isWrittenMeanwhile: Bool) throws {
    let machine = Machine()
    let store = try machine.open()
    try fill(store, 0..<10)
    try store.close()
    let file = try machine.files.open(Self.name(1), .create)
    try file.write([1, 2, 3], at: 0)
    file.close()

    let again = try machine.open()
    let rows = try again.keyspace("rows")
    let hasWritten = Lock(!isWrittenMeanwhile)
    machine.files.gate = { operation, path in
      guard operation == .write, path == Self.name(1),
        hasWritten.withLock({ hasWritten in
          defer { hasWritten = true }
          return !hasWritten
        })
      else { return }
      #expect(failure { try again.put([1], at: .integer(10), in: rows, .buffered) } == nil)
    }
    try again.checkpoint()
    machine.files.gate = nil
    if !isWrittenMeanwhile { try again.put([1], at: .integer(10), in: rows) }
    #expect(checkpoints(machine) == [Self.name(1)])
    try again.close()
    let last = try machine.kill().open()
    #expect(last.recovery.checkpoint == 10 && last.recovery.rows == 11)
  }

  @Test(
    "D19: A checkpoint that does not match the log is ignored as a whole.", arguments: ["flip", "cut", "gone", "other"])
  func misfits(_ damage: String) throws {
    let machine = Machine()
    let store = try machine.open()
    try fill(store, 0..<200)
    try store.checkpoint()
    try fill(store, 200..<300)
    try store.checkpoint()
    try store.close()
    let expected = try texts(try machine.kill())
    let newest = Self.name(2)
    switch damage {
    case "flip":
      let length = try #require(machine.contents[newest]).count
      for offset in stride(from: 0, to: length, by: 997) {
        let copy = try machine.kill()
        try copy.rewrite(newest) { $0[offset] ^= 0x10 }
        let again = try copy.open()
        #expect(again.recovery.checkpoint == 200 && again.recovery.ignoredCheckpoints.count == 1)
        #expect(try again.texts(again.keyspace("rows")) == expected)
      }
    case "cut":
      try machine.rewrite(newest) { $0.removeLast(8) }
      #expect(try texts(machine) == expected)
    case "gone":
      try machine.files.remove(newest)
      try machine.files.remove(Self.name(1))
      let again = try machine.open()
      #expect(again.recovery.checkpoint == nil && again.recovery.ignoredCheckpoints.count == 2)
      #expect(try again.texts(again.keyspace("rows")) == expected)
    default:
      let other = try #require(machine.contents[Self.name(1)])
      try machine.rewrite(newest) { $0 = other }
      let again = try machine.open()
      #expect(again.recovery.checkpoint == 200)
      #expect(try again.texts(again.keyspace("rows")) == expected)
    }
  }

  @Test(
    "A checkpoint of minor version 0 with retained versions is ignored, as its rows may be misplaced.",
    arguments: [false, true])
  func minorVersion(_ retainsVersions: Bool) throws {
    let machine = Machine()
    let store = try machine.open()
    try fill(store, 0..<20)
    if retainsVersions { try store.setRetention(.last(2), of: store.keyspace("rows")) }
    try store.checkpoint()
    try store.close()
    let expected = try texts(try machine.kill())
    try machine.rewrite(Self.name(1)) { bytes in
      bytes[10] = 0
      var checksum = ByteWriter()
      checksum.append(CRC32C.checksum(Array(bytes[..<124])))
      bytes.replaceSubrange(124..<128, with: checksum.bytes)
    }
    let again = try machine.open()
    #expect(again.recovery.ignoredCheckpoints.count == (retainsVersions ? 1 : 0))
    #expect((again.recovery.checkpoint == nil) == retainsVersions)
    #expect(try again.texts(again.keyspace("rows")) == expected)
  }

  @Test("A checkpoint in progress delays nobody, and has the state after one commit.")
  func aCheckpointInProgressHoldsUpNobodyAndIsOfOneCommit() throws {
    let machine = Machine()
    let store = try machine.open()
    let rows = try store.keyspace("rows")
    // Write enough log for a checkpoint in the background.
    for number in 0..<1500 { try store.put(.noise(100), at: .integer(Int64(number)), in: rows, .buffered) }
    var steps = 0
    while machine.runOneInBackground(), store.statistics.checkpointBytes == 0 {
      steps += 1
      try store.put([7], at: .integer(Int64(steps * 13 % 1500)), in: rows, .buffered)
      try store.delete(.integer(Int64(steps * 17 % 1500)), in: rows, .buffered)
      try store.put([8], at: .integer(Int64(2000 + steps)), in: rows, .buffered)
    }
    #expect(store.statistics.checkpointBytes > 0 && steps > 3)
    try store.sync()
    let expected = try store.texts(rows)
    let again = try machine.kill().open()
    #expect(try #require(again.recovery.checkpoint) < CommitSequence(1500 + UInt64(steps)))
    #expect(again.recovery.ignoredCheckpoints.isEmpty)
    #expect(try again.texts(again.keyspace("rows")) == expected)
  }

  @Test("A checkpoint contains no row that is inserted while it is being written.") func newRows() throws {
    let machine = Machine()
    var options = Machine.options
    options.writesCheckpoints = false
    let store = try machine.open(options)
    let rows = try store.keyspace("rows")
    try fill(store, 0..<1000)
    try store.sync()
    let begun = try CheckpointCapture(index: store.index, log: store.log, committer: store.committer)
    let capture = try #require(begun)
    var added: Int64 = 0
    capture.leafWasRead = {
      added += 1
      #expect(failure { try store.put([1], at: .integer(-added), in: rows, .buffered) } == nil)
    }
    while try capture.step() == nil {}
    #expect(added > 1)
    let again = try machine.crash().open(options)
    #expect(again.recovery.checkpoint == 1000 && again.statistics.rows == 1000)
    // The ordered index has no entry that leads to no row.
    let keyspace = try again.keyspace("rows").index
    let tree = try #require(keyspace.tree)
    let entries = try LeafEntries.with { entries in
      var (found, bound) = (0, [UInt8]?.none)
      repeat {
        bound = try unsafe tree.leaf(from: bound, into: &entries).fence?.bytes
        for position in 0..<entries.count {
          #expect(try unsafe keyspace.locator.find(entries[position].hash) != nil)
          found += 1
        }
      } while bound != nil
      return found
    }
    #expect(entries == 1000)
  }

  @Test func noSpaceForACheckpointChangesNothing() throws {
    let machine = Machine()
    let store = try machine.open()
    try fill(store, 0..<100)
    try store.sync()
    let names = machine.contents.keys.sorted()
    machine.files.capacity = machine.contents.values.reduce(0) { $0 + $1.count } + 6000
    #expect(failure { try store.checkpoint() }?.code == .noSpace)
    #expect(machine.contents.keys.sorted() == names)
    try fill(store, 100..<110)
    machine.files.capacity = nil
    try store.checkpoint()
    #expect(try texts(machine.crash()).count == 110)
  }

  @Test func aStoreThatIsClosedWithMuchToReplayLeavesACheckpoint() throws {
    let machine = Machine()
    var options = StoreOptions()
    options.segmentSize = 64 << 20
    let store = try machine.open(options)
    let rows = try store.keyspace("rows")
    for number in 0..<12 { try store.put(.noise(300_000, seed: UInt64(number)), at: .integer(Int64(number)), in: rows) }
    try store.close()
    let contents = machine.contents
    let again = try machine.open(options)
    #expect(again.recovery.checkpoint == 12 && again.recovery.commits == 0)
    try again.close()
    #expect(machine.contents == contents)
  }

  @Test("A store without the option writes no checkpoints.") func withoutCheckpointsNoneIsWritten() throws {
    let machine = Machine()
    var options = Machine.options
    options.writesCheckpoints = false
    let store = try machine.open(options)
    let rows = try store.keyspace("rows")
    for number in 0..<3000 { try store.put(.noise(900), at: .integer(Int64(number)), in: rows, .buffered) }
    machine.runBackground()
    try store.close()
    #expect(!machine.contents.keys.contains { $0.hasSuffix(".checkpoint") })
  }

  // MARK: Going back

  @Test("G21: A store can be opened as it was after an earlier commit.") func aStoreOpensAsItWasAfterACommit() throws {
    let machine = Machine()
    let store = try machine.open()
    try fill(store, 0..<300)
    try store.checkpoint()
    try fill(store, 300..<900)
    try store.close()
    for sequence in [1, 299, 300, 301, 650, 900, 5000] as [CommitSequence] {
      var options = Machine.options
      options.access = .readOnly
      options.upTo = sequence
      let then = try machine.open(options)
      #expect(try then.texts(then.keyspace("rows")).count == min(900, Int(sequence.rawValue)))
      #expect(then.lastSequence == min(900, sequence))
      #expect(then.recovery.checkpoint == (sequence >= 300 ? 300 : nil))
    }
  }

  @Test("G21: The first write saves the log after the requested commit in a file.")
  func whatIsBehindTheCommitThatWasAskedForIsKeptAside() throws {
    let machine = Machine()
    let store = try machine.open()
    let rows = try store.keyspace("rows")
    for number in 0..<400 { try store.put(.noise(600), at: .integer(Int64(number)), in: rows) }
    machine.runBackground()
    try store.checkpoint()
    try store.close()
    let before = machine.contents

    var options = Machine.options
    options.upTo = 30
    let then = try machine.open(options)
    #expect(machine.contents == before)
    let sequence = try then.put([1], at: .integer(0), in: try then.keyspace("rows"))
    #expect(sequence > 400)
    for part in then.recovery.discarded {
      #expect(machine.contents["\(Machine.path)/\(part.keptAs)"]?.count == part.length)
    }
    #expect(then.recovery.discardedBytes > 200_000)
    try then.close()
    let again = try machine.crash().open()
    #expect(try again.texts(again.keyspace("rows")).count == 30 && again.recovery.discarded.isEmpty)
    #expect(try again.get(.integer(0), in: again.keyspace("rows")) == [1])
  }

  @Test(
    "A store opened as of an earlier commit keeps later checkpoints until its first write.",
    arguments: [false, true])
  func checkpointBeforeTheFirstWrite(_ compacts: Bool) throws {
    let machine = Machine()
    var options = StoreOptions()
    options.compacts = false
    options.writesCheckpoints = false
    let store = try machine.open(options)
    try fill(store, 0..<300)
    try store.checkpoint()
    let rows = try store.keyspace("rows")
    for number in 0..<100 as Range<Int64> { try store.delete(.integer(number), in: rows, .buffered) }
    try fill(store, 300..<800)
    try store.checkpoint()
    try store.close()
    let before = machine.contents

    var back = options
    back.upTo = 500
    let then = try machine.open(back)
    if compacts { try then.compact() } else { try then.checkpoint() }
    try then.close()
    #expect(machine.contents == before)
    let whole = try machine.open(options)
    #expect(whole.recovery.checkpoint == 900 && whole.recovery.rows == 700)
    try whole.close()

    let again = try machine.open(back)
    try fill(again, 1000..<1001)
    try again.checkpoint()
    try again.close()
    let last = try machine.crash().open(options)
    #expect(last.recovery.checkpoint == last.lastSequence && last.lastSequence > 900)
    #expect(last.recovery.rows == 301 && last.recovery.ignoredCheckpoints.isEmpty)
  }

  @Test("G17: A store with damage can be opened as of a commit before the damage.")
  func goingBackBehindDamageOpensWhatIsRefusedOtherwise() throws {
    let machine = Machine()
    var options = Machine.options
    options.writesCheckpoints = false
    let store = try machine.open(options)
    let rows = try store.keyspace("rows")
    for number in 0..<300 { try store.put(.noise(600), at: .integer(Int64(number)), in: rows) }
    machine.runBackground()
    try store.close()
    try machine.rewrite(Machine.segment(2)) { $0[20_000] ^= 1 }
    let refusal = try #require(failure { _ = try machine.open() })
    #expect(refusal.code == .corrupted && refusal.place?.segment == 2)
    options.upTo = 100
    let then = try machine.open(options)
    #expect(try then.texts(then.keyspace("rows")).count == 100)
  }

  // MARK: Progress

  @Test("Opening reports its progress and can be cancelled.")
  func openingTellsHowFarItHasComeAndCanBeCancelled() throws {
    let machine = Machine()
    let store = try machine.open()
    try fill(store, 0..<300)
    try store.close()
    let seen = Lock<[RecoveryProgress]>([])
    var options = Machine.options
    options.recoveryProgress = { progress in
      seen.withLock { $0.append(progress) }
      return true
    }
    try machine.open(options).close()
    let last = try #require(seen.withLock { $0.last })
    #expect(last.bytes > 0 && last.bytes <= last.totalBytes)

    let contents = machine.contents
    options.recoveryProgress = { _ in false }
    #expect(failure { _ = try machine.open(options) }?.code == .cancelled)
    #expect(machine.contents == contents)
    #expect(try texts(machine).count == 300)
  }
}
