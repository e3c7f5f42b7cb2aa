import Foundation

extension NSAttributeType {
  /// Converts a value to this type; null if that is not possible.
  func convert(_ value: PredicateValue) -> PredicateValue {
    switch self {
    case .undefinedAttributeType, .transformableAttributeType, .objectIDAttributeType, .compositeAttributeType: value
    case .integer16AttributeType: Self.whole(value, as: Int16.self)
    case .integer32AttributeType: Self.whole(value, as: Int32.self)
    case .integer64AttributeType: Self.whole(value, as: Int64.self)
    case .doubleAttributeType, .floatAttributeType:
      CastType.number.cast(value).doubleValue.map(PredicateValue.double) ?? .null
    case .booleanAttributeType: CastType.number.cast(value).doubleValue.map { .integer($0 == 0 ? 0 : 1) } ?? .null
    case .decimalAttributeType: CastType.decimal.cast(value)
    case .stringAttributeType: CastType.string.cast(value)
    case .dateAttributeType: CastType.date.cast(value)
    case .binaryDataAttributeType: CastType.data.cast(value)
    case .UUIDAttributeType: CastType.uuid.cast(value)
    case .URIAttributeType: CastType.url.cast(value)
    }
  }

  /// A sample value of the type, with the same keys as all its values; nil if values can be of any type.
  var sample: PredicateValue? {
    switch self {
    case .integer16AttributeType, .integer32AttributeType, .integer64AttributeType, .booleanAttributeType: .integer(0)
    case .doubleAttributeType, .floatAttributeType: .double(0)
    case .decimalAttributeType: .decimal(0)
    case .stringAttributeType: .string("")
    case .dateAttributeType: .date(Date(timeIntervalSinceReferenceDate: 0))
    case .binaryDataAttributeType: .data(Data())
    case .UUIDAttributeType: .uuid(UUID())
    case .URIAttributeType: .object(URL(filePath: "/"))
    case .undefinedAttributeType, .transformableAttributeType, .objectIDAttributeType, .compositeAttributeType: nil
    }
  }

  /// Truncates a number to a whole number; null if the type cannot hold it.
  private static func whole<Whole: FixedWidthInteger>(_ value: PredicateValue, as type: Whole.Type) -> PredicateValue {
    let number = CastType.number.cast(value)
    let whole: Whole? =
      switch number {
      case .integer(let value): Whole(exactly: value)
      case .decimal(let value): Whole(value.description.prefix { $0 != "." })
      default: number.doubleValue.flatMap { Whole(exactly: $0.rounded(.towardZero)) }
      }
    return whole.map { .integer(Int64($0)) } ?? .null
  }
}
