/// The type of the value in a field of a row. The raw values are those of STORE-FORMAT.md, section 4.
package enum FieldType: UInt8 {
  case null = 0
  case falsity = 1
  case truth = 2
  case integer = 3
  case double = 4
  case float = 5
  case string = 6
  case data = 7
  case date = 8
  case uuid = 9
  case decimal = 10
  case uri = 11
  case object = 12
  case transformed = 13
  case composite = 14
  case identifier = 15
}

/// Where a value lies in the bytes of a row.
package struct Field {
  package let type: FieldType
  /// The bytes of the value, without the length before them.
  package let range: Range<Int>
}

extension Field {
  /// Composite values may contain composite values, down to this depth.
  private static let deepest = 64

  /// Checks that a composite value inside `depth` others is not nested too deeply.
  package func check(depth: Int) throws(RowDamage) {
    guard depth < Self.deepest else {
      throw RowDamage("composite values are nested more than \(Self.deepest) deep", at: range.lowerBound)
    }
  }
}

extension ByteInput {
  /// Skips a value of a type and returns where it is.
  package mutating func field(_ type: FieldType) throws(RowDamage) -> Field {
    switch type {
    case .null, .falsity, .truth: return Field(type: type, range: offset..<offset)
    case .integer:
      let start = offset
      while try byte() >= 0x80 {}
      return Field(type: type, range: start..<offset)
    case .double, .date: return Field(type: type, range: try range(of: 8))
    case .float: return Field(type: type, range: try range(of: 4))
    case .uuid: return Field(type: type, range: try range(of: 16))
    case .string, .data, .decimal, .uri, .object, .transformed, .composite, .identifier:
      return Field(type: type, range: try counted())
    }
  }

  package mutating func type() throws(RowDamage) -> FieldType {
    guard let type = FieldType(rawValue: try byte()) else { throw damage("a value has an unknown type") }
    return type
  }
}

/// Reads the fields of a row, in ascending order of their property numbers.
package struct FieldReader {
  package static let format: UInt8 = 1
  /// The format of a row whose object is not loaded in whole. A property without a field is not known.
  package static let partialFormat: UInt8 = 2

  private var input: ByteInput
  private var number: UInt32 = 0

  package init(_ bytes: [UInt8]) throws(RowDamage) {
    input = ByteInput(bytes)
    let format = try input.byte()
    guard format == Self.format || format == Self.partialFormat else {
      throw RowDamage("a row begins with neither \(Self.format) nor \(Self.partialFormat)", at: 0)
    }
  }

  /// Whether a row's object is not loaded in whole.
  package static func isPartial(_ bytes: [UInt8]) -> Bool { bytes.first == partialFormat }

  /// The next field with the number of its property; nil after the last field.
  package mutating func next() throws(RowDamage) -> (number: UInt32, field: Field)? {
    guard !input.isAtEnd else { return nil }
    let head = try input.varint()
    guard let next = UInt32(exactly: head >> 4 &+ UInt64(number)), next > number,
      let type = FieldType(rawValue: UInt8(head & 15))
    else { throw input.damage("the numbers of properties do not ascend") }
    number = next
    return (next, try input.field(type))
  }

  /// The field of a property; nil if the row has none.
  package static func field(_ number: UInt32, of bytes: [UInt8]) throws(RowDamage) -> Field? {
    var fields = try FieldReader(bytes)
    while let next = try fields.next(), next.number <= number {
      if next.number == number { return next.field }
    }
    return nil
  }
}

