import Cairn
import CairnSimulation
import Testing

@Suite struct KeyTests {
  @Test func encodesAsDocumented() {
    #expect((0 as Key).encoded == [0x20])
    #expect((1 as Key).encoded == [0x21, 1])
    #expect((255 as Key).encoded == [0x21, 0xFF])
    #expect((256 as Key).encoded == [0x22, 1, 0])
    #expect((-1 as Key).encoded == [0x1F, 0xFE])
    #expect((-255 as Key).encoded == [0x1F, 0])
    #expect((-256 as Key).encoded == [0x1E, 0xFE, 0xFF])
    #expect(Key.integer(.max).encoded == [0x28, 0x7F] + [UInt8](repeating: 0xFF, count: 7))
    #expect(Key.integer(.min).encoded == [0x18, 0x7F] + [UInt8](repeating: 0xFF, count: 7))
    #expect((1.5 as Key).encoded == [0x2C, 0xBF, 0xF8, 0, 0, 0, 0, 0, 0])
    #expect((-1.5 as Key).encoded == [0x2C, 0x40, 0x07, 0xFF, 0xFF, 0xFF, 0xFF, 0xFF, 0xFF])
    #expect(("a\0é" as Key).encoded == [0x30, 0x61, 0, 0xC3, 0xA9])
    #expect(Key.uuid(0x0102_0304_0506_0708_090A_0B0C_0D0E_0F10).encoded == [0x40] + Array(1...16))
    #expect(Key.bytes([0, 0xFF]).encoded == [0x48, 0, 0xFF])
    #expect(([] as Key).encoded == [0x50])
    #expect(
      Key.tuple([1, "a\0b", [2, []], .bytes([0])]).encoded == [
        0x50, 0x21, 1, 0x30, 0x61, 0, 0xFF, 0x62, 0, 0x50, 0x21, 2, 0x50, 0, 0, 0x48, 0, 0xFF, 0,
      ])
  }

  @Test func describesItself() {
    #expect("\(Key.integer(-5))" == "-5")
    #expect("\(Key.double(-0.5))" == "d'-0.5'")
    #expect("\(Key.string("a\"\n\u{1}é"))" == #""a\"\n\u{01}é""#)
    #expect("\(Key.uuid(0x0102_0304_0506_0708_090A_0B0C_0D0E_0FF0))" == "01020304-0506-0708-090a-0b0c0d0e0ff0")
    #expect("\(Key.bytes([0x0A, 0xFB]))" == "x'0afb'")
    #expect("\(Key.tuple([1, ["a"], []]))" == #"(1, ("a"), ())"#)
  }

  @Test func floatingPointNumbersAreInTheirOrder() {
    let numbers: [Double] = [
      -.infinity, -.greatestFiniteMagnitude, -1.5, -1, -.leastNonzeroMagnitude, 0, .leastNonzeroMagnitude, 1, 1.5,
      .greatestFiniteMagnitude, .infinity, .nan,
    ]
    let keys = numbers.map { Key($0) }
    for (left, right) in zip(keys, keys.dropFirst()) {
      #expect(left < right && left != right)
      #expect(left.encoded.lexicographicallyPrecedes(right.encoded))
    }
    #expect(Key(-0.0) == Key(0.0) && Key(-0.0).encoded == Key(0.0).encoded)
    #expect(Key(Double.signalingNaN) == Key(-Double.nan) && Key(Double.signalingNaN).encoded == Key(Double.nan).encoded)
    #expect(Set([Key(0.0), Key(-0.0), Key(Double.nan), Key(-Double.nan)]).count == 2)
    #expect(Key(Int64.max) < Key(-Double.infinity) && Key(Double.nan) < Key(""))
    // Encodings of numbers that are not written.
    for bits in [0x7FFF_FFFF_FFFF_FFFF, 0xFFF0_0000_0000_0001] as [UInt64] {
      let bytes = [0x2C] + (0..<8).map { UInt8(truncatingIfNeeded: bits >> (56 - 8 * $0)) }
      #expect(throws: MalformedKey.self) { try Key(validating: bytes) }
    }
  }

  @Test func valuesBecomeKeys() {
    let (name, number) = ("Berlin", 17)
    #expect(Key(name) == "Berlin" && Key(name.dropFirst()) == "erlin" && Key(number) == 17)
    #expect(Key(Int32(-1)) == -1 && Key(UInt32.max) == Key.integer(4_294_967_295))
    #expect(Key(name, number) == ["Berlin", 17])
    #expect(Key(name, number, 1.5, Key.bytes([1])) == ["Berlin", 17, 1.5, .bytes([1])])
    #expect(["a", "b"].key == ["a", "b"] && [Key("a"), Key(1)].key == ["a", 1])
    #expect(Key([name]) == ["Berlin"] && Key(Key(name)) == "Berlin")
  }

  @Test func stringsAreTheirBytes() {
    let composed = Key.string("\u{E9}")
    let decomposed = Key.string("e\u{301}")
    #expect(composed != decomposed)
    #expect(decomposed < composed)
    #expect(Set([composed, decomposed]).count == 2)
  }

  /// The comparison once took twice as long with each level.
  @Test func tuplesInTuplesAreComparedAtOnce() {
    let deep = (0..<60).reduce(Key.integer(1)) { inner, _ in [inner] }
    let deeper = (0..<60).reduce(Key.integer(2)) { inner, _ in [inner] }
    #expect(!(deep < deep) && deep < deeper && !(deeper < deep))
    #expect(([1, deep] as Key) < [1, deep, 0])
  }

  @Test(arguments: seeds) func encodingsCompareAsKeysAndComeBack(_ seed: UInt64) throws {
    var random = SplitMix64(seed: seed)
    let keys = (0..<300).map { _ in Key.random(&random) }
    for key in keys {
      let encoded = key.encoded
      #expect(encoded.count == key.encodedCount)
      let handedOut = unsafe key.withEncoded { unsafe Array($0) }
      #expect(handedOut == encoded)
      #expect(try Key(validating: encoded) == key)
      let again = try unsafe Key(validating: encoded.span.bytes)
      #expect(again == key)
      #expect(try Key(validating: encoded).hashValue == key.hashValue)
    }
    for (left, right) in zip(keys, keys.dropFirst()) {
      let (first, second) = (left.encoded, right.encoded)
      #expect((left < right) == first.lexicographicallyPrecedes(second), "\(left) \(right)")
      #expect((left == right) == (first == second), "\(left) \(right)")
    }
    #expect(
      keys.sorted().map(\.encoded) == keys.map(\.encoded).sorted { $0.lexicographicallyPrecedes($1) })
  }

  @Test func longKeysAreEncodedToo() {
    let long = Key.tuple([.string(String(repeating: "x\0", count: 5000)), 1])
    let handedOut = unsafe long.withEncoded { unsafe Array($0) }
    #expect(handedOut == long.encoded)
    #expect(throws: CancellationError.self) { try unsafe long.withEncoded { _ in throw CancellationError() } }
    #expect(throws: CancellationError.self) {
      try unsafe (1 as Key).withEncoded { _ in throw CancellationError() }
    }
  }

  @Test(
    arguments: [
      [], [0x00], [0x17], [0x29], [0xFF],
      [0x20, 0], [0x21], [0x21, 0], [0x22, 0, 1], [0x1F], [0x1F, 0xFF], [0x1E, 0xFF, 0], [0x21, 1, 1],
      [0x28, 0x80, 0, 0, 0, 0, 0, 0, 0], [0x18, 0x7F, 0xFF, 0xFF, 0xFF, 0xFF, 0xFF, 0xFF, 0xFE],
      [0x30, 0xFF], [0x30, 0xC3], [0x30, 0xC0, 0x80], [0x30, 0xED, 0xA0, 0x80],
      [0x40, 1], [0x40] + Array(0...16),
      [0x50, 0], [0x50, 0x30], [0x50, 0x30, 0x61], [0x50, 0x48, 0, 0xFF], [0x50, 0x50], [0x50, 0x50, 0, 0],
      [0x50, 0x60],
    ] as [[UInt8]]) func refusesWhatEncodingNeverGives(_ bytes: [UInt8])
  {
    #expect(throws: MalformedKey.self) { try Key(validating: bytes) }
  }

  @Test func nestingEndsSomewhere() throws {
    var key: Key = []
    for _ in 1..<Key.maximumNesting { key = [key] }
    #expect(key.nesting == 64)
    #expect(try Key(validating: key.encoded) == key)
    key = [key]
    #expect(key.nesting == 65)
    #expect(throws: MalformedKey.self) { try Key(validating: key.encoded) }
    #expect(throws: MalformedKey.self) { try Key(validating: [UInt8](repeating: 0x50, count: 1 << 20)) }
  }

  @Test(arguments: seeds) func anyBytesAreRefusedOrCanonical(_ seed: UInt64) {
    var random = SplitMix64(seed: seed)
    for _ in 0..<2000 {
      var bytes =
        Bool.random(using: &random)
        ? (0..<Int.random(in: 0..<40, using: &random)).map { _ in UInt8.random(in: .min ... .max, using: &random) }
        : Key.random(&random).encoded
      for _ in 0..<Int.random(in: 0..<3, using: &random) where !bytes.isEmpty {
        bytes[Int.random(in: bytes.indices, using: &random)] =
          [0, 0xFF, 0x20, 0x21, 0x1F, 0x30, 0x48, 0x50].randomElement(using: &random) ?? 0
      }
      if let key = try? Key(validating: bytes) { #expect(key.encoded == bytes) }
    }
  }
}

