import CCairnPlatform
import CairnSimulation
import Testing

@testable import Cairn

@Suite struct PrimitivesTests {
  private func encoded(_ value: UInt64) -> [UInt8] {
    var bytes = [UInt8](repeating: 0, count: Varint.maximumLength)
    let length = unsafe bytes.withUnsafeMutableBytes { unsafe Varint.write(value, to: $0.baseAddress!) }
    return Array(bytes.prefix(length))
  }

  private func decoded(_ bytes: [UInt8]) -> UInt64? {
    unsafe bytes.withUnsafeBytes { bytes in
      guard let base = bytes.baseAddress else { return nil }
      var cursor = unsafe VarintCursor(base, bytes.count)
      return cursor.next()
    }
  }

  @Test func varintsComeBack() {
    let powers = (0..<64).map { 1 << UInt64($0) as UInt64 }
    for value in powers + powers.map({ $0 - 1 }) + powers.map({ $0 + 1 }) + [.max] {
      let bytes = encoded(value)
      #expect(bytes.count == Varint.length(value))
      #expect(decoded(bytes) == value)
      #expect(decoded(bytes + [0xFF]) == value)
      #expect(decoded(Array(bytes.dropLast())) == nil)
    }
    #expect(encoded(300) == [0xAC, 0x02])
  }

  @Test(
    arguments: [
      [], [0x80], [0x80, 0], [0xFF, 0x80, 0], [UInt8](repeating: 0xFF, count: 9) + [2],
      [UInt8](repeating: 0x80, count: 10) + [1], [UInt8](repeating: 0xFF, count: 11),
    ] as [[UInt8]]) func otherVarintsAreRefused(_ bytes: [UInt8])
  {
    #expect(decoded(bytes) == nil)
  }

  @Test(arguments: seeds) func anyBytesAreNoVarintOrTheShortest(_ seed: UInt64) {
    var random = SplitMix64(seed: seed)
    for _ in 0..<5000 {
      let bytes = (0..<Int.random(in: 1..<13, using: &random)).map { _ in
        UInt8.random(in: .min ... .max, using: &random) | (Int.random(in: 0..<4, using: &random) > 0 ? 0x80 : 0)
      }
      if let value = decoded(bytes) { #expect(bytes.starts(with: encoded(value))) }
    }
  }

  @Test func aReaderStopsAtTheEnd() {
    let bytes: [UInt8] = [1, 2, 0, 0, 0, 3, 0, 0]
    unsafe bytes.withUnsafeBytes { bytes in
      var reader = unsafe ByteReader(bytes)
      #expect(reader.next(UInt8.self) == 1)
      #expect(reader.next(UInt32.self) == 2)
      #expect(reader.next(UInt32.self) == nil)
      #expect(reader.bytes(4) == nil)
      #expect(reader.bytes(-1) == nil)
      #expect(reader.bytes(1) == [3])
      let isZero = reader.zeros(2)
      #expect(isZero)
      #expect(reader.remaining == 0)
      #expect(reader.next(UInt8.self) == nil)
    }
  }

  @Test func checksumsAreCastagnolis() {
    #expect(CRC32C.checksum([]) == 0)
    #expect(CRC32C.checksum(Array("123456789".utf8)) == 0xE306_9283)
    // RFC 3720, appendix B.4.
    #expect(CRC32C.checksum([UInt8](repeating: 0, count: 32)) == 0x8A91_36AA)
    #expect(CRC32C.checksum([UInt8](repeating: 0xFF, count: 32)) == 0x62A8_AB43)
    #expect(CRC32C.checksum(Array(0..<32)) == 0x46DD_794E)
    #expect(CRC32C.checksum((0..<32).reversed()) == 0x113F_DB5C)
  }

  @Test(arguments: seeds) func hardwareAndSoftwareAgree(_ seed: UInt64) {
    var random = SplitMix64(seed: seed)
    let bytes = (0..<300).map { _ in UInt8.random(in: .min ... .max, using: &random) }
    unsafe bytes.withUnsafeBytes { bytes in
      guard let base = bytes.baseAddress else { return }
      for _ in 0..<300 {
        let start = Int.random(in: 0..<20, using: &random)
        let count = Int.random(in: 0...(bytes.count - start), using: &random)
        let middle = Int.random(in: 0...count, using: &random)
        let initial = UInt32.random(in: .min ... .max, using: &random)
        let whole = unsafe cairn_crc32c(initial, base + start, count)
        #expect(unsafe whole == cairn_crc32c_software(initial, base + start, count))
        let first = unsafe cairn_crc32c(initial, base + start, middle)
        #expect(unsafe whole == cairn_crc32c(first, base + start + middle, count - middle))
      }
    }
  }
}

@Suite struct MatchTests {
  @Test(arguments: seeds) func aLineIsComparedAsItsWordsAre(_ seed: UInt64) {
    var random = SplitMix64(seed: seed)
    let mask: UInt32 = (1 << 25) - 1
    let line = unsafe UnsafeMutableBufferPointer<UInt64>(
      start: UnsafeMutableRawPointer.allocate(byteCount: 64, alignment: 64).bindMemory(to: UInt64.self, capacity: 8),
      count: 8)
    defer { unsafe line.deallocate() }
    for _ in 0..<1000 {
      let wanted = UInt32.random(in: 0...mask, using: &random)
      for index in line.indices {
        // About half of them match, and the other bits of the word make no difference.
        let low = Bool.random(using: &random) ? wanted : wanted ^ 1 << UInt32.random(in: 0..<25, using: &random)
        unsafe line[index] = random.next() & ~UInt64(mask) | UInt64(low)
      }
      let expected = line.indices.filter { unsafe UInt32(truncatingIfNeeded: line[$0]) & mask == wanted }
      let matches = unsafe cairn_match(UnsafeRawPointer(line.baseAddress.unsafelyUnwrapped), mask, wanted)
      #expect(matches == expected.reduce(0) { $0 | 1 << UInt32($1) })
    }
  }
}
