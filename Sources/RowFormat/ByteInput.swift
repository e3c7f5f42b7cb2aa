/// A reader of untrusted bytes.
package struct ByteInput {
  package let bytes: [UInt8]
  package private(set) var offset: Int
  private let end: Int

  package init(_ bytes: [UInt8]) { self.init(bytes, 0..<bytes.count) }

  package init(_ bytes: [UInt8], _ range: Range<Int>) {
    self.bytes = bytes
    offset = range.lowerBound
    end = range.upperBound
  }

  package var isAtEnd: Bool { offset == end }

  package func damage(_ what: String) -> RowDamage { RowDamage(what, at: offset) }

  package mutating func byte() throws(RowDamage) -> UInt8 {
    guard offset < end else { throw damage("it ends too early") }
    defer { offset += 1 }
    return bytes[offset]
  }

  @inline(__always)
  package mutating func varint() throws(RowDamage) -> UInt64 {
    guard offset < end, case let byte = bytes[offset], byte < 0x80 else { return try longVarint() }
    offset += 1
    return UInt64(byte)
  }

  private mutating func longVarint() throws(RowDamage) -> UInt64 {
    var value: UInt64 = 0
    for shift in stride(from: 0, to: 64, by: 7) {
      let byte = try byte()
      guard shift < 63 || byte < 2 else { break }
      value |= UInt64(byte & 0x7F) << UInt64(shift)
      if byte < 0x80 { return value }
    }
    throw damage("a number has more than 64 bits")
  }

  /// Reads the number of items that follow, each of which takes at least one byte.
  @inline(__always)
  package mutating func count() throws(RowDamage) -> Int {
    let count = try varint()
    guard count <= UInt64(end - offset) else {
      throw damage("a count is \(count), but only \(end - offset) bytes follow")
    }
    return Int(count)
  }

  package mutating func number() throws(RowDamage) -> UInt32 {
    guard let number = UInt32(exactly: try varint()) else { throw damage("a number has more than 32 bits") }
    return number
  }

  package mutating func fixed<Value: FixedWidthInteger & UnsignedInteger>(_: Value.Type) throws(RowDamage) -> Value {
    let range = try range(of: Value.bitWidth / 8)
    var value: Value = 0
    for place in range.reversed() { value = value << 8 | Value(truncatingIfNeeded: bytes[place]) }
    return value
  }

  /// Skips the next `count` bytes and returns where they are.
  @inline(__always)
  package mutating func range(of count: Int) throws(RowDamage) -> Range<Int> {
    guard count <= end - offset else { throw damage("it ends too early") }
    defer { offset += count }
    return offset..<offset + count
  }

  /// Skips a number and that many bytes, and returns where the bytes are.
  @inline(__always)
  package mutating func counted() throws(RowDamage) -> Range<Int> { try range(of: try count()) }

  package mutating func text() throws(RowDamage) -> String {
    let range = try counted()
    guard let text = String(validating: bytes[range], as: UTF8.self) else { throw damage("a text is not UTF-8") }
    return text
  }

  package mutating func requireEnd() throws(RowDamage) {
    guard isAtEnd else { throw damage("\(end - offset) trailing bytes") }
  }
}

/// Damage in the bytes of a row or an entry.
public struct RowDamage: Error, Hashable, Sendable, CustomStringConvertible {
  /// What is wrong.
  public let what: String
  /// The offset of the damage in the bytes.
  public let position: Int

  package init(_ what: String, at position: Int) {
    self.what = what
    self.position = position
  }

  /// In words.
  public var description: String { "\(what), at byte \(position)" }
}
