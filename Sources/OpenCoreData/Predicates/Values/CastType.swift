import Foundation

/// The types that a value can be cast to.
enum CastType: String, CaseIterable {
  case string = "NSString"
  case number = "NSNumber"
  case decimal = "NSDecimalNumber"
  case date = "NSDate"
  case uuid = "NSUUID"
  case url = "NSURL"
  case data = "NSData"

  /// The type with this name; the prefix `NS` may be missing.
  init?(_ name: String) {
    guard let type = CastType(rawValue: name) ?? CastType(rawValue: "NS" + name) else { return nil }
    self = type
  }

  /// The value as this type; null if it cannot be converted.
  ///
  /// A date is converted to and from seconds since the beginning of 2001. Data is converted from base 64.
  func cast(_ value: PredicateValue) -> PredicateValue {
    switch (self, value) {
    case (.string, .string), (.date, .date), (.uuid, .uuid), (.data, .data), (.decimal, .decimal): value
    case (.number, .integer), (.number, .double), (.number, .decimal): value
    case (.string, .integer(let value)): .string(value.description)
    case (.string, .double(let value)): .string(value.description)
    case (.string, .decimal(let value)): .string(value.description)
    case (.string, .date(let value)): .string(value.description)
    case (.string, .uuid(let value)): .string(value.uuidString)
    case (.string, .object(let value as URL)): .string(value.absoluteString)
    case (.number, .string(let text)): Self.number(text)
    case (.number, .date(let value)): .double(value.timeIntervalSinceReferenceDate)
    case (.decimal, .integer(let value)): .decimal(Decimal(value))
    case (.decimal, .double(let value)): Self.decimal(value.description)
    case (.decimal, .string(let text)): Self.decimal(text)
    case (.uuid, .string(let text)): UUID(uuidString: text).map(PredicateValue.uuid) ?? .null
    case (.url, .string(let text)): URL(string: text).map { .object($0) } ?? .null
    case (.url, .object(let value as URL)): .object(value)
    case (.data, .string(let text)): Data(base64Encoded: text).map(PredicateValue.data) ?? .null
    case (.date, _): value.doubleValue.map { .date(Date(timeIntervalSinceReferenceDate: $0)) } ?? .null
    default: .null
    }
  }

  private static func number(_ text: String) -> PredicateValue {
    Int64(text).map(PredicateValue.integer) ?? Double(text).map(PredicateValue.double) ?? .null
  }

  private static func decimal(_ text: String) -> PredicateValue {
    text == Decimal.nan.description ? .decimal(.nan) : Decimal(string: text).map(PredicateValue.decimal) ?? .null
  }
}
