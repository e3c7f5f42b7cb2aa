import Cairn

/// A checksum over all rows of a keyspace: the same rows give the same checksum, and other rows most likely another
/// one.
struct Fingerprint: Hashable, Sendable {
  private(set) var rows = 0
  private var hash: UInt64 = 0xCBF2_9CE4_8422_2325

  init(of keyspace: Keyspace, in snapshot: Snapshot) throws {
    try keyspace.scan(at: snapshot) { key, value, _ in
      rows += 1
      mix(key)
      mix(value)
      return .next
    }
  }

  var checksum: String {
    let digits = String(hash, radix: 16)
    return String(repeating: "0", count: 16 - digits.count) + digits
  }

  /// FNV-1a over the length and the bytes.
  private mutating func mix(_ bytes: RawSpan) {
    hash = (hash ^ UInt64(bytes.byteCount)) &* 0x100_0000_01B3
    let bytes = Span<UInt8>(_bytes: bytes)
    for index in bytes.indices {
      hash = (hash ^ UInt64(bytes[index])) &* 0x100_0000_01B3
    }
  }
}
