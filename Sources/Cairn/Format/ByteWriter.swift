/// Writes little-endian numbers one after the other.
struct ByteWriter {
  private(set) var bytes: [UInt8] = []

  mutating func append<T: FixedWidthInteger>(_ value: T) {
    unsafe withUnsafeBytes(of: value.littleEndian) { unsafe bytes.append(contentsOf: $0) }
  }

  mutating func append(bytes more: [UInt8]) { bytes.append(contentsOf: more) }

  mutating func append(zeros count: Int) { bytes.append(contentsOf: repeatElement(0, count: count)) }
}
