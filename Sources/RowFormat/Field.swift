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
    if let found = unsafe bytes.withUnsafeBytes({ unsafe FieldSearch.field(number, in: $0) }) { return found }
    return try fieldByField(number, of: bytes)
  }

  /// The field of a property of a row where it lies; nil if the row has none.
  package static func field(_ number: UInt32, of row: RawSpan) throws(RowDamage) -> Field? {
    if let found = unsafe row.withUnsafeBytes({ unsafe FieldSearch.field(number, in: $0) }) { return found }
    return try fieldByField(number, of: row.copied)
  }

  /// Whether the field of a property is the same in two rows.
  package static func isSame(_ number: UInt32, in one: [UInt8], _ other: [UInt8]) throws(RowDamage) -> Bool {
    let (first, second) = (try field(number, of: one), try field(number, of: other))
    guard let first, let second else { return first == nil && second == nil }
    return first.type == second.type && one[first.range] == other[second.range]
  }

  /// As ``field(_:of:)``, in more time. Says what is wrong with a damaged row.
  private static func fieldByField(_ number: UInt32, of bytes: [UInt8]) throws(RowDamage) -> Field? {
    var fields = try FieldReader(bytes)
    while let next = try fields.next(), next.number <= number {
      if next.number == number { return next.field }
    }
    return nil
  }
}

/// What the field of a property has in a sound row.
package struct FieldRule {
  fileprivate let number: UInt32
  /// A bit for each type.
  fileprivate let types: UInt16
  /// The entity of the object in a field of the type `object`.
  fileprivate let entity: UInt32

  /// The types must be among those whose values are read from their bytes alone: not `decimal`, `uri`, `transformed`,
  /// `composite` or `identifier`. There may always be no field, or one of the type `null`.
  package init(_ number: UInt32, _ types: [FieldType], entity: UInt32 = 0) {
    self.number = number
    self.types = types.reduce(1 << FieldType.null.rawValue) { $0 | 1 << $1.rawValue }
    self.entity = entity
  }
}

extension FieldReader {
  /// Whether a row meets rules in ascending order of their numbers, so that the values of all their fields can be read.
  /// Rows that can be read but are unusual need not.
  package static func meets(_ rules: [FieldRule], _ bytes: [UInt8]) -> Bool {
    unsafe bytes.withUnsafeBytes { unsafe FieldSearch.meets(rules, $0) }
  }
}

/// Finds fields of sound rows by skipping those before.
@safe private struct FieldSearch {
  private let row: UnsafeRawPointer
  private let count: Int
  private var offset = 1

  /// The field of a property, `.some(nil)` if the row has none; nil where ``FieldReader`` would throw, which says why.
  @inline(__always)
  static func field(_ number: UInt32, in row: UnsafeRawBufferPointer) -> Field?? {
    guard let start = row.baseAddress, row.count > 0 else { return nil }
    var search = unsafe FieldSearch(row: start, count: row.count)
    let format = search.byte(0)
    guard format == FieldReader.format || format == FieldReader.partialFormat else { return nil }
    return search.field(UInt64(number))
  }

  @inline(__always)
  private init(row: UnsafeRawPointer, count: Int) {
    unsafe self.row = unsafe row
    self.count = count
  }

  /// The byte at an offset that is less than `count`.
  @inline(__always)
  private func byte(_ offset: Int) -> UInt8 { unsafe row.load(fromByteOffset: offset, as: UInt8.self) }

  @inline(__always)
  private mutating func field(_ number: UInt64) -> Field?? {
    var current: UInt64 = 0
    while offset < count {
      guard let head = varint(), head >> 4 > 0 else { return nil }
      current &+= head >> 4
      guard current <= UInt32.max, let length = length(head & 15) else { return nil }
      guard current < number else {
        guard current == number, let type = FieldType(rawValue: UInt8(truncatingIfNeeded: head & 15)) else {
          return .some(nil)
        }
        return Field(type: type, range: offset..<offset &+ length)
      }
      offset &+= length
    }
    return .some(nil)
  }

  @inline(__always)
  static func meets(_ rules: [FieldRule], _ row: UnsafeRawBufferPointer) -> Bool {
    guard let start = row.baseAddress, row.count > 0 else { return false }
    var search = unsafe FieldSearch(row: start, count: row.count)
    return search.byte(0) == FieldReader.format && search.meets(rules)
  }

