/// The hash of a row's key, seeded per store. FORMAT.md, section 7. It is built like the multiply-and-fold hashes (Wang
/// Yi, wyhash), with rounds of our own.
struct KeyHash: Sendable {
  let seed: UInt64
  /// The second word of each pair is mixed with this. It is secret like the seed, so that nobody can choose keys that
  /// make a factor zero, which would make the hash independent of the bytes before.
  private let second: UInt64

  init(seed: UInt64) {
    self.seed = seed
    second = Self.fold(seed ^ 0xD6E8_FEB8_6659_FD93, 0xE703_7ED1_A0B4_28DB)
  }

  @inline(__always)
  private static func fold(_ a: UInt64, _ b: UInt64) -> UInt64 {
    let product = a.multipliedFullWidth(by: b)
    return product.high ^ product.low
  }

  func callAsFunction(_ keyspace: KeyspaceID, _ key: UnsafeRawPointer, _ count: Int) -> RowHash {
    var hash = seed ^ (UInt64(keyspace.rawValue) &* 0x9E37_79B9_7F4A_7C15)
    var next = unsafe key
    var left = count
    while left >= 16 {
      let a = unsafe UInt64(littleEndian: next.loadUnaligned(as: UInt64.self))
      let b = unsafe UInt64(littleEndian: next.loadUnaligned(fromByteOffset: 8, as: UInt64.self))
      hash = Self.fold(hash ^ a, b ^ second)
      unsafe next += 16
      left &-= 16
    }
    let a: UInt64
    let b: UInt64
    if left >= 8 {
      a = unsafe UInt64(littleEndian: next.loadUnaligned(as: UInt64.self))
      b = unsafe Self.partial(next + 8, left &- 8)
    } else {
      a = unsafe Self.partial(next, left)
      b = 0
    }
    hash = Self.fold(hash ^ a, b ^ second)
    // The length has a round of its own: if it were mixed in together with a word, one more byte could cancel it out.
    return RowHash(Self.fold(hash ^ UInt64(count), 0x8EBC_6AF0_9C88_C6E3) ^ hash)
  }

  /// 0 to 7 bytes as a little-endian number.
  @inline(__always)
  private static func partial(_ bytes: UnsafeRawPointer, _ count: Int) -> UInt64 {
    var value: UInt64 = 0
    if count & 4 != 0 {
      value =
        unsafe UInt64(UInt32(littleEndian: (bytes + (count & 3)).loadUnaligned(as: UInt32.self)))
        << (8 &* UInt64(count & 3))
    }
    if count & 2 != 0 {
      let at = count & 1
      unsafe value |= UInt64(UInt16(littleEndian: (bytes + at).loadUnaligned(as: UInt16.self))) << (8 &* UInt64(at))
    }
    if count & 1 != 0 { unsafe value |= UInt64(bytes.load(as: UInt8.self)) }
    return value
  }
}
