/// Bytes being written, as STORE-FORMAT.md describes them.
package struct ByteOutput {
  package var bytes: [UInt8] = []

  package init() {}

  package mutating func byte(_ value: UInt8) { bytes.append(value) }

  /// Seven bits a byte, the lowest first.
  package mutating func varint(_ value: some BinaryInteger) {
    var rest = UInt64(value)
    while rest >= 0x80 {
      bytes.append(UInt8(truncatingIfNeeded: rest) | 0x80)
      rest >>= 7
    }
    bytes.append(UInt8(rest))
  }

  /// The lowest byte first.
  package mutating func fixed(_ value: some FixedWidthInteger & UnsignedInteger) {
    var rest = value
    for _ in 0..<value.bitWidth / 8 {
      bytes.append(UInt8(truncatingIfNeeded: rest))
      rest >>= 8
    }
  }

  package mutating func append(_ others: some Collection<UInt8>) { bytes.append(contentsOf: others) }

  /// Bytes behind their number.
  package mutating func counted(_ others: some Collection<UInt8>) {
    varint(others.count)
    append(others)
  }

  package mutating func text(_ text: String) { counted(text.utf8) }
}