  private mutating func meets(_ rules: [FieldRule]) -> Bool {
    var current: UInt64 = 0
    var place = 0
    while offset < count {
      guard let head = varint(), head >> 4 > 0 else { return false }
      current &+= head >> 4
      let type = head & 15
      guard current <= UInt32.max, let length = length(type) else { return false }
      while place < rules.count, UInt64(rules[place].number) < current { place &+= 1 }
      if place < rules.count, UInt64(rules[place].number) == current {
        guard rules[place].types >> UInt16(truncatingIfNeeded: type) & 1 != 0 else { return false }
        switch FieldType(rawValue: UInt8(truncatingIfNeeded: type)) {
        case .integer: if length > 9 { return false }
        case .string: if !isText(length) { return false }
        case .object: if !isObject(length, rules[place].entity) { return false }
        default: break
        }
      }
      offset &+= length
    }
    return true
  }

  /// Whether the next bytes are UTF-8.
  private func isText(_ length: Int) -> Bool {
    var (place, bits) = (offset, 0 as UInt64)
    let end = offset &+ length
    while place &+ 8 <= end {
      bits |= unsafe row.loadUnaligned(fromByteOffset: place, as: UInt64.self)
      place &+= 8
    }
    while place < end {
      bits |= UInt64(byte(place))
      place &+= 1
    }
    if bits & 0x8080_8080_8080_8080 == 0 { return true }
    let content = unsafe UnsafeRawBufferPointer(start: row + offset, count: length)
    return unsafe String(validating: content, as: UTF8.self) != nil
  }

  /// Whether the next bytes are an object of an entity, with a number of less than eight bytes as its reference.
  private func isObject(_ length: Int, _ entity: UInt32) -> Bool {
    var object = self
    guard let found = object.varint(), found == UInt64(entity) else { return false }
    let rest = length &- (object.offset &- offset)
    guard rest > 0 else { return false }
    let kind = Int(byte(object.offset))
    return (0x19...0x27).contains(kind) && rest &- 1 == abs(kind &- 0x20)
  }

  /// How many bytes the value here takes, without the length before them, which is skipped; nil if there are fewer.
  @inline(__always)
  private mutating func length(_ type: UInt64) -> Int? {
    var length = 0
    switch type {
    case 0, 1, 2: return 0
    case 3:
      while offset &+ length < count, byte(offset &+ length) >= 0x80 { length &+= 1 }
      length &+= 1
    case 4, 8: length = 8
    case 5: length = 4
    case 9: length = 16
    default:
      guard let bytes = varint() else { return nil }
      length = Int(truncatingIfNeeded: bytes)
    }
    return length <= count &- offset ? length : nil
  }

  /// A number of at most 35 bits.
  @inline(__always)
  private mutating func varint() -> UInt64? {
    guard offset < count else { return nil }
    let first = byte(offset)
    offset &+= 1
    return first < 0x80 ? UInt64(first) : continuation(first)
  }

  private mutating func continuation(_ first: UInt8) -> UInt64? {
    var value = UInt64(first & 0x7F)
    var shift: UInt64 = 7
    while offset < count, shift < 35 {
      let byte = byte(offset)
      offset &+= 1
      value |= UInt64(byte & 0x7F) &<< shift
      if byte < 0x80 { return value }
      shift &+= 7
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

  package func integer(in row: RawSpan) throws(RowDamage) -> Int64 {
    // More bytes may have more than 64 bits.
    guard range.count < 10 else { return try integer(in: row.copied) }
    var value: UInt64 = 0
    var place = range.upperBound
    while place > range.lowerBound {
      place &-= 1
      value = unsafe value << 7 | UInt64(row.unsafeLoad(fromByteOffset: place, as: UInt8.self) & 0x7F)
    }
    return Int64(bitPattern: value >> 1) ^ -Int64(bitPattern: value & 1)
  }

  package func double(in bytes: [UInt8]) throws(RowDamage) -> Double {
    var input = ByteInput(bytes, range)
    return Double(bitPattern: try input.fixed(UInt64.self))
  }

  package func double(in row: RawSpan) -> Double {
    let bits = unsafe row.unsafeLoadUnaligned(fromByteOffset: range.lowerBound, as: UInt64.self)
    return Double(bitPattern: UInt64(littleEndian: bits))
  }

  package func float(in row: RawSpan) -> Float {
    let bits = unsafe row.unsafeLoadUnaligned(fromByteOffset: range.lowerBound, as: UInt32.self)
    return Float(bitPattern: UInt32(littleEndian: bits))
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
  package func object(in row: RawSpan) throws(RowDamage) -> ObjectReference? {
    guard case .object = type else { return nil }
    let content = row.extracting(range).copied
    return try Field(type: type, range: content.indices).object(in: content)
  }

  package func object(in bytes: [UInt8]) throws(RowDamage) -> ObjectReference? {
    guard type == .object else { return nil }
    var input = ByteInput(bytes, range)
    let object = try input.object()
    try input.requireEnd()
    return object
  }
}

extension RawSpan {
  /// The bytes in an array.
  package var copied: [UInt8] { unsafe withUnsafeBytes { unsafe Array($0) } }
}
