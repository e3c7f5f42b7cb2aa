/// A row's key: 16 bytes, a hash of the row number before the number itself, both big-endian. Rows written in ascending
/// order therefore arrive in random key order, and every key is distinct.
struct Key {
  private let hash: UInt64
  private let row: UInt64

  static let size = MemoryLayout<Key>.size

  @inline(__always)
  init(row: UInt64) {
    hash = mixed(row).bigEndian
    self.row = row.bigEndian
  }
}

/// Spreads the bits of `number` over all 64, one to one: an odd multiplication between two folds.
@inline(__always)
func mixed(_ number: UInt64) -> UInt64 {
  var bits = number &+ 0x9E37_79B9_7F4A_7C15
  bits = (bits ^ (bits >> 32)) &* 0xD6E8_FEB8_6659_FD93
  bits = (bits ^ (bits >> 32)) &* 0xD6E8_FEB8_6659_FD93
  return bits ^ (bits >> 32)
}
