import Cairn
import CairnSimulation
import Testing

@Suite struct RecoveryTests {
  private let machine = Machine()

  private func put(_ count: Int, _ store: Store, _ durability: Durability = .durable) throws {
    let start = Int64(try store.read { try $0.count(in: store.keyspace("rows")) })
    for key in start..<start + Int64(count) {
      try store.put([UInt8].noise(200, seed: UInt64(key)), at: .integer(key), in: store.keyspace("rows"), durability)
    }
  }

  private func keys(_ store: Store) throws -> [Key] {
    try store.read { try $0.rows(in: store.keyspace("rows")) }.map(\.key)
  }

  private func keys(_ count: Int) -> [Key] { (0..<count).map { .integer(Int64($0)) } }

  /// The offsets of a segment's frames, which are found by their magic number.
  private func frames(_ path: String) throws -> [Int] {
    let bytes = try #require(machine.files.contents[path])
    return stride(from: 128, to: bytes.count - 48, by: 8).filter { bytes[$0..<$0 + 4].elementsEqual([UInt8]("FRM1")) }
  }

  /// The first commit does not fit in the first segment, which therefore has a header and no commits to wait for.
  @Test("D7: An empty segment is durable before the manifest lists it as sealed.") func emptySegmentIsSealed() throws {
    var options = Machine.options
    options.writesCheckpoints = false
    let store = try machine.open(options)
    try store.put([UInt8].noise(80_000), at: 0, in: store.keyspace("rows"), .buffered)
    machine.files.failNext(.reserve, with: .noSpace)
    machine.runBackground()
    let crashed = try machine.crash().open()
    #expect(crashed.statistics.rows <= 1)
  }

