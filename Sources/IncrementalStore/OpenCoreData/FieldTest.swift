import OpenCoreData

/// Tests one field of rows where its bytes lie, as a comparison with a constant does that has no options.
struct FieldTest {
  private let number: UInt32
  /// Returns nil for a value about which the bytes alone do not tell.
  private let test: (RawSpan, Field) throws(RowDamage) -> Bool?
  /// Whether the comparison is true for no value.
  private let holdsForNull: Bool

  /// Nil if the values of the field, or the constant, are not of a kind that is compared in its bytes.
  init?(
    _ field: EntityMap.StoredField, _ type: NSComparisonPredicate.Operator, _ constant: PredicateValue,
    _ access: RowAccess
  ) {
    let test =
      switch field.kind {
      case .attribute(let attribute): Self.test(attribute.attributeType, type, constant)
      case .toOne(let relationship, _): Self.test(relationship, type, constant, access)
      }
    guard let test else { return nil }
    self.test = test
    number = field.number
    holdsForNull = type == .notEqualTo
  }

  /// Whether the comparison is true for a row; nil if its bytes do not tell, or are damaged.
  func callAsFunction(_ row: RawSpan) -> Bool? {
    do throws(RowDamage) {
      guard let field = try FieldReader.field(number, of: row) else { return holdsForNull }
      if case .null = field.type { return holdsForNull }
      return try test(row, field)
    } catch {
      return nil
    }
  }

  func callAsFunction(_ row: [UInt8]) -> Bool? { unsafe row.withUnsafeBytes { unsafe self($0.bytes) } }

  // MARK: Attributes

  private static func test(
    _ attribute: NSAttributeType, _ type: NSComparisonPredicate.Operator,
    _ constant: PredicateValue
  ) -> ((RawSpan, Field) throws(RowDamage) -> Bool?)? {
    switch attribute {
    case .integer16AttributeType, .integer32AttributeType, .integer64AttributeType:
      guard let holds = comparison(type, constant, \.wholeNumber) else { return nil }
      return { row, field throws(RowDamage) in
        guard case .integer = field.type else { return nil }
        return holds(try field.integer(in: row))
      }
    case .booleanAttributeType:
      guard let holds = comparison(type, constant, \.wholeNumber) else { return nil }
      return { _, field in
        switch field.type {
        case .falsity: holds(0)
        case .truth: holds(1)
        default: nil
        }
      }
    case .doubleAttributeType, .floatAttributeType:
      guard let holds = comparison(type, constant, \.floatingPoint) else { return nil }
      let isDouble = attribute == .doubleAttributeType
      return { row, field in
        let number: Double
        switch field.type {
        case .double where isDouble: number = field.double(in: row)
        case .float where !isDouble: number = Double(field.float(in: row))
        default: return nil
        }
        return number.isNaN ? nil : holds(number)
      }
    case .dateAttributeType:
      guard let holds = comparison(type, constant, \.seconds) else { return nil }
      return { row, field in
        guard case .date = field.type else { return nil }
        let seconds = field.double(in: row)
        return seconds.isNaN ? nil : holds(seconds)
      }
    case .UUIDAttributeType:
      guard case .uuid(let uuid) = constant, let isEqual = equality(type) else { return nil }
      let expected = uuid.bytes
      return { row, field in
        guard case .uuid = field.type else { return nil }
        return row.extracting(field.range).has(expected) == isEqual
      }
    case .stringAttributeType:
      guard case .string(let text) = constant, text.utf8.allSatisfy({ $0 < 0x80 }), let isEqual = equality(type)
      else { return nil }
      let expected = Array(text.utf8)
      return { row, field in
        guard case .string = field.type else { return nil }
        let text = row.extracting(field.range)
        if text.has(expected) { return isEqual }
        // Only a text with other characters than ASCII may be canonically equivalent all the same.
        return text.isASCII ? !isEqual : nil
      }
    default: return nil
    }
  }

  /// A comparison of values with a constant, or with those of a collection; nil if one of these cannot be converted.
  // Inlined, so that the closure takes its number as it is.
  @inline(__always)
  private static func comparison<Value: Comparable & Hashable>(
    _ type: NSComparisonPredicate.Operator, _ constant: PredicateValue, _ convert: (PredicateValue) -> Value?
  ) -> ((Value) -> Bool)? {
    if type == .in || type == .between {
      guard let elements = constant.elements else { return nil }
      let values = elements.compactMap(convert)
      guard values.count == elements.count else { return nil }
      if type == .in {
        let members = Set(values)
        return { members.contains($0) }
      }
      guard values.count == 2 else { return nil }
      return { values[0] <= $0 && $0 <= values[1] }
    }
    guard let value = convert(constant) else { return nil }
    switch type {
    case .equalTo: return { $0 == value }
    case .notEqualTo: return { $0 != value }
    case .lessThan: return { $0 < value }
    case .lessThanOrEqualTo: return { $0 <= value }
    case .greaterThan: return { $0 > value }
    case .greaterThanOrEqualTo: return { $0 >= value }
    default: return nil
    }
  }

  /// Whether a comparison is true for equal values; nil if it is about anything else than equality.
  private static func equality(_ type: NSComparisonPredicate.Operator) -> Bool? {
    switch type {
    case .equalTo: true
    case .notEqualTo: false
    default: nil
    }
  }

  // MARK: Relationships

  private static func test(
    _ relationship: NSRelationshipDescription, _ type: NSComparisonPredicate.Operator, _ constant: PredicateValue,
    _ access: RowAccess
  ) -> ((RawSpan, Field) throws(RowDamage) -> Bool?)? {
    guard case .object(let object) = constant, let expected = access.reference(ofConstant: object),
      let isEqual = equality(type)
    else { return nil }
    // Most rows refer to objects of one entity.
    var member = expected.entity
    guard access.isMember(expected, of: relationship) else { return nil }
    return { row, field throws(RowDamage) in
      guard let found = try field.object(in: row) else { return nil }
      if found.entity != member {
        guard access.isMember(found, of: relationship) else { return nil }
        member = found.entity
      }
      return (found == expected) == isEqual
    }
  }
}

extension RawSpan {
  fileprivate func has(_ bytes: [UInt8]) -> Bool {
    guard byteCount == bytes.count else { return false }
    for place in 0..<byteCount where unsafe unsafeLoad(fromByteOffset: place, as: UInt8.self) != bytes[place] {
      return false
    }
    return true
  }

  fileprivate var isASCII: Bool {
    var bits: UInt8 = 0
    for place in 0..<byteCount { bits |= unsafe unsafeLoad(fromByteOffset: place, as: UInt8.self) }
    return bits < 0x80
  }
}

extension PredicateValue {
  fileprivate var wholeNumber: Int64? {
    if case .integer(let number) = self { number } else { nil }
  }

  /// A number that is not NaN and that a double has exactly.
  fileprivate var floatingPoint: Double? {
    switch self {
    case .double(let number): number.isNaN ? nil : number
    case .integer(let number): number.magnitude <= 1 << 53 ? Double(number) : nil
    default: nil
    }
  }

  /// The seconds of a date since 2001, unless they are NaN.
  fileprivate var seconds: Double? {
    guard case .date(let date) = self, !date.timeIntervalSinceReferenceDate.isNaN else { return nil }
    return date.timeIntervalSinceReferenceDate
  }
}
