/// The key that a row has in a declared index: STORE-FORMAT.md, section 6.
///
/// Keys, compared byte by byte, have the order in which values are sorted.
package enum IndexKey {
  /// Texts and data with more bytes are cut off, and end their key.
  package static let longest = 40

  /// The first values of a key.
  package struct Head {
    /// Where the last of them ends.
    package fileprivate(set) var end: Int
    /// Whether none is missing or cut off.
    package fileprivate(set) var isWhole = true
    /// Whether one is a number or a date that is not a number, which equals nothing.
    package fileprivate(set) var hasNotANumber = false
    /// Whether they are the same as in the entry that was read before.
    package internal(set) var isRepeated = false
  }

  /// - Parameters:
  ///   - properties: The numbers of the index's properties, in its order.
  ///   - normalized: Returns a text in normalisation form C. Not called for texts that are certain to be in it.
  package static func key(
    of properties: [UInt32], in row: [UInt8], normalized: (String) -> String
  ) throws(RowDamage) -> [UInt8] {
    var output = ByteOutput(capacity: 32)
    for property in properties {
      let field = try FieldReader.field(property, of: row)
      guard output.indexed(try field.map { field throws(RowDamage) in try value(field, row, normalized) } ?? .null)
      else { break }
    }
    return output.bytes
  }

  /// The value that a key with one whole value has.
  package static func value(in key: [UInt8]) throws(RowDamage) -> IndexedValue {
    var input = ByteInput(key)
    let value = try input.wholeIndexedValue()
    try input.requireEnd()
    return value
  }

  private static func value(
    _ field: Field, _ row: [UInt8], _ normalized: (String) -> String
  ) throws(RowDamage) -> IndexedValue {
    switch field.type {
    case .null: return .null
    case .falsity: return .integer(0)
    case .truth: return .integer(1)
    case .integer: return .integer(try field.integer(in: row))
    case .double: return .double(try field.double(in: row))
    case .float: return .double(Double(try field.float(in: row)))
    case .date: return .date(try field.double(in: row))
    case .string:
      let text = try field.text(in: row)
      return .text(text.isCertainlyNormalized ? text : normalized(text))
    case .uuid: return .uuid(row[field.range])
    case .data: return .data(row[field.range])
    case .object:
      guard let object = try field.object(in: row) else { return .null }
      return .object(object)
    case .decimal:
      let text = try field.text(in: row)
      if text == "NaN" { return .double(.nan) }
      guard let number = OrderedDecimal(text) else {
        throw RowDamage("a decimal number is invalid", at: field.range.lowerBound)
      }
      return .decimal(number)
    case .uri, .transformed, .composite, .identifier:
      throw RowDamage("a value has a type that no index can have", at: field.range.lowerBound)
    }
  }
}

/// The value of a property, as an index has it.
package enum IndexedValue {
  case null
  case integer(Int64)
  case double(Double)
  /// In normalisation form C.
  case text(String)
  /// Seconds since 2001.
  case date(Double)
  case uuid(ArraySlice<UInt8>)
  case data(ArraySlice<UInt8>)
  case object(ObjectReference)
  case decimal(OrderedDecimal)
}

/// The byte with which a value begins in a key.
private enum Tag: UInt8 {
  case null = 1
  case notANumber
  case integer
  case double
  case text
  case notADate
  case date
  case uuid
  case data
  case object
  case decimal
}

extension ByteOutput {
  /// Writes a value. False if it was cut off, so that nothing may follow.
  package mutating func indexed(_ value: IndexedValue) -> Bool {
    switch value {
    case .null: tag(.null)
    case .integer(let number):
      tag(.integer)
      bigEndian(UInt64(bitPattern: number) ^ 1 << 63)
    case .double(let number): ordered(number, .double, .notANumber)
    case .date(let seconds): ordered(seconds, .date, .notADate)
    case .uuid(let bytes):
      tag(.uuid)
      append(bytes)
    case .object(let object):
      tag(.object)
      self.object(object)
    case .decimal(let number):
      tag(.decimal)
      number.write(to: &self)
    case .text(let text): return escaped(.text, text.utf8)
    case .data(let bytes): return escaped(.data, bytes)
    }
    return true
  }

  /// Writes what all texts that begin with `text` begin with.
  package mutating func indexed(prefix text: String) {
    tag(.text)
    escape(text.utf8.prefix(IndexKey.longest))
  }

