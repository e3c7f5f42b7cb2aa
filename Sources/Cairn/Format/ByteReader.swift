/// Reads little-endian numbers one after the other from bytes that may be anything; returns nil instead of trapping.
@safe package struct ByteReader {
  private let bytes: UnsafeRawBufferPointer
  private var position = 0

  package init(_ bytes: UnsafeRawBufferPointer) { unsafe self.bytes = bytes }

  package var remaining: Int { unsafe bytes.count - position }

  package mutating func next<T: FixedWidthInteger & BitwiseCopyable>(_ type: T.Type) -> T? {
    guard remaining >= MemoryLayout<T>.size else { return nil }
    defer { position += MemoryLayout<T>.size }
    return unsafe T(littleEndian: bytes.loadUnaligned(fromByteOffset: position, as: T.self))
  }

  package mutating func bytes(_ count: Int) -> [UInt8]? {
    guard count >= 0, remaining >= count else { return nil }
    defer { position += count }
    return unsafe Array(bytes[position..<position + count])
  }

  /// True if the next `count` bytes exist and are zero.
  package mutating func zeros(_ count: Int) -> Bool {
    bytes(count)?.allSatisfy { $0 == 0 } ?? false
  }
}