  @Test("D7: A checkpoint names no segment whose header is not durable.", arguments: 0..<5)
  func checkpointBehindAnEmptySegment(_ writes: Int) throws {
    var store = try machine.open()
    try put(1, store)
    try store.close()
    store = try machine.open()
    machine.files.failNext(.write, after: writes, with: .system(5))
    let error = failure { try store.put([2], at: 1, in: store.keyspace("rows"), .buffered) }
    #expect(error?.code == .poisoned || error == nil)
    if let failed = failure({ try store.close() }) { #expect(failed.code == .poisoned) }
    store = try machine.open()
    try store.checkpoint()
    let crashed = try machine.crash().open()
    #expect(try keys(crashed).first == 0)
  }

  @Test(
    "D10: A torn frame above the watermark ends the log; what follows is saved in a file and reported.",
    arguments: [0, 4, 8, 16, 40, 50, 100, 200])
  func tornTail(_ offset: Int) throws {
    var store = try self.machine.open()
    try put(5, store)
    try put(10, store, .buffered)
    let machine = try self.machine.kill()
    try store.close()
    let path = Machine.segment(1)
    let frame = try frames(path)[8]
    try machine.rewrite(path) { $0[frame + offset] ^= 0x10 }
    let before = machine.contents

    store = try machine.open()
    #expect(try keys(store) == keys(8))
    #expect(store.recovery.discardedBytes > 6 * 200)
    #expect(store.recovery.discardedAt?.segment == 1 && store.recovery.discardedAt?.offset == frame)
    #expect(store.recovery.rows == 8)
    #expect(store.recovery.lastSequence == store.lastSequence)
    #expect(store.recovery.watermark >= 4)
    #expect(machine.contents == before)

    // The first write copies the discarded bytes unchanged to a file of their own, and begins a new segment.
    try put(1, store)
    let aside = try #require(machine.contents["\(Machine.path)/0000000001-\(frame).discarded"])
    let original = try #require(before[path])
    #expect(aside == Array(original[frame..<frame + aside.count]))
    #expect(aside.count == store.recovery.discardedBytes)
    try store.close()
    store = try machine.open()
    #expect(try keys(store) == keys(9))
    #expect(store.recovery.discardedBytes == 0)
  }

  @Test(
    "D14: Damage below the watermark is refused with its place, and nothing on disk changes.",
    arguments: [0, 4, 8, 16, 40, 50, 100, 200])
  func corruption(_ offset: Int) throws {
    let store = try machine.open()
    try put(10, store)
    try store.close()
    let path = Machine.segment(1)
    let frame = try frames(path)[4]
    try machine.rewrite(path) { $0[frame + offset] ^= 0x10 }
    let before = machine.contents
    let error = failure { _ = try machine.open() }
    #expect(error?.code == .corrupted)
    #expect(error?.place == Place(segment: 1, offset: frame))
    #expect(machine.contents == before)
    try machine.rewrite(path) { $0[frame + offset] ^= 0x10 }
    #expect(try keys(machine.open()) == keys(10))
  }

  @Test("D14: Damage anywhere in a sealed segment that opening reads is refused.") func sealedSegments() throws {
    var store = try machine.open()
    try put(10, store)
    try store.close()
    store = try machine.open()
    try put(1, store)
    try store.close()
    let path = Machine.segment(1)
    let bytes = try #require(machine.files.contents[path])
    var random = SplitMix64(seed: 5)
    for _ in 0..<60 {
      let offset = Int.random(in: 0..<bytes.count, using: &random)
      try machine.rewrite(path) { $0[offset] ^= 1 << UInt8.random(in: 0..<8, using: &random) }
      let code = failure { _ = try machine.open() }?.code
      #expect(code == .corrupted || code == .damaged || code == .newerFormat, "\(offset)")
      try machine.rewrite(path) { $0 = bytes }
    }
    for length in [0, 100, 128, 500, bytes.count - 1] {
      try machine.rewrite(path) { $0.removeLast($0.count - length) }
      #expect([.corrupted, .damaged].contains(failure { _ = try machine.open() }?.code), "\(length)")
      try machine.rewrite(path) { $0 = bytes }
    }
    try machine.files.remove(path)
    #expect(failure { _ = try machine.open() }?.code == .damaged)
  }

  @Test("D10: A valid frame after an invalid one is not part of the log, in whatever segment it is.")
  func validFramesBehindTheEnd() throws {
    let store = try machine.open()
    try put(3, store)
    machine.runBackground()
    // Fill two more segments, and sync nothing of them.
    while store.statistics.segments < 3 { try put(20, store, .buffered) }
    let found = store.recovery.rows
    #expect(found == 0)
    let killed = try machine.kill()
    let path = Machine.segment(2)
    let bytes = try #require(killed.files.contents[path])
    let frame = try #require(
      stride(from: 8192, to: bytes.count, by: 8).first { bytes[$0..<$0 + 4].elementsEqual([UInt8]("FRM1")) })
    try killed.rewrite(path) { $0[frame + 60] ^= 1 }
    var again = try killed.open()
    let rows = try keys(again).count
    #expect(rows > 200)
    #expect(rows < (try keys(store).count) - 100)
    #expect(again.recovery.discardedAt?.segment == 2 && again.recovery.discardedAt?.offset == frame)
    let discarded = again.recovery.discardedBytes
    #expect(try keys(again) == keys(rows))
    try put(1, again)
    // All discarded bytes are kept: the rest of segment 2 and all of segment 3.
    let aside = killed.contents.filter { $0.key.hasSuffix(".discarded") }
    #expect(aside.values.reduce(0) { $0 + $1.count } == discarded)
    #expect(aside.keys.contains("\(Machine.path)/0000000003-0.discarded"))
    try again.close()
    again = try killed.open()
    #expect(try keys(again) == keys(rows + 1))
    #expect(again.recovery.discardedBytes == 0)
  }

  @Test("G14: A thousand openings without a write leave the directory unchanged.") func opening() throws {
    var store = try machine.open()
    try put(20, store)
    try put(5, store, .buffered)
    try store.close()
    for isTorn in [false, true] {
      if isTorn { try machine.rewrite(Machine.segment(1)) { $0 += [UInt8](repeating: 0xAA, count: 777) } }
      let before = machine.files.contents
      for _ in 0..<1000 {
        store = try machine.open()
        #expect(store.lastSequence == 25)
        try store.close()
      }
      #expect(machine.files.contents == before)
    }
  }

  @Test("D9: A recovered tail is sealed, and never appended to.") func sealing() throws {
    for life in 1...5 {
      let store = try machine.open()
      let before = machine.contents
      try put(1, store)
      #expect(store.statistics.segments == life)
      for (path, bytes) in before where path.hasSuffix(".segment") && bytes.prefix(128).contains(where: { $0 != 0 }) {
        // No earlier segment has changed, except that the zeros at its end may be gone.
        let now = try #require(machine.contents[path])
        #expect(bytes.starts(with: now) && bytes.dropFirst(now.count).allSatisfy { $0 == 0 })
      }
      try store.close()
    }
    #expect(try keys(machine.open()) == keys(5))
  }

