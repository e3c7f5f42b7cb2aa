import CairnInspection
import CairnSimulation
import Testing

@testable import Cairn

/// What files other than the newest segment record about the durable end of the log.
@Suite struct WatermarkTests {
  /// Ways in which the newest segment can be lost or damaged.
  enum Loss: CaseIterable {
    case cutInHalf, cutBehindHeader, cutToNothing, zeroedFromHalf, zeroed, lastFrameZeroed, removed

    func apply(to machine: Machine) throws {
      let path = Machine.segment(1)
      // The space reserved after the log's end is not part of the loss.
      try machine.rewrite(path) { bytes in bytes = Array(bytes[...(bytes.lastIndex { $0 != 0 } ?? 0)]) }
      switch self {
      case .cutInHalf: try machine.rewrite(path) { $0.removeLast($0.count / 2) }
      case .cutBehindHeader: try machine.rewrite(path) { $0.removeLast($0.count - SegmentHeader.size) }
      case .cutToNothing: try machine.rewrite(path) { $0 = [] }
      case .zeroedFromHalf: try machine.rewrite(path) { Self.clear(&$0, from: $0.count / 2) }
      case .zeroed: try machine.rewrite(path) { Self.clear(&$0, from: 0) }
      case .lastFrameZeroed: try machine.rewrite(path) { Self.clear(&$0, from: $0.count - 8) }
      case .removed: try machine.files.remove(path)
      }
    }

    private static func clear(_ bytes: inout [UInt8], from start: Int) {
      for offset in start..<bytes.count { bytes[offset] = 0 }
    }
  }

  private let machine = Machine()

  private func fill(_ store: Store, _ numbers: Range<Int64>, _ durability: Durability = .durable) throws {
    for number in numbers {
      try store.put(
        [UInt8].noise(100, seed: UInt64(number)), at: .integer(number), in: store.keyspace("rows"), durability)
    }
  }

  private func count(_ store: Store) throws -> Int { try store.read { try $0.count(in: store.keyspace("rows")) } }

  @Test(
    "D16: Bytes lost from the newest segment after a clean close are detected, with and without a checkpoint.",
    arguments: Loss.allCases, [false, true])
  func afterClosing(_ loss: Loss, _ hasCheckpoint: Bool) throws {
    let store = try machine.open()
    try fill(store, 0..<20)
    try fill(store, 20..<30, .buffered)
    if hasCheckpoint { try store.checkpoint() }
    try store.close()
    #expect(try count(machine.open()) == 30)

    try loss.apply(to: machine)
    let before = machine.contents
    let error = try #require(failure { _ = try machine.open() })
    #expect(error.code == .damaged, "\(error)")
    #expect(error.place?.segment == 1)
    var readOnly = Machine.options
    readOnly.access = .readOnly
    #expect(failure { _ = try machine.open(readOnly) }?.code == .damaged)
    #expect(machine.contents == before)
    #expect(try !Verifier(at: Machine.path, files: machine.files).run().damage.isEmpty)
  }

  @Test(
    "D16: Bytes lost from the newest segment after the process was killed are detected.",
    arguments: [Loss.cutInHalf, .cutBehindHeader, .cutToNothing, .zeroedFromHalf, .zeroed, .removed])
  func afterKilling(_ loss: Loss) throws {
    let store = try machine.open()
    try fill(store, 0..<20)
    let machine = try self.machine.kill()
    try loss.apply(to: machine)
    #expect(failure { _ = try machine.open() }?.code == .damaged)
    #expect(try !Verifier(at: Machine.path, files: machine.files).run().damage.isEmpty)
  }

  @Test("G17: A store that has lost its end can be opened as of a remaining commit.")
  func goingBack() throws {
    var store = try machine.open()
    try fill(store, 0..<20)
    try store.close()
    try Loss.cutInHalf.apply(to: machine)
    let error = try #require(failure { _ = try machine.open() })
    let last = try #require(Int(error.message.split(separator: " ")[5].dropLast()))
    #expect((1..<20).contains(last))

    var options = Machine.options
    options.upTo = CommitSequence(UInt64(last))
    options.access = .readOnly
    #expect(try count(machine.open(options)) == last)
    options.access = .readWrite
    options.upTo = CommitSequence(UInt64(last) + 1)
    #expect(failure { _ = try machine.open(options) }?.code == .damaged)
    options.upTo = CommitSequence(UInt64(last))
    store = try machine.open(options)
    #expect(try count(store) == last)
    try fill(store, 100..<103)
    try store.close()
    store = try machine.open()
    #expect(try count(store) == last + 3)
    try store.close()
    #expect(try Verifier(at: Machine.path, files: machine.files).run().damage.isEmpty)
  }

