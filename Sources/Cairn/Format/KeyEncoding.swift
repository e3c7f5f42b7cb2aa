/// The error for bytes that are not the encoding of a key.
package struct MalformedKey: Error, Hashable, Sendable {}

/// The first byte of an encoded key. FORMAT.md, section 6.
private enum KeyType {
  /// The type of zero. A positive integer adds its number of bytes to this, a negative one subtracts it.
  static let integer: UInt8 = 0x20
  static let double: UInt8 = 0x2C
  static let string: UInt8 = 0x30
  static let uuid: UInt8 = 0x40
  static let bytes: UInt8 = 0x48
  static let tuple: UInt8 = 0x50
}

extension Key {
  package static let maximumNesting = 64

  /// How deep tuples are nested: 0 without a tuple. Decoding refuses more than ``maximumNesting``, so writing has to
  /// refuse it too.
  package var nesting: Int {
    guard case .tuple(let elements) = self else { return 0 }
    return 1 + elements.reduce(0) { max($0, $1.nesting) }
  }

  /// The key's bytes in the log. Encodings compare byte by byte as their keys do.
  public var encoded: [UInt8] {
    let count = encodedCount
    return unsafe [UInt8](unsafeUninitializedCapacity: count) { buffer, initialized in
      initialized = unsafe encode(into: UnsafeMutableRawBufferPointer(buffer))
    }
  }

  package var encodedCount: Int { encodedCount(isNested: false) }

  private func encodedCount(isNested: Bool) -> Int {
    switch self {
    case .integer(let value): 1 + Self.significantBytes(value.magnitude)
    case .double: 9
    case .string(let text): isNested ? 2 + text.utf8.reduce(0) { $0 + ($1 == 0 ? 2 : 1) } : 1 + text.utf8.count
    case .uuid: 17
    case .bytes(let bytes): isNested ? 2 + bytes.reduce(0) { $0 + ($1 == 0 ? 2 : 1) } : 1 + bytes.count
    case .tuple(let elements):
      elements.reduce(isNested ? 2 : 1) { $0 + $1.encodedCount(isNested: true) }
    }
  }

  fileprivate static func significantBytes(_ magnitude: UInt64) -> Int {
    (64 - magnitude.leadingZeroBitCount + 7) / 8
  }

  /// Writes the encoding into a buffer of at least ``encodedCount`` bytes; returns how many it took.
  package func encode(into buffer: UnsafeMutableRawBufferPointer) -> Int {
    var writer = unsafe KeyWriter(buffer)
    writer.append(self, isNested: false)
    return writer.position
  }

  /// Calls `body` with the encoding, which is valid during the call. Allocates nothing if the encoding has at most 512
  /// bytes.
  @inline(__always)
  package func withEncoded<R, E>(_ body: (UnsafeRawBufferPointer) throws(E) -> R) throws(E) -> R {
    let count = encodedCount
    if count <= 512 {
      return try unsafe withUnsafeTemporaryAllocation(byteCount: 512, alignment: 8) { (buffer) throws(E) in
        try unsafe body(UnsafeRawBufferPointer(rebasing: buffer[..<encode(into: buffer)]))
      }
    }
    let buffer = UnsafeMutableRawBufferPointer.allocate(byteCount: count, alignment: 8)
    defer { unsafe buffer.deallocate() }
    return try unsafe body(UnsafeRawBufferPointer(rebasing: buffer[..<encode(into: buffer)]))
  }

  /// The encoding of `.bytes(content)`, without an array of the content.
  @inline(__always)
  package static func withEncoded<R, E>(
    bytes content: RawSpan, _ body: (UnsafeRawBufferPointer) throws(E) -> R
  ) throws(E) -> R {
    let count = content.byteCount + 1
    func encode(_ buffer: UnsafeMutableRawBufferPointer) -> UnsafeRawBufferPointer {
      unsafe buffer[0] = KeyType.bytes
      unsafe content.withUnsafeBytes {
        unsafe UnsafeMutableRawBufferPointer(rebasing: buffer[1..<count]).copyMemory(from: $0)
      }
      return unsafe UnsafeRawBufferPointer(rebasing: buffer[..<count])
    }
    if count <= 512 {
      return try unsafe withUnsafeTemporaryAllocation(byteCount: 512, alignment: 8) { (buffer) throws(E) in
        try unsafe body(encode(buffer))
      }
    }
    let buffer = UnsafeMutableRawBufferPointer.allocate(byteCount: count, alignment: 8)
    defer { unsafe buffer.deallocate() }
    return try unsafe body(encode(buffer))
  }