/// Writes a row: fields in ascending order of their property numbers.
package struct FieldWriter {
  package private(set) var output = ByteOutput()
  private var number: UInt32 = 0

  package init(isPartial: Bool = false) {
    output.bytes.reserveCapacity(128)
    output.byte(isPartial ? FieldReader.partialFormat : FieldReader.format)
  }

  package var bytes: [UInt8] { output.bytes }

  /// The bytes in memory of their exact size, for rows of which many are kept.
  package var exactBytes: [UInt8] { unsafe output.bytes.withUnsafeBufferPointer { unsafe Array($0) } }

  /// Begins another row in the same memory.
  package mutating func restart(isPartial: Bool = false) {
    output.bytes.removeAll(keepingCapacity: true)
    number = 0
    output.byte(isPartial ? FieldReader.partialFormat : FieldReader.format)
  }

  package mutating func integer(_ value: Int64, _ number: UInt32) {
    begin(number, .integer)
    output.integer(value)
  }

  /// Writes a value of eight bytes.
  package mutating func fixed(_ type: FieldType, _ bits: UInt64, _ number: UInt32) {
    begin(number, type)
    output.fixed(bits)
  }

  package mutating func text(_ text: String, _ number: UInt32) {
    begin(number, .string)
    output.text(text)
  }

  /// Writes the head of a property's field; the caller then writes the value as `type` requires.
  package mutating func begin(_ number: UInt32, _ type: FieldType) {
    guard number > self.number else { fatalError("Fields are written in the order of their numbers.") }
    output.varint(UInt64(number - self.number) << 4 | UInt64(type.rawValue))
    self.number = number
  }

  package mutating func withOutput(_ body: (inout ByteOutput) -> Void) { body(&output) }

  /// Copies a field from another row.
  package mutating func copy(_ number: UInt32, _ field: Field, of bytes: [UInt8]) {
    begin(number, field.type)
    output.value(field, of: bytes)
  }

  /// Writes a to-one relationship: the object at its other end.
  package mutating func object(_ object: ObjectReference, _ number: UInt32) {
    begin(number, .object)
    var content = ByteOutput()
    content.object(object)
    output.counted(content.bytes)
  }
}

extension ByteOutput {
  /// Copies a value from another row, with its length if the type has one.
  package mutating func value(_ field: Field, of bytes: [UInt8]) {
    switch field.type {
    case .null, .falsity, .truth, .integer, .double, .date, .float, .uuid: append(bytes[field.range])
    case .string, .data, .decimal, .uri, .object, .transformed, .composite, .identifier: counted(bytes[field.range])
    }
  }

  /// Zigzag encoding, so that small magnitudes take few bytes.
  package mutating func integer(_ value: Int64) { varint(UInt64(bitPattern: value << 1 ^ value >> 63)) }
}

extension Field {
  /// The number in a field of the type `integer`.
  package func integer(in bytes: [UInt8]) throws(RowDamage) -> Int64 {
    var input = ByteInput(bytes, range)
    let value = try input.varint()
    return Int64(bitPattern: value >> 1) ^ -Int64(bitPattern: value & 1)
  }

  package func double(in bytes: [UInt8]) throws(RowDamage) -> Double {
    var input = ByteInput(bytes, range)
    return Double(bitPattern: try input.fixed(UInt64.self))
  }

  package func float(in bytes: [UInt8]) throws(RowDamage) -> Float {
    var input = ByteInput(bytes, range)
    return Float(bitPattern: try input.fixed(UInt32.self))
  }

  package func text(in bytes: [UInt8]) throws(RowDamage) -> String {
    let content = bytes[range]
    // ASCII is always valid, and the validating initialiser looks up its generic types on each call.
    if content.reduce(0, |) < 0x80 { return String(decoding: content, as: UTF8.self) }
    guard let text = String(validating: content, as: UTF8.self) else {
      throw RowDamage("a text is not UTF-8", at: range.lowerBound)
    }
    return text
  }

  /// The object that a field of the type `object` refers to; nil if the field has another type.
  package func object(in bytes: [UInt8]) throws(RowDamage) -> ObjectReference? {
    guard type == .object else { return nil }
    var input = ByteInput(bytes, range)
    let object = try input.object()
    try input.requireEnd()
    return object
  }
}
