import Foundation
import OpenCoreData

/// Conversions between values of services and of attributes.
extension RemoteValue {
  /// The value of an attribute.
  init(_ value: ManagedValue, _ type: NSAttributeType) {
    self =
      switch value {
      case .integer(let number): type == .booleanAttributeType ? .bool(number != 0) : .integer(number)
      case .double(let number): .double(number)
      case .string(let text): .string(text)
      case .date(let date): .date(date)
      case .data(let data): .data(data)
      case .uuid(let uuid): .uuid(uuid)
      case .other(let other): RemoteValue(other: other)
      case .null, .reference, .object, .members, .fetched, .fault: .null
      }
  }

  private init(other: Any) {
    self =
      switch other {
      case let number as NSDecimalNumber: .decimal(number.decimalValue)
      case let url as URL: .url(url)
      default: .string(String(describing: other))
      }
  }

  /// Converts a value to the type of an attribute; nil if that is impossible.
  func managed(as type: NSAttributeType) -> ManagedValue? {
    if case .null = self { return .null }
    switch type {
    case .integer16AttributeType: return number(in: Int64(Int16.min)...Int64(Int16.max))
    case .integer32AttributeType: return number(in: Int64(Int32.min)...Int64(Int32.max))
    case .integer64AttributeType: return number(in: .min ... .max)
    case .booleanAttributeType:
      switch self {
      case .bool(let value): return .integer(value ? 1 : 0)
      case .integer(0), .string("false"), .string("0"): return .integer(0)
      case .integer(1), .string("true"), .string("1"): return .integer(1)
      default: return nil
      }
    case .doubleAttributeType: return floating.map { .double($0) }
    case .floatAttributeType: return floating.map { .double(Double(Float($0))) }
    case .decimalAttributeType: return decimal.map { .other(NSDecimalNumber(decimal: $0)) }
    case .stringAttributeType: return text.map { .string($0) }
    case .dateAttributeType: return date.map { .date($0) }
    case .binaryDataAttributeType:
      switch self {
      case .data(let data): return .data(data)
      case .string(let text): return Data(base64Encoded: text).map { .data($0) }
      default: return nil
      }
    case .UUIDAttributeType:
      switch self {
      case .uuid(let uuid): return .uuid(uuid)
      case .string(let text): return UUID(uuidString: text).map { .uuid($0) }
      default: return nil
      }
    case .URIAttributeType:
      switch self {
      case .url(let url): return .other(url)
      case .string(let text): return URL(string: text).map { .other($0) }
      default: return nil
      }
    default: return nil
    }
  }

  private func number(in range: ClosedRange<Int64>) -> ManagedValue? {
    let number: Int64? =
      switch self {
      case .integer(let value): value
      case .bool(let value): value ? 1 : 0
      case .double(let value): Int64(exactly: value)
      case .decimal(let value): Int64("\(value)")
      case .string(let text): Int64(text)
      default: nil
      }
    return number.flatMap { range.contains($0) ? .integer($0) : nil }
  }

  private var floating: Double? {
    switch self {
    case .integer(let value): Double(value)
    case .double(let value): value
    case .decimal(let value): Double("\(value)")
    case .string(let text): Double(text)
    default: nil
    }
  }

  private var decimal: Decimal? {
    switch self {
    case .integer(let value): Decimal(value)
    case .double(let value): value.isFinite ? Decimal(string: "\(value)") : nil
    case .decimal(let value): value
    case .string(let text): Decimal(string: text)
    default: nil
    }
  }

  private var text: String? {
    switch self {
    case .string(let text): text
    case .integer(let value): "\(value)"
    case .uuid(let uuid): uuid.uuidString
    case .url(let url): url.absoluteString
    case .decimal(let value): "\(value)"
    default: nil
    }
  }

  private var date: Date? {
    switch self {
    case .date(let date): date
    case .integer(let seconds): Date(timeIntervalSince1970: Double(seconds))
    case .double(let seconds): Date(timeIntervalSince1970: seconds)
    case .string(let text):
      (try? Date(text, strategy: Date.ISO8601FormatStyle(includingFractionalSeconds: true)))
        ?? (try? Date(text, strategy: .iso8601))
    default: nil
    }
  }
}