@Suite struct KeyRangeTests {
  private func contains(_ range: KeyRange, _ key: Key) -> Bool {
    let key = key.encoded
    return !key.lexicographicallyPrecedes(range.lower) && range.upper.map(key.lexicographicallyPrecedes) ?? true
  }

  @Test(arguments: seeds) func boundsAreWhatTheySay(_ seed: UInt64) {
    var random = SplitMix64(seed: seed)
    for _ in 0..<500 {
      let bounds = [Key.random(&random), Key.random(&random)].sorted()
      let (low, high) = (bounds[0], bounds[1])
      for key in [Key.random(&random), low, high] {
        #expect(contains(.all, key))
        #expect(contains(.from(low), key) == (key >= low))
        #expect(contains(.after(low), key) == (key > low))
        #expect(contains(.before(high), key) == (key < high))
        #expect(contains(.through(high), key) == (key <= high))
        #expect(contains(KeyRange(low..<high), key) == (low..<high).contains(key))
        #expect(contains(KeyRange(low...high), key) == (low...high).contains(key))
        #expect(contains(.prefix(low), key) == key.begins(with: low), "\(low) \(key)")
      }
    }
    #expect(KeyRange(("a" as Key)...) == .from("a"))
    #expect(KeyRange(..<("a" as Key)) == .before("a"))
    #expect(KeyRange(...("a" as Key)) == .through("a"))
  }