  /// Accepts only what encoding produces, and refuses any other bytes.
  package init(validating encoded: RawSpan) throws(MalformedKey) {
    self = try unsafe encoded.withUnsafeBytes { (bytes) throws(MalformedKey) in
      var reader = unsafe KeyReader(bytes)
      return try reader.next(depth: 0)
    }
  }

  package init(validating encoded: [UInt8]) throws(MalformedKey) {
    self = try unsafe encoded.withUnsafeBufferPointer { (bytes) throws(MalformedKey) in
      var reader = unsafe KeyReader(UnsafeRawBufferPointer(bytes))
      return try reader.next(depth: 0)
    }
  }
}

extension Double {
  /// Bits that compare as the numbers do. The two zeros have the same bits, and so has every NaN, whose bits are the
  /// highest.
  var orderedBits: UInt64 {
    let bits = isNaN ? Double.nan.bitPattern : self == 0 ? 0 : bitPattern
    return bits >> 63 == 0 ? bits | 1 << 63 : ~bits
  }

  init(orderedBits bits: UInt64) { self.init(bitPattern: bits >> 63 == 0 ? ~bits : bits & ~(1 << 63)) }
}

@safe private struct KeyWriter {
  private let buffer: UnsafeMutableRawBufferPointer
  private(set) var position = 0

  init(_ buffer: UnsafeMutableRawBufferPointer) { unsafe self.buffer = buffer }

  private mutating func append(_ byte: UInt8) {
    unsafe buffer[position] = byte
    position += 1
  }

  /// The low bytes of a number, the most significant one first.
  private mutating func append(_ value: some FixedWidthInteger, bytes count: Int) {
    for index in (0..<count).reversed() { append(UInt8(truncatingIfNeeded: value >> (8 * index))) }
  }

  private mutating func append(_ content: UnsafeBufferPointer<UInt8>, isNested: Bool) {
    guard isNested else {
      let target = unsafe UnsafeMutableRawBufferPointer(rebasing: buffer[position...])
      unsafe target.copyMemory(from: UnsafeRawBufferPointer(content))
      position += content.count
      return
    }
    for index in content.indices {
      let byte = unsafe content[index]
      append(byte)
      if byte == 0 { append(0xFF) }
    }
    append(0)
  }

  mutating func append(_ key: Key, isNested: Bool) {
    switch key {
    case .integer(let value):
      let count = Key.significantBytes(value.magnitude)
      append(value < 0 ? KeyType.integer - UInt8(count) : KeyType.integer + UInt8(count))
      append(value < 0 ? ~value.magnitude : value.magnitude, bytes: count)
    case .double(let value):
      append(KeyType.double)
      append(value.orderedBits, bytes: 8)
    case .string(var text):
      append(KeyType.string)
      text.withUTF8 { unsafe append($0, isNested: isNested) }
    case .uuid(let value):
      append(KeyType.uuid)
      append(value, bytes: 16)
    case .bytes(let bytes):
      append(KeyType.bytes)
      unsafe bytes.withUnsafeBufferPointer { unsafe append($0, isNested: isNested) }
    case .tuple(let elements):
      append(KeyType.tuple)
      for element in elements { append(element, isNested: true) }
      if isNested { append(0) }
    }
  }
}