  /// Writes what all values of the same type begin with; NaN has a type of its own.
  package mutating func indexed(typeOf value: IndexedValue) {
    var output = ByteOutput()
    _ = output.indexed(value)
    append(output.bytes.prefix(1))
  }

  private mutating func tag(_ tag: Tag) { byte(tag.rawValue) }

  private mutating func ordered(_ number: Double, _ tag: Tag, _ notANumber: Tag) {
    guard !number.isNaN else { return self.tag(notANumber) }
    self.tag(tag)
    let bits = (number == 0 ? 0 : number).bitPattern
    bigEndian(bits >> 63 == 1 ? ~bits : bits | 1 << 63)
  }

  private mutating func bigEndian(_ bits: UInt64) {
    unsafe withUnsafeBytes(of: bits.bigEndian) { unsafe bytes.append(contentsOf: $0) }
  }

  private mutating func escaped(_ tag: Tag, _ bytes: some Collection<UInt8>) -> Bool {
    self.tag(tag)
    escape(bytes.prefix(IndexKey.longest))
    let isWhole = bytes.count <= IndexKey.longest
    byte(0)
    byte(isWhole ? 0 : 1)
    return isWhole
  }

  private mutating func escape(_ bytes: some Collection<UInt8>) {
    for unit in bytes {
      byte(unit)
      if unit == 0 { byte(0xFF) }
    }
  }
}

extension ByteInput {
  /// Skips the first values of a key. A key has no values after one that is cut off.
  ///
  /// - Parameter count: How many values.
  package mutating func indexKey(_ count: Int) throws(RowDamage) -> IndexKey.Head {
    var head = IndexKey.Head(end: offset)
    for _ in 0..<count {
      let start = offset
      head.isWhole = try indexedValue()
      head.end = offset
      if bytes[start] == Tag.notANumber.rawValue || bytes[start] == Tag.notADate.rawValue { head.hasNotANumber = true }
      guard head.isWhole else { break }
    }
    return head
  }

  fileprivate mutating func wholeIndexedValue() throws(RowDamage) -> IndexedValue {
    let start = offset
    guard try indexedValue(), let tag = Tag(rawValue: bytes[start]) else { throw damage("a value is cut off") }
    let content = bytes[start + 1..<offset]
    let bits = content.prefix(8).reduce(UInt64(0)) { $0 << 8 | UInt64($1) }
    let double = Double(bitPattern: bits >> 63 == 1 ? bits ^ 1 << 63 : ~bits)
    switch tag {
    case .null: return .null
    case .integer: return .integer(Int64(bitPattern: bits ^ 1 << 63))
    case .double: return .double(double)
    case .date: return .date(double)
    case .notANumber: return .double(.nan)
    case .notADate: return .date(.nan)
    case .uuid: return .uuid(content)
    case .text: return .text(String(decoding: Self.unescaped(content), as: UTF8.self))
    case .data: return .data(Self.unescaped(content)[...])
    case .object:
      var input = ByteInput(bytes, start + 1..<offset)
      return .object(try input.object())
    case .decimal:
      var input = ByteInput(bytes, start + 1..<offset)
      return .decimal(try OrderedDecimal(reading: &input))
    }
  }

  /// The bytes of a whole text, whose zeros are each followed by 0xFF, and which ends with two zeros.
  private static func unescaped(_ content: ArraySlice<UInt8>) -> [UInt8] {
    var bytes: [UInt8] = []
    var isAfterZero = false
    for byte in content.dropLast(2) {
      if !isAfterZero { bytes.append(byte) }
      isAfterZero = byte == 0 && !isAfterZero
    }
    return bytes
  }

  /// False if the value is cut off.
  private mutating func indexedValue() throws(RowDamage) -> Bool {
    guard let tag = Tag(rawValue: try byte()) else { throw damage("a value of an index has an unknown type") }
    switch tag {
    case .null, .notANumber, .notADate: break
    case .integer, .double, .date: _ = try range(of: 8)
    case .uuid: _ = try range(of: 16)
    case .object: _ = try object()
    case .decimal: _ = try OrderedDecimal(reading: &self)
    case .text, .data:
      while true {
        guard try byte() == 0 else { continue }
        switch try byte() {
        case 0: return true
        case 1: return false
        case 0xFF: break
        default: throw damage("a zero in an index is followed by neither 0x00 nor 0x01 nor 0xFF")
        }
      }
    }
    return true
  }
}