  @Test("G17: Opening as of a commit before the durable end makes that commit the durable end.")
  func goingBackOnPurpose() throws {
    var store = try machine.open()
    try fill(store, 0..<20)
    try store.close()
    var options = Machine.options
    options.upTo = 7
    store = try machine.open(options)
    #expect(try count(store) == 7)
    try fill(store, 100..<101)
    for next in [machine.crash(), try machine.kill()] {
      let store = try next.open()
      #expect(try count(store) == 8)
      try store.close()
    }
  }

  @Test("D16: A `WATERMARK` that is torn, lost, old or of another store detects less, and reports nothing wrong.")
  func recordsThatSayNothing() throws {
    var store = try machine.open()
    try fill(store, 0..<20)
    try store.close()
    let path = "\(Machine.path)/\(WatermarkRecord.fileName)"
    let whole = try #require(machine.files.contents[path])
    #expect(whole.count == WatermarkRecord.fileLength)
    for start in WatermarkRecord.offsets {
      for offset in 0..<WatermarkRecord.size {
        try machine.rewrite(path) { $0 = whole }
        try machine.rewrite(path) { $0[start + offset] ^= 0x40 }
        #expect(try count(machine.open()) == 20)
      }
    }
    for bytes in [[], [UInt8](repeating: 0, count: 1024), Array(whole.prefix(700)), [UInt8].noise(5000)] {
      try machine.rewrite(path) { $0 = bytes }
      store = try machine.open()
      #expect(try count(store) >= 20)
      try fill(store, 200..<201)
      try store.close()
      #expect(unsafe machine.files.contents[path]!.withUnsafeBytes { unsafe WatermarkRecord.newest(in: $0) } != nil)
    }
    try machine.files.remove(path)
    store = try machine.open()
    try fill(store, 300..<301)
    try store.close()
    #expect(machine.files.contents[path] != nil)
  }

  @Test("D16: `WATERMARK` records what has been synced, in each segment and after each opening.")
  func follows() throws {
    let path = "\(Machine.path)/\(WatermarkRecord.fileName)"
    for epoch in 1...3 as ClosedRange<UInt32> {
      let store = try machine.open()
      for number in 0..<300 as Range<Int64> {
        try fill(store, number..<number + 1, number % 3 == 0 ? .durable : .buffered)
        machine.runBackground()
        guard let bytes = machine.files.contents[path],
          let record = unsafe bytes.withUnsafeBytes({ unsafe WatermarkRecord.newest(in: $0)?.record }),
          record.epoch == epoch
        else { continue }
        #expect(record.watermark.sequence == store.durableSequence)
      }
      try store.close()
      let record = unsafe machine.files.contents[path]!.withUnsafeBytes {
        unsafe WatermarkRecord.newest(in: $0)?.record
      }
      #expect(record?.epoch == epoch)
      #expect(record?.watermark.sequence == store.lastSequence)
    }
  }

  @Test("D16: A process that syncs what it found and writes nothing records the new durable end.")
  func syncOfWhatWasFound() throws {
    let store = try machine.open()
    try fill(store, 0..<5)
    try fill(store, 5..<20, .buffered)
    let machine = try self.machine.kill()
    let again = try machine.open()
    try again.sync()
    try again.close()
    try Loss.cutInHalf.apply(to: machine)
    #expect(failure { _ = try machine.open() }?.code == .damaged)
  }

  @Test("G16: Closing makes buffered commits durable, or throws.")
  func closing() throws {
    var store = try machine.open()
    try fill(store, 0..<10, .buffered)
    try store.close()
    #expect(store.durableSequence == 10)
    #expect(try count(machine.crash().open()) == 10)

    store = try machine.open()
    try fill(store, 10..<20, .buffered)
    machine.files.failNext(.sync, with: .system(5))
    #expect(failure { try store.close() }?.code == .poisoned)
    try store.close()
    // Closing released the lock in spite of the failure.
    store = try machine.open()
    #expect(try count(store) == 20)
    try store.close()
  }
}