extension Key {
  /// The number, not less than 0, of which these bytes are the encoded key; nil if they are anything else.
  package static func natural(encoded: RawSpan) -> Int64? {
    unsafe encoded.withUnsafeBytes { bytes in
      guard bytes.count > 0, unsafe Int(bytes[0]) == Int(KeyType.integer) &+ bytes.count &- 1, bytes.count <= 9 else {
        return nil
      }
      var number: UInt64 = 0
      for place in 1..<bytes.count { number = unsafe number << 8 | UInt64(bytes[place]) }
      guard significantBytes(number) == bytes.count &- 1 else { return nil }
      return Int64(exactly: number)
    }
  }
}

@safe private struct KeyReader {
  private let bytes: UnsafeRawBufferPointer
  private var position = 0

  init(_ bytes: UnsafeRawBufferPointer) { unsafe self.bytes = bytes }

  private var isAtEnd: Bool { unsafe position == bytes.count }

  private mutating func byte() throws(MalformedKey) -> UInt8 {
    guard !isAtEnd else { throw MalformedKey() }
    defer { position += 1 }
    return unsafe bytes[position]
  }

  /// Reads the key that begins here. `depth` is the number of tuples around it; outside of any tuple it must
  /// extend to the end.
  mutating func next(depth: Int) throws(MalformedKey) -> Key {
    let type = try byte()
    let result: Key
    switch type {
    case KeyType.integer - 8...KeyType.integer + 8: result = .integer(try integer(type))
    case KeyType.double:
      var bits: UInt64 = 0
      for _ in 0..<8 { bits = bits << 8 | UInt64(try byte()) }
      let value = Double(orderedBits: bits)
      guard value.orderedBits == bits else { throw MalformedKey() }
      result = .double(value)
    case KeyType.string:
      let text =
        depth > 0 ? String(validating: try content(), as: UTF8.self) : unsafe String(validating: rest(), as: UTF8.self)
      guard let text else { throw MalformedKey() }
      result = .string(text)
    case KeyType.uuid:
      var value: UInt128 = 0
      for _ in 0..<16 { value = value << 8 | UInt128(try byte()) }
      result = .uuid(value)
    case KeyType.bytes: result = .bytes(depth > 0 ? try content() : unsafe Array(rest()))
    case KeyType.tuple: result = .tuple(try elements(depth: depth + 1))
    default: throw MalformedKey()
    }
    guard depth > 0 || isAtEnd else { throw MalformedKey() }
    return result
  }

  private mutating func integer(_ type: UInt8) throws(MalformedKey) -> Int64 {
    let isNegative = type < KeyType.integer
    let count = Int(isNegative ? KeyType.integer - type : type - KeyType.integer)
    var magnitude: UInt64 = 0
    for _ in 0..<count {
      let byte = try byte()
      magnitude = magnitude << 8 | UInt64(isNegative ? ~byte : byte)
    }
    guard Key.significantBytes(magnitude) == count, magnitude <= (isNegative ? 1 << 63 : (1 << 63) - 1) else {
      throw MalformedKey()
    }
    return Int64(truncatingIfNeeded: isNegative ? 0 &- magnitude : magnitude)
  }

  /// The rest of the bytes, for a string or bytes without a terminator.
  private mutating func rest() -> UnsafeRawBufferPointer {
    defer { unsafe position = bytes.count }
    return unsafe UnsafeRawBufferPointer(rebasing: bytes[position...])
  }

  /// The content of a string or bytes inside a tuple.
  private mutating func content() throws(MalformedKey) -> [UInt8] {
    var content: [UInt8] = []
    while true {
      let byte = try byte()
      if byte == 0 {
        guard !isAtEnd, unsafe bytes[position] == 0xFF else { return content }
        position += 1
      }
      content.append(byte)
    }
  }

  private mutating func elements(depth: Int) throws(MalformedKey) -> [Key] {
    guard depth <= Key.maximumNesting else { throw MalformedKey() }
    var elements: [Key] = []
    while depth > 1 || !isAtEnd {
      if depth > 1, !isAtEnd, unsafe bytes[position] == 0 {
        position += 1
        break
      }
      elements.append(try next(depth: depth))
    }
    return elements
  }
}
