/// A writer of the encodings that STORE-FORMAT.md describes.
package struct ByteOutput {
  package var bytes: [UInt8] = []

  /// - Parameter capacity: About how many bytes will be written.
  package init(capacity: Int = 0) { bytes.reserveCapacity(capacity) }

  package mutating func byte(_ value: UInt8) { bytes.append(value) }

  /// Seven bits in each byte, the lowest bits first.
  package mutating func varint(_ value: some BinaryInteger) { varint(UInt64(value)) }

  /// As the generic method, which the compiler does not specialise for callers in other modules.
  package mutating func varint(_ value: UInt64) {
    var rest = value
    while rest >= 0x80 {
      bytes.append(UInt8(truncatingIfNeeded: rest) | 0x80)
      rest >>= 7
    }
    bytes.append(UInt8(rest))
  }

  /// Little-endian.
  package mutating func fixed(_ value: some FixedWidthInteger & UnsignedInteger) {
    var rest = value
    for _ in 0..<value.bitWidth / 8 {
      bytes.append(UInt8(truncatingIfNeeded: rest))
      rest >>= 8
    }
  }

  /// As the generic method, which the compiler does not specialise for callers in other modules.
  package mutating func fixed(_ value: UInt64) {
    unsafe withUnsafeBytes(of: value.littleEndian) { unsafe bytes.append(contentsOf: $0) }
  }

  package mutating func append(_ others: some Collection<UInt8>) { bytes.append(contentsOf: others) }

  /// As the generic method, which the compiler does not specialise for callers in other modules.
  package mutating func append(_ others: [UInt8]) { bytes.append(contentsOf: others) }

  /// Writes the number of the bytes, then the bytes.
  package mutating func counted(_ others: some Collection<UInt8>) {
    varint(others.count)
    append(others)
  }

  /// As the generic method, which the compiler does not specialise for callers in other modules.
  package mutating func counted(_ others: [UInt8]) {
    varint(UInt64(others.count))
    append(others)
  }

  package mutating func text(_ text: String) {
    let isWritten: Void? = unsafe text.utf8.withContiguousStorageIfAvailable { unsafe counted($0) }
    if isWritten == nil { counted(text.utf8) }
  }
}
