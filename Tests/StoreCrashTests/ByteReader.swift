/// Reads the encodings that STORE-FORMAT.md describes.
struct ByteReader {
  private var rest: ArraySlice<UInt8>

  init(_ bytes: some Collection<UInt8>) { rest = Array(bytes)[...] }

  var isAtEnd: Bool { rest.isEmpty }

  /// All remaining bytes.
  mutating func remainder() -> [UInt8] {
    defer { rest = [] }
    return Array(rest)
  }

  mutating func byte() throws -> UInt8 {
    guard let byte = rest.popFirst() else { throw CrashFailure("bytes end too early") }
    return byte
  }

  mutating func take(_ count: Int) throws -> [UInt8] {
    guard count <= rest.count else { throw CrashFailure("bytes end too early") }
    defer { rest = rest.dropFirst(count) }
    return Array(rest.prefix(count))
  }

  mutating func varint() throws -> Int {
    var value = 0
    var shift = 0
    while true {
      let byte = try byte()
      value |= Int(byte & 0x7F) << shift
      if byte < 0x80 { return value }
      shift += 7
    }
  }

  mutating func counted() throws -> [UInt8] { try take(varint()) }

  mutating func text() throws -> String { String(decoding: try counted(), as: UTF8.self) }

  mutating func bigEndian(_ count: Int) throws -> Int64 { try take(count).reduce(0) { $0 << 8 | Int64($1) } }

  /// Reads a reference; the stores of these tests number their objects from 1.
  mutating func reference() throws -> Int64 {
    let first = try byte()
    guard (0x21...0x28).contains(first) else { throw CrashFailure("a reference begins with \(first)") }
    return try bigEndian(Int(first) - 0x20)
  }

  mutating func object() throws -> StoredObject { StoredObject(entity: try varint(), reference: try reference()) }
}

/// An object as rows and entries refer to it.
struct StoredObject: Hashable {
  let entity: Int
  let reference: Int64
}
