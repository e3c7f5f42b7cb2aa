import Cairn
import CairnSimulation
import Testing

#if canImport(Glibc)
  import Glibc
#elseif canImport(Musl)
  import Musl
#elseif canImport(Darwin)
  import Darwin
#endif

@Suite struct LimitTests {
  private let machine = Machine()

  @Test(arguments: [Keyspace.Order.ordered, .unordered]) func aKeyHas65536BytesAtMost(_ order: Keyspace.Order) throws {
    var store = try machine.open()
    let longest = Key.bytes(.noise(65_535))
    let tooLong = Key.bytes(.noise(65_536))
    let text = Key.string(String(repeating: "x", count: 65_535))
    func rows() throws -> Keyspace { try store.keyspace("rows", order: order) }
    #expect(longest.encoded.count == 65_536)
    try store.put([1], at: longest, in: rows())
    try store.put([2], at: text, in: rows())
    #expect(failure { try store.put([1], at: tooLong, in: rows()) }?.code == .keyTooLong)
    #expect(failure { try store.delete(tooLong, in: rows()) }?.code == .keyTooLong)
    #expect(failure { try store.write { try $0.check(tooLong, in: rows(), .absent) } }?.code == .keyTooLong)
    #expect(
      failure {
        try store.write { try unsafe $0.put([1].span.bytes, bytes: [UInt8].noise(65_536).span.bytes, in: rows()) }
      }?.code == .keyTooLong)
    // A zero takes two bytes inside a tuple.
    #expect(
      failure { try store.put([1], at: [.bytes([UInt8](repeating: 0, count: 40_000))], in: rows()) }?.code
        == .keyTooLong)
    for _ in 0..<2 {
      #expect(try store.get(longest, in: rows()) == [1])
      #expect(try store.get(text, in: rows()) == [2])
      #expect(try store.get(tooLong, in: rows()) == nil)
      #expect(try store.contains(tooLong, in: rows()) == false)
      #expect(try store.read { try $0.count(in: rows()) } == 2)
      try store.close()
      store = try machine.open()
    }
  }

  /// The value is one gibibyte and one byte of address space, not of memory.
  @Test func aValueHasOneGibibyteAtMost() throws {
    let count = (1 << 30) + 1
    let flags = MAP_PRIVATE | MAP_ANON | MAP_NORESERVE
    let memory = unsafe mmap(nil, count, PROT_READ, flags, -1, 0)
    try unsafe #require(memory != MAP_FAILED)
    defer { unsafe munmap(memory, count) }
    let store = try machine.open()
    let rows = try store.keyspace("rows")
    let value = unsafe UnsafeRawBufferPointer(start: memory, count: count)
    let error = failure { try store.write { batch in try unsafe batch.put(value.bytes, at: 1, in: rows) } }
    #expect(error?.code == .valueTooLarge)
    #expect(try store.contains(1, in: rows) == false)
  }

  @Test func tuplesNest64DeepAtMost() throws {
    let store = try machine.open()
    let rows = try store.keyspace("rows")
    func nested(_ depth: Int) -> Key { (0..<depth).reduce(7) { inner, _ in .tuple([inner]) } }
    try store.put([1], at: nested(64), in: rows)
    #expect(failure { try store.put([1], at: nested(65), in: rows) }?.code == .invalidArgument)
    #expect(failure { try store.delete(nested(65), in: rows) }?.code == .invalidArgument)
    #expect(try store.get(nested(64), in: rows) == [1])
    #expect(try store.read { try $0.rows(in: rows) }.map(\.key) == [nested(64)])
    try store.close()
    let again = try machine.open()
    #expect(try again.read { try $0.rows(in: again.keyspace("rows")) }.map(\.key) == [nested(64)])
  }

  @Test(arguments: [0, -1, 1, (1 << 16) - 1, (1 << 30) + 1, .max, .min]) func anotherSegmentSizeIsRefused(_ size: Int)
    throws
  {
    var options = StoreOptions()
    options.segmentSize = size
    #expect(failure { _ = try machine.open(options) }?.code == .invalidArgument)
    #expect(machine.files.contents.isEmpty)
  }

  @Test("G3: A batch larger than a segment gets a segment of its own.")
  func largeBatches() throws {
    var store = try machine.open()
    func rows() throws -> Keyspace { try store.keyspace("rows") }
    try store.put([0], at: "first", in: rows())
    try store.write { batch in
      for key in 0..<3000 as Range<Int64> {
        try batch.put([UInt8].noise(100, seed: UInt64(key)), at: .integer(key), in: rows())
      }
    }
    try store.put([9], at: "last", in: rows())
    #expect(store.statistics.segments == 2)
    #expect(try #require(machine.files.contents[Machine.segment(2)]).count > 300_000)
    for _ in 0..<2 {
      #expect(try store.read { try $0.count(in: rows()) } == 3002)
      for key in 0..<3000 as Range<Int64> {
        #expect(try store.get(.integer(key), in: rows()) == [UInt8].noise(100, seed: UInt64(key)))
      }
      try store.close()
      store = try machine.open()
    }
    #expect(try store.get("last", in: rows()) == [9])
  }
}
