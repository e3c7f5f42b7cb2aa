import Cairn
import CairnSimulation
import Synchronization
import Testing

/// Counts calls made in closures.
final class Counter: Sendable {
  private let value = Atomic<Int>(0)
  var count: Int { value.load(ordering: .relaxed) }
  func add() { value.add(1, ordering: .relaxed) }
}

@Suite struct OpeningTests {
  private let machine = Machine()

  private func fill() throws {
    let store = try machine.open()
    try store.put([UInt8]("value"), at: "key", in: store.keyspace("rows"))
    try store.close()
  }

  /// Checks that opening fails with an error of this code and changes nothing.
  private func expect(_ code: StoreError.Code, _ options: StoreOptions = Machine.options) {
    let before = machine.files.contents
    let error = failure { _ = try machine.open(options) }
    #expect(error?.code == code)
    #expect(machine.files.contents == before)
  }

  private static let reserve = "\(Machine.path)/RESERVE"

  private static var readOnly: StoreOptions {
    var options = Machine.options
    options.access = .readOnly
    return options
  }

  @Test("G15: Opening an open store returns the same store, whatever path leads to it.") func twice() throws {
    let store = try machine.open()
    #expect(try machine.open() === store)
    #expect(try machine.open(at: "/./store/") === store)
    #expect(machine.files.count(of: .lock) == 1)
    try store.close()
    let again = try machine.open()
    #expect(again !== store)
    try store.close()
    #expect(try machine.open() === again)

    try withTemporaryDirectory { directory in
      let one = try Store.open(at: "\(directory)/store")
      #expect(try Store.open(at: "\(directory)/../\(directory.split(separator: "/").last ?? "")/store") === one)
      let other = try Store.open(at: "\(directory)/other")
      #expect(other !== one)
    }
  }

  @Test("D22: A store that another process has open is refused as locked, and the error names the owner.")
  func locked() throws {
    try fill()
    let lock = try machine.files.lock("\(Machine.path)/LOCK", owner: [UInt8]("somebody else"))
    expect(.locked)
    #expect(failure { _ = try machine.open() }?.message.contains("somebody else") == true)
    // A read-only store needs no lock.
    let reader = try machine.open(Self.readOnly)
    #expect(try reader.get("key", in: reader.keyspace("rows")) == [UInt8]("value"))
    lock.release()
    let store = try machine.open()
    #expect(try store.get("key", in: store.keyspace("rows")) == [UInt8]("value"))
  }

  @Test("Opening a missing store without creating one throws `notFound` and makes nothing.")
  func nothingThere() throws {
    var options = Machine.options
    options.createsIfMissing = false
    expect(.notFound, options)
    expect(.notFound, Self.readOnly)
    #expect(try machine.files.list("/").isEmpty)
    try machine.files.createDirectory(Machine.path)
    expect(.notFound, options)
    _ = try machine.open()
    _ = try machine.open(options)
  }

  @Test("Something that is not a store is refused and left unchanged.") func anotherThingThere() throws {
    let file = try machine.files.open(Machine.path, .create)
    try file.write([1], at: 0)
    expect(.notAStore)
    expect(.notAStore, Self.readOnly)
    try machine.files.remove(Machine.path)
    try machine.files.createDirectory(Machine.path)
    let other = try machine.files.open("\(Machine.path)/letter", .create)
    try other.write([1], at: 0)
    expect(.notAStore)
    try machine.files.rename("\(Machine.path)/letter", to: "\(Machine.path)/MANIFEST")
    expect(.notAStore)
    expect(.notAStore, Self.readOnly)
  }

  @Test("G14: Opening without permission fails and changes nothing.") func noPermission() throws {
    try fill()
    for operation in [MemoryFileLayer.Operation.list, .open, .lock, .openDirectory, .map] {
      machine.files.failNext(operation, with: .noPermission)
      expect(.noPermission)
    }
    machine.files.failNext(.read, with: .system(5))
    expect(.inputOutput)
    let store = try machine.open()
    #expect(try store.get("key", in: store.keyspace("rows")) == [UInt8]("value"))
  }

  @Test("D21: A damaged manifest is refused.") func damagedManifest() throws {
    try fill()
    let path = "\(Machine.path)/MANIFEST"
    let bytes = try #require(machine.files.contents[path])
    for offset in bytes.indices.dropFirst(8) {
      try machine.rewrite(path) { $0[offset] ^= 4 }
      let before = machine.files.contents
      let code = failure { _ = try machine.open() }?.code
      #expect(code == (offset == 8 || offset == 9 ? .newerFormat : .damaged), "\(offset)")
      #expect(machine.files.contents == before)
      try machine.rewrite(path) { $0 = bytes }
    }
    for length in 8..<bytes.count {
      try machine.rewrite(path) { $0.removeLast($0.count - length) }
      expect(.damaged)
      try machine.rewrite(path) { $0 = bytes }
    }
    try machine.rewrite(path) { $0.append(0) }
    expect(.damaged)
  }

  private func seal(_ bytes: inout [UInt8], from start: Int, to end: Int) {
    let checksum = CRC32C.checksum(Array(bytes[start..<end]))
    for byte in 0..<4 { bytes[end + byte] = UInt8(truncatingIfNeeded: checksum >> UInt32(8 * byte)) }
  }

