/// What a run read: proof that every engine touched the same bytes, at the same small cost for each.
struct Reading: Sendable, Hashable {
  private(set) var found = 0
  private(set) var bytes = 0
  private(set) var checksum: UInt64 = 0

  /// Folds one value in: its length, its first 8 bytes and its last 8. The order of the values counts.
  @inline(__always)
  mutating func add(_ value: UnsafeRawPointer, count: Int) {
    found += 1
    bytes += count
    guard count >= 8 else { return }
    let first = value.loadUnaligned(as: UInt64.self)
    let last = value.loadUnaligned(fromByteOffset: count - 8, as: UInt64.self)
    checksum = (checksum ^ first ^ (last << 1 | last >> 63)) &* 0x9E37_79B9_7F4A_7C15
  }

  /// Joins what another thread read; the order of the threads does not count.
  mutating func merge(_ other: Reading) {
    found += other.found
    bytes += other.bytes
    checksum ^= other.checksum
  }
}
