import CoreData

/// Converts the stored values of an attribute whose type has changed. A value that the new type cannot have exactly is
/// not converted.
struct TypeConversion {
  private let attribute: NSAttributeDescription
  private let coder: ValueCoder
  /// The entity of the new model, for the message of an error.
  private let entity: String
  private let formerEntity: String

  /// Nil if no value of one type is a value of the other.
  init?(
    _ attribute: NSAttributeDescription, from former: UInt32, _ coder: ValueCoder, entity: String, formerEntity: String
  ) {
    guard let old = NSAttributeType(rawValue: UInt(former)),
      Self.kinds(old).contains(where: Self.kinds(attribute.attributeType).contains)
    else { return nil }
    self.attribute = attribute
    self.coder = coder
    self.entity = entity
    self.formerEntity = formerEntity
  }

  /// What values of a type can be read as.
  private enum Kind { case number, numberText, uuidText, uriText }

  private static func kinds(_ type: NSAttributeType) -> Set<Kind> {
    switch type {
    case .integer16AttributeType, .integer32AttributeType, .integer64AttributeType, .doubleAttributeType,
      .floatAttributeType, .decimalAttributeType:
      [.number, .numberText]
    case .booleanAttributeType: [.number]
    case .stringAttributeType: [.numberText, .uuidText, .uriText]
    case .UUIDAttributeType: [.uuidText]
    case .URIAttributeType: [.uriText]
    default: []
    }
  }

  /// The field with the new value; nil for null.
  ///
  /// - Throws: 134190 if the new type cannot have the value.
  func converted(_ field: Schema.StoredField) throws -> Schema.StoredField? {
    let stored = try StoredValue(field.field, in: field.content)
    guard stored != .null else { return nil }
    guard let value = value(stored) else {
      throw SchemaEvolution.failure(
        "An object has a value of \(attribute.name) that the new type cannot have", formerEntity, entity)
    }
    var writer = FieldWriter()
    try coder.write(value, of: attribute, 1, &writer)
    return try FieldReader.field(1, of: writer.bytes).map { Schema.StoredField($0, of: writer.bytes) }
  }

  private func value(_ stored: StoredValue) -> ManagedValue? {
    switch attribute.attributeType {
    case .integer16AttributeType: Self.integer(stored, Int16.self)
    case .integer32AttributeType: Self.integer(stored, Int32.self)
    case .integer64AttributeType: Self.integer(stored, Int64.self)
    case .booleanAttributeType:
      switch Self.integer(stored, Int8.self) {
      case .integer(0)?: .integer(0)
      case .integer(1)?: .integer(1)
      default: nil
      }
    case .doubleAttributeType: Self.double(stored).map { .double($0) }
    case .floatAttributeType:
      Self.double(stored).flatMap { Double(Float($0)) == $0 || Self.isText(stored) ? .double(Double(Float($0))) : nil }
    case .decimalAttributeType: Self.decimal(stored).map { .other(NSDecimalNumber(decimal: $0)) }
    case .stringAttributeType: Self.text(stored).map { .string($0) }
    case .UUIDAttributeType: Self.text(stored).flatMap(UUID.init(uuidString:)).map { .uuid($0) }
    case .URIAttributeType: Self.text(stored).flatMap(URL.init(string:)).map { .other($0) }
    default: nil
    }
  }

  private static func integer<Whole: FixedWidthInteger>(_ stored: StoredValue, _ type: Whole.Type) -> ManagedValue? {
    let whole: Whole? =
      switch stored {
      case .bool(let value): value ? 1 : 0
      case .integer(let value): Whole(exactly: value)
      case .double(let value): Whole(exactly: value)
      case .float(let value): Whole(exactly: value)
      case .string(let text), .decimal(let text): Whole(text)
      default: nil
      }
    return whole.map { .integer(Int64($0)) }
  }

  private static func double(_ stored: StoredValue) -> Double? {
    switch stored {
    case .bool(let value): value ? 1 : 0
    case .integer(let value): Double(exactly: value)
    case .double(let value): value
    case .float(let value): Double(value)
    case .decimal(let text), .string(let text):
      // Not hexadecimal, and neither infinite nor "nan".
      text.utf8.contains(where: { !"0123456789+-.eE".utf8.contains($0) }) ? nil : Double(text).filter(\.isFinite)
    default: nil
    }
  }

  private static func decimal(_ stored: StoredValue) -> Decimal? {
    let text: String? =
      switch stored {
      case .bool(let value): value ? "1" : "0"
      case .integer(let value): "\(value)"
      case .double(let value): value.isFinite ? "\(value)" : nil
      case .float(let value): value.isFinite ? "\(value)" : nil
      case .decimal(let text): text
      case .string(let text): double(stored) == nil ? nil : text
      default: nil
      }
    return text.flatMap { Decimal(string: $0, locale: Locale(identifier: "en_US_POSIX")) }
  }

  private static func text(_ stored: StoredValue) -> String? {
    switch stored {
    case .integer(let value): "\(value)"
    case .double(let value): "\(value)"
    case .float(let value): "\(value)"
    case .decimal(let text), .string(let text), .uri(let text): text
    case .uuid(.uuid(let value)): UUID(value).uuidString
    default: nil
    }
  }

  private static func isText(_ stored: StoredValue) -> Bool {
    switch stored {
    case .string, .decimal: true
    default: false
    }
  }
}

extension Optional {
  fileprivate func filter(_ isIncluded: (Wrapped) -> Bool) -> Wrapped? { flatMap { isIncluded($0) ? $0 : nil } }
}

extension UUID {
  /// The UUID whose bytes, the most significant first, are those of a number.
  fileprivate init(_ number: UInt128) {
    let digits = String(number, radix: 16, uppercase: true)
    let all = Array(String(repeating: "0", count: 32 - digits.count) + digits)
    let parts = [0..<8, 8..<12, 12..<16, 16..<20, 20..<32].map { String(all[$0]) }
    guard let uuid = UUID(uuidString: parts.joined(separator: "-")) else { fatalError("A number is no UUID.") }
    self = uuid
  }
}