  @Test("A newer format is refused as such.") func newerFormats() throws {
    try fill()
    for (path, end) in [("\(Machine.path)/MANIFEST", -8), (Machine.segment(1), 124)] {
      let bytes = try #require(machine.files.contents[path])
      for offset in [8, 16, 23] {
        try machine.rewrite(path) { bytes in
          bytes[offset] += 1
          seal(&bytes, from: 0, to: end < 0 ? bytes.count + end : end)
        }
        expect(.newerFormat)
        expect(.newerFormat, Self.readOnly)
        try machine.rewrite(path) { $0 = bytes }
      }
    }
    let store = try machine.open()
    #expect(try store.get("key", in: store.keyspace("rows")) == [UInt8]("value"))
  }

  @Test("A store that has used up its epochs can be read, and refuses writes without being poisoned.")
  func epochsUsedUp() throws {
    try fill()
    try machine.rewrite("\(Machine.path)/MANIFEST") { bytes in
      // The highest epoch.
      bytes.replaceSubrange(72..<76, with: [0, 0, 0, 0x80])
      seal(&bytes, from: 0, to: bytes.count - 8)
    }
    let store = try machine.open()
    let rows = try store.keyspace("rows")
    #expect(failure { try store.put([1], at: 1, in: rows) }?.code == .numbersUsedUp)
    #expect(!store.isPoisoned)
    #expect(try store.get("key", in: rows) == [UInt8]("value"))
  }

  /// FORMAT.md, section 10: readers may ignore unknown compatible features; writers that do not know them refuse the
  /// store.
  @Test("A store with unknown compatible features can be opened for reading only.")
  func unknownCompatibleFeatures() throws {
    try fill()
    try machine.rewrite("\(Machine.path)/MANIFEST") { bytes in
      bytes[24] = 2
      seal(&bytes, from: 0, to: bytes.count - 8)
    }
    expect(.newerFormat)
    let reader = try machine.open(Self.readOnly)
    #expect(try reader.get("key", in: reader.keyspace("rows")) == [UInt8]("value"))
  }

  @Test("A store opened for reading changes nothing, and sees the state of its opening.") func readingOnly() throws {
    try fill()
    let before = machine.files.contents
    let store = try machine.open(Self.readOnly)
    #expect(machine.files.contents == before)
    let rows = try store.keyspace("rows")
    #expect(try store.get("key", in: rows) == [UInt8]("value"))
    #expect(failure { try store.put([1], at: 1, in: rows) }?.code == .readOnly)
    #expect(failure { try store.delete(1, in: rows) }?.code == .readOnly)
    try store.sync()
    // A reader can be open beside a writer, and sees the store as it was when the reader was opened.
    let writer = try machine.open()
    try writer.put([2], at: "key", in: writer.keyspace("rows"))
    #expect(try store.get("key", in: rows) == [UInt8]("value"))
    let second = try machine.open(Self.readOnly)
    #expect(try second.get("key", in: second.keyspace("rows")) == [2])
    try writer.close()
    try store.close()
    try second.close()
  }

  @Test("Closing a reader changes no file of a writer.") func closingAReaderTakesNothingFromAWriter() throws {
    let writer = try machine.open()
    let rows = try writer.keyspace("rows")
    var random = SplitMix64(seed: 1)
    for number in 0..<200 {
      let value = (0..<3000).map { _ in UInt8(truncatingIfNeeded: random.next()) }
      try writer.put(value, at: .integer(Int64(number)), in: rows, .buffered)
    }
    machine.runBackground()
    let before = machine.files.contents
    try machine.open(Self.readOnly).close()
    #expect(machine.files.contents == before)
    // The test would notice if a reader took anything: closing the writer gives some of its reserve back.
    let held = try #require(before[Self.reserve]?.count)
    try writer.close()
    #expect(try #require(machine.files.contents[Self.reserve]?.count) < held)
  }

  @Test func openingIsMadeWholeAfterACrashInTheMiddleOfMakingAStore() throws {
    // Count the operations, then crash before each of them.
    let counter = Counter()
    machine.files.gate = { _, _ in counter.add() }
    try fill()
    let count = counter.count
    #expect(count > 20)
    for stop in 0..<count {
      for seed in 0..<3 as Range<UInt64> {
        let machine = Machine(seed: seed)
        let reached = Counter()
        let crashed = Mutex<MemoryFileLayer?>(nil)
        machine.files.gate = { [files = machine.files] _, _ in
          if reached.count == stop {
            var random = SplitMix64(seed: seed)
            let next = seed == 0 ? files.crash() : files.crash(using: &random)
            crashed.withLock { $0 = next }
          }
          reached.add()
        }
        let store = try machine.open()
        try store.put([UInt8]("value"), at: "key", in: store.keyspace("rows"))
        try store.close()
        machine.files.gate = nil
        let next = Machine(try #require(crashed.withLock { $0 }))
        let again = try next.open()
        let found = try again.get("key", in: again.keyspace("rows"))
        #expect(found == nil || found == [UInt8]("value"))
        try again.put([UInt8]("new"), at: "key", in: again.keyspace("rows"))
        let last = try next.crash().open()
        #expect(try last.get("key", in: last.keyspace("rows")) == [UInt8]("new"))
      }
    }
  }
}