  @Test(
    "G5: Every recovery leaves a gap in the sequences and begins a new epoch, even if a crash removed the former one.")
  func gaps() throws {
    var machine = machine
    var used: Set<CommitSequence> = []
    var epochs: Set<[UInt8]> = []
    var random = SplitMix64(seed: 17)
    for life in 0..<30 {
      let store = try machine.open()
      for number in 0..<4 {
        let sequence = try store.put([1], at: .integer(Int64(number)), in: store.keyspace("rows"), .buffered)
        #expect(used.allSatisfy { $0 < sequence }, "life \(life)")
        #expect(used.insert(sequence).inserted)
        if life % 3 == 0 && number == 1 { try store.sync() }
      }
      let header = try #require(
        machine.contents.filter { $0.key.hasSuffix(".segment") && $0.value.prefix(128).contains { $0 != 0 } }
          .max { $0.key < $1.key })
      #expect(epochs.insert(Array(header.value[52..<56])).inserted, "life \(life)")
      machine = life % 2 == 0 ? machine.crash() : machine.crash(using: &random)
    }
  }

  @Test("G10: A record is valid only at its own place: not inside a value, not moved, not in another segment.")
  func places() throws {
    let store = try machine.open()
    try put(4, store)
    let path = Machine.segment(1)
    let all = try frames(path)
    let bytes = try #require(machine.files.contents[path])
    // Write the second frame as a value, with keys of eight lengths, one of which puts the value at a multiple of 8;
    // then append the frame once more after the end of the log.
    let frame = Array(bytes[all[1]..<all[2]])
    for length in 0..<8 {
      try store.put(frame, at: .bytes([UInt8](repeating: 1, count: length)), in: store.keyspace("others"))
    }
    let end = store.statistics.logBytes
    try store.close()
    try machine.rewrite(path) { bytes in
      bytes.removeLast(bytes.count - end)
      bytes += frame
    }
    let again = try machine.open()
    #expect(again.recovery.commits == 12)
    #expect(again.recovery.discardedBytes == (frame.lastIndex { $0 != 0 } ?? 0) + 1)
    #expect(try keys(again) == keys(4))
    try again.close()

    // Put a whole segment of another store in this one's place.
    let other = Machine(seed: 2)
    let second = try other.open()
    try put(4, second)
    try second.close()
    let foreign = try #require(other.files.contents[path])
    try machine.rewrite(path) { $0 = foreign }
    #expect(failure { _ = try machine.open() }?.code == .damaged)
  }

  @Test("D10: Zeros after the end of the log are not reported as discarded bytes.") func zeros() throws {
    let store = try machine.open()
    try put(3, store)
    let killed = try machine.kill()
    let again = try killed.open()
    #expect(try keys(again) == keys(3))
    #expect(again.recovery.discardedBytes == 0)
    #expect(again.recovery.discardedAt == nil)
  }

  @Test("G5: Segments are replayed in the order of their numbers, and newer records replace older ones.")
  func order() throws {
    var options = Machine.options
    options.compacts = false
    let store = try machine.open(options)
    for round in 0..<400 {
      try store.put([UInt8]("\(round)") + .noise(2500), at: "k", in: store.keyspace("rows"), .buffered)
      if round % 3 == 0 { machine.runBackground() }
    }
    #expect(store.statistics.segments > 10)
    let expected = try store.row("k", in: store.keyspace("rows"))
    try store.close()
    let again = try machine.open()
    #expect(try again.row("k", in: again.keyspace("rows")) == expected)
    #expect(expected?.version == 400)
    #expect(again.statistics.liveBytes < 3000)
  }

  @Test("D7: No manifest refers to bytes that are not durable.") func manifestsAndBytes() throws {
    let store = try machine.open()
    let files = machine.files
    // The power fails each time that a manifest is put in its place.
    let problems = Counter()
    files.gate = { operation, path in
      guard operation == .syncDirectory else { return }
      var random = SplitMix64(seed: 23)
      for crashed in [Machine(files.crash()), Machine(files.crash(using: &random))] {
        if failure({ _ = try crashed.open() }) != nil { problems.add() }
      }
    }
    for round in 0..<60 {
      try put(20, store, round % 7 == 0 ? .durable : .buffered)
      machine.runBackground()
    }
    files.gate = nil
    #expect(problems.count == 0)
    #expect(store.statistics.segments > 4)
  }
}
