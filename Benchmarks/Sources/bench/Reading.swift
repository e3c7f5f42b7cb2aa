/// A summary of what a run read: shows that every engine read the same bytes, at the same small cost for each engine.
struct Reading: Sendable, Hashable {
  private(set) var found = 0
  private(set) var bytes = 0
  private(set) var checksum: UInt64 = 0

  /// Adds one value: its length, and a checksum of its first 8 bytes and its last 8 that depends on the order of the
  /// values.
  @inline(__always)
  mutating func add(_ value: UnsafeRawPointer, count: Int) {
    found += 1
    bytes += count
    guard count >= 8 else { return }
    let first = value.loadUnaligned(as: UInt64.self)
    let last = value.loadUnaligned(fromByteOffset: count - 8, as: UInt64.self)
    checksum = (checksum ^ first ^ (last << 1 | last >> 63)) &* 0x9E37_79B9_7F4A_7C15
  }

  /// Adds what another thread read; the order of the threads makes no difference.
  mutating func merge(_ other: Reading) {
    found += other.found
    bytes += other.bytes
    checksum ^= other.checksum
  }
}
