/// Values made before the clock starts, so that producing one costs only an address.
///
/// A value is 100 bytes, of which the second half repeats the first: half compressible. There are 65,536 different
/// values, so that a repeated value is far outside a compressor's block or window.
struct ValuePool: @unchecked Sendable {
  static let valueSize = 100
  private static let slots: UInt64 = 1 << 16

  /// Never written after `init`, and never freed, since the pool lives as long as the process.
  private let base: UnsafeMutableRawPointer

  init() {
    let half = Self.valueSize / 2
    base = .allocate(byteCount: Int(Self.slots) * Self.valueSize, alignment: 64)
    for slot in 0..<Int(Self.slots) {
      let value = base + slot * Self.valueSize
      for offset in 0..<half {
        let byte = UInt8(truncatingIfNeeded: mixed(UInt64(slot * half + offset)))
        value.storeBytes(of: byte, toByteOffset: offset, as: UInt8.self)
        value.storeBytes(of: byte, toByteOffset: half + offset, as: UInt8.self)
      }
    }
  }

  /// The value of `row` in its `version`; successive versions of a row differ.
  @inline(__always)
  func value(of row: UInt64, version: UInt64) -> UnsafeRawPointer {
    let slot = (row &+ version &* 7_919) & (Self.slots - 1)
    return UnsafeRawPointer(base + Int(slot) * Self.valueSize)
  }
}
