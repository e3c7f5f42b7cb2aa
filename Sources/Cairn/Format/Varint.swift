/// LEB128: seven bits a byte, lowest first; the eighth bit says that more bytes follow.
package enum Varint {
  package static let maximumLength = 10

  @inline(__always)
  package static func length(_ value: UInt64) -> Int {
    value < 0x80 ? 1 : (64 &- value.leadingZeroBitCount &+ 6) / 7
  }

  /// Returns the number of bytes written.
  @inline(__always)
  package static func write(_ value: UInt64, to target: UnsafeMutableRawPointer) -> Int {
    var rest = value
    var next = unsafe target
    while rest >= 0x80 {
      unsafe next.storeBytes(of: UInt8(truncatingIfNeeded: rest) | 0x80, as: UInt8.self)
      unsafe next += 1
      rest >>= 7
    }
    unsafe next.storeBytes(of: UInt8(truncatingIfNeeded: rest), as: UInt8.self)
    return unsafe next - target + 1
  }

  /// Reads a varint of at most `count` bytes; nil if it is cut off, longer than necessary, or above 64 bits.
  package static func read(_ source: UnsafeRawPointer, _ count: Int) -> (value: UInt64, length: Int)? {
    var cursor = unsafe VarintCursor(source, count)
    guard let value = cursor.next() else { return nil }
    return unsafe (value, cursor.position - source)
  }
}

/// Reads one varint after the other; returns nil once one is cut off, longer than necessary, or above 64 bits.
@safe struct VarintCursor {
  private(set) var position: UnsafeRawPointer
  private let end: UnsafeRawPointer

  @inline(__always)
  init(_ start: UnsafeRawPointer, _ count: Int) {
    unsafe position = start
    unsafe end = start + count
  }

  @inline(__always)
  mutating func next() -> UInt64? {
    guard unsafe position < end else { return nil }
    let byte = unsafe position.load(as: UInt8.self)
    unsafe position += 1
    return byte < 0x80 ? UInt64(byte) : continuation(byte)
  }

  private mutating func continuation(_ first: UInt8) -> UInt64? {
    var value = UInt64(first & 0x7F)
    var shift: UInt64 = 7
    while unsafe position < end {
      let byte = unsafe position.load(as: UInt8.self)
      unsafe position += 1
      if shift == 63, byte > 1 { return nil }
      value |= UInt64(byte & 0x7F) << shift
      if byte < 0x80 { return byte == 0 ? nil : value }
      shift += 7
      if shift > 63 { return nil }
    }
    return nil
  }
}