  @Test func prefixesEndWhereTheyShould() {
    #expect(contains(.prefix("ab"), "ab"))
    #expect(contains(.prefix("ab"), "ab\u{10FFFF}"))
    #expect(!contains(.prefix("ab"), "ac"))
    #expect(contains(.prefix(Key.bytes([1, 0xFF])), .bytes([1, 0xFF, 0xFF, 0xFF])))
    #expect(!contains(.prefix(Key.bytes([1, 0xFF])), .bytes([2])))
    #expect(contains(.prefix(Key.bytes([0xFF])), .bytes([0xFF, 0xFF])))
    #expect(!contains(.prefix(Key.bytes([])), []))
    #expect(contains(.prefix(Key(1, "a")), [1, "a", [9]]))
    #expect(!contains(.prefix(Key(1, "a")), [1, "a\0"]))
    #expect(!contains(.prefix(Key(1, "a")), [1, "ab"]))
    #expect(!contains(.prefix(7), 8))
  }
}

let seeds: Range<UInt64> = 0..<4

extension Key {
  func begins(with other: Key) -> Bool {
    switch (self, other) {
    case (.string(let whole), .string(let start)): whole.utf8.starts(with: start.utf8)
    case (.bytes(let whole), .bytes(let start)): whole.starts(with: start)
    case (.tuple(let whole), .tuple(let start)): whole.starts(with: start)
    default: self == other
    }
  }

  /// Chosen from few values, so that many are equal or nearly equal.
  static func random(_ random: inout SplitMix64, depth: Int = 0) -> Key {
    func pick<T>(_ values: [T]) -> T { values[Int.random(in: values.indices, using: &random)] }
    func few(_ range: Range<Int>) -> Range<Int> { 0..<Int.random(in: range, using: &random) }
    switch Int.random(in: 0..<(depth < 4 ? 8 : 5), using: &random) {
    case 0:
      let value = Int64(truncatingIfNeeded: random.next()) >> Int64.random(in: 0..<64, using: &random)
      return .integer(pick([value, 0, .min, .max, 255, 256, -255, -256, -257]))
    case 1: return .string(few(0..<4).map { _ in pick(["\0", "a", "b", "\u{7F}", "é", "\u{10FFFF}"]) }.joined())
    case 4: return .double(pick([0, -0.0, .nan, .infinity, -1.5, Double(bitPattern: random.next())]))
    case 2: return .uuid(pick([0, 1, .max, UInt128(random.next()) << 64 | UInt128(random.next())]))
    case 3: return .bytes(few(0..<4).map { _ in pick([0, 1, 0x50, 0xFE, 0xFF]) })
    default: return .tuple(few(0..<4).map { _ in .random(&random, depth: depth + 1) })
    }
  }
}
