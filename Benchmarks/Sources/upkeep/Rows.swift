import Cairn

/// Keys and values as in the benchmark of the engines, prepared as far as possible.
struct Rows: Sendable {
  private let values: [[UInt8]]

  init() {
    values = (0..<65_536).map { number in
      let half = (0..<50).map { UInt8(truncatingIfNeeded: mixed(UInt64(number * 50 + $0))) }
      return half + half
    }
  }

  /// Puts a row, with a value that depends on the row and on `step`.
  @inline(__always)
  func put(_ row: Int, _ step: Int, in keyspace: Keyspace, _ batch: inout Batch) throws {
    let value = values[(row &+ step &* 7919) & 65_535]
    try withUnsafeBytes(of: (mixed(UInt64(row)).bigEndian, UInt64(row).bigEndian)) { key in
      try keyspace.put(value.span.bytes, bytes: key.bytes, in: &batch)
    }
  }

  func delete(_ row: Int, in keyspace: Keyspace, _ batch: inout Batch) throws {
    let key = withUnsafeBytes(of: (mixed(UInt64(row)).bigEndian, UInt64(row).bigEndian)) { Array($0) }
    try keyspace.delete(Key.bytes(key), in: &batch)
  }
}

/// Spreads the bits of `number` over all 64, one to one.
@inline(__always)
func mixed(_ number: UInt64) -> UInt64 {
  var bits = number &+ 0x9E37_79B9_7F4A_7C15
  bits = (bits ^ (bits >> 32)) &* 0xD6E8_FEB8_6659_FD93
  bits = (bits ^ (bits >> 32)) &* 0xD6E8_FEB8_6659_FD93
  return bits ^ (bits >> 32)
}

/// A number below `count`, determined by the step and the seed.
@inline(__always)
func any(_ count: Int, _ step: Int, seed: UInt64) -> Int {
  Int(mixed(mixed(seed) &+ UInt64(step)).multipliedFullWidth(by: UInt64(count)).high)
}
