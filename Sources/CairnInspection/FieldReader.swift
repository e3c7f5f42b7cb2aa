import Cairn

/// Some bytes of a file and their meaning: the name of the field as in FORMAT.md, and its value.
package struct Annotation: Sendable, Hashable {
  package let offset: Int
  /// The bytes of the field, or only the first of them if there are many.
  package let bytes: [UInt8]
  /// The number of bytes of the field.
  package let length: Int
  package let field: String
  package let value: String
  /// Whether the value is invalid, such as a checksum that does not match.
  package var isWrong = false
}

/// Reads fields from the front of bytes, which may be damaged, and annotates them.
@safe struct FieldReader {
  private let bytes: UnsafeRawBufferPointer
  /// The offset in the file of the first of the bytes.
  private let start: Int
  /// The most bytes of a field that are shown.
  private let shownBytes: Int
  private(set) var position = 0
  private(set) var annotations: [Annotation] = []

  init(_ bytes: UnsafeRawBufferPointer, at start: Int = 0, shownBytes: Int = .max) {
    unsafe self.bytes = bytes
    self.start = start
    self.shownBytes = shownBytes
  }

  var remaining: Int { unsafe bytes.count - position }

  mutating func takeAnnotations() -> [Annotation] {
    defer { annotations = [] }
    return annotations
  }

  private mutating func note(_ length: Int, _ field: String, _ value: String, isWrong: Bool = false) {
    let shown = unsafe Array(bytes[position..<position + min(length, shownBytes)])
    annotations.append(
      Annotation(
        offset: start + position, bytes: shown, length: length, field: field, value: value, isWrong: isWrong))
    position += length
  }

  /// Whether fewer than `length` bytes remain; if so, annotates them as cut off.
  private mutating func isCutOff(_ length: Int, _ field: String) -> Bool {
    guard remaining < length else { return false }
    if remaining > 0 { note(remaining, field, "truncated", isWrong: true) }
    return true
  }

  /// A number; nil if the bytes end before it.
  @discardableResult
  mutating func number<T: FixedWidthInteger & BitwiseCopyable>(
    _ type: T.Type, _ field: String, _ describe: (T) -> String = { "\($0)" }, isWrong: (T) -> Bool = { _ in false }
  ) -> T? {
    guard !isCutOff(MemoryLayout<T>.size, field) else { return nil }
    let value = unsafe T(littleEndian: bytes.loadUnaligned(fromByteOffset: position, as: T.self))
    note(MemoryLayout<T>.size, field, describe(value), isWrong: isWrong(value))
    return value
  }

  /// Eight letters that a file begins with.
  mutating func magic(_ expected: String) {
    guard !isCutOff(8, "kind of file") else { return }
    let found = unsafe Array(bytes[position..<position + 8])
    note(
      8, expected, found == Array(expected.utf8) ? "" : "not \(expected)", isWrong: found != Array(expected.utf8))
  }

  mutating func version() {
    guard !isCutOff(4, "version") else { return }
    let major = unsafe UInt16(littleEndian: bytes.loadUnaligned(fromByteOffset: position, as: UInt16.self))
    let minor = unsafe UInt16(littleEndian: bytes.loadUnaligned(fromByteOffset: position + 2, as: UInt16.self))
    note(4, "version", "\(major).\(minor)", isWrong: major != Format.majorVersion)
  }

  mutating func features() {
    for (name, known) in [("incompatible feature bits", Format.knownFeatures), ("compatible feature bits", .max)] {
      number(
        UInt64.self, name,
        { bits in
          let set = (0..<64).filter { bits >> UInt64($0) & 1 == 1 }
          return set.isEmpty ? "none" : set.map(String.init).joined(separator: ", ")
        }, isWrong: { $0 & ~known != 0 })
    }
  }

  mutating func uuid() {
    guard !isCutOff(16, "store UUID") else { return }
    let value = unsafe UInt128(bigEndian: bytes.loadUnaligned(fromByteOffset: position, as: UInt128.self))
    note(16, "store UUID", Key.uuid(value).description)
  }

  @discardableResult
  mutating func place(_ field: String) -> Place? {
    number(UInt64.self, field, { $0 == 0 ? "none" : Place(packed: $0).description }).map(Place.init(packed:))
  }

  mutating func time(_ field: String) {
    number(UInt64.self, field, { Timestamp(nanoseconds: $0).description })
  }

  mutating func reserved(_ length: Int, _ field: String = "reserved") {
    guard length > 0, !isCutOff(length, field) else { return }
    let isZero = unsafe bytes[position..<position + length].allSatisfy { $0 == 0 }
    note(length, field, isZero ? "" : "not zero", isWrong: !isZero)
  }

  /// Bytes that `describe` explains; false if fewer than `length` remain.
  @discardableResult
  mutating func bytes(
    _ length: Int, _ field: String, isWrong: Bool = false, _ describe: (UnsafeRawBufferPointer) -> String
  ) -> Bool {
    guard length > 0 else { return true }
    guard !isCutOff(length, field) else { return false }
    let field = (field, unsafe describe(UnsafeRawBufferPointer(rebasing: bytes[position..<position + length])))
    note(length, field.0, field.1, isWrong: isWrong)
    return true
  }

  @discardableResult
  mutating func varint(_ field: String, _ describe: (UInt64) -> String = { "\($0)" }) -> UInt64? {
    let base = unsafe bytes.baseAddress
    guard let base = unsafe base, let (value, length) = unsafe Varint.read(base + position, remaining) else {
      if remaining > 0 { note(min(remaining, Varint.maximumLength), field, "not a varint", isWrong: true) }
      return nil
    }
    note(length, field, describe(value))
    return value
  }

  /// A checksum of the bytes in `range`; plain CRC-32C.
  mutating func checksum(of range: Range<Int>, _ field: String = "checksum") {
    let expected = unsafe CRC32C.checksum(UnsafeRawBufferPointer(rebasing: bytes[range]))
    checksum(expected, field)
  }

  mutating func checksum(_ expected: UInt32?, _ field: String = "checksum") {
    number(
      UInt32.self, field,
      { $0 == expected ? "right" : expected.map { "wrong: \($0.hexadecimal) would be right" } ?? "not known" },
      isWrong: { $0 != expected })
  }
}

extension FixedWidthInteger {
  /// As `0x1f`.
  var hexadecimal: String { "0x\(String(self, radix: 16))" }
}
