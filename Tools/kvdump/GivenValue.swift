#if !canImport(Darwin)
  import CairnInspection
  import Foundation
  import OpenCoreData

  /// A value of a property as a file gives it: as JSON, or as the text of a CSV cell.
  enum GivenValue: Decodable {
    case null
    case bool(Bool)
    case integer(Int64)
    case double(Double)
    case string(String)
    case array([GivenValue])
    case object([String: GivenValue])

    init(from decoder: any Decoder) throws {
      let container = try decoder.singleValueContainer()
      if container.decodeNil() {
        self = .null
      } else if let value = try? container.decode(Bool.self) {
        self = .bool(value)
      } else if let value = try? container.decode(Int64.self) {
        self = .integer(value)
      } else if let value = try? container.decode(Double.self) {
        self = .double(value)
      } else if let value = try? container.decode(String.self) {
        self = .string(value)
      } else if let value = try? container.decode([GivenValue].self) {
        self = .array(value)
      } else {
        self = .object(try container.decode([String: GivenValue].self))
      }
    }

    /// The value in the attribute's type; nil if it cannot be converted to that type.
    func value(of attribute: NSAttributeDescription) -> Any? {
      switch (attribute.attributeType, self) {
      case (_, .null): NSNull()
      case (.integer16AttributeType, .integer(let value)), (.integer32AttributeType, .integer(let value)),
        (.integer64AttributeType, .integer(let value)):
        value
      case (.integer16AttributeType, .string(let text)), (.integer32AttributeType, .string(let text)),
        (.integer64AttributeType, .string(let text)):
        Int64(text)
      case (.doubleAttributeType, .integer(let value)), (.floatAttributeType, .integer(let value)): Double(value)
      case (.doubleAttributeType, .double(let value)), (.floatAttributeType, .double(let value)): value
      case (.doubleAttributeType, .string(let text)), (.floatAttributeType, .string(let text)): Double(text)
      case (.booleanAttributeType, .bool(let value)): value
      case (.booleanAttributeType, .string(let text)): Bool(text)
      case (.stringAttributeType, .string(let text)): text
      case (.decimalAttributeType, .integer(let value)): NSDecimalNumber(decimal: Decimal(value))
      case (.decimalAttributeType, .string(let text)): Self.decimal(text)
      case (.dateAttributeType, .string(let text)):
        ISODate.seconds(text).map(Date.init(timeIntervalSinceReferenceDate:))
      case (.binaryDataAttributeType, .string(let text)), (.transformableAttributeType, .string(let text)):
        Self.bytes(text)
      case (.UUIDAttributeType, .string(let text)): UUID(uuidString: text)
      case (.URIAttributeType, .string(let text)): URL(string: text)
      case (.compositeAttributeType, .object(let elements)):
        (attribute as? NSCompositeAttributeDescription).flatMap { Self.composite(elements, $0) }
      case (.compositeAttributeType, .string(let text)):
        (try? JSONDecoder().decode(GivenValue.self, from: Data(text.utf8)))?.value(of: attribute)
      default: nil
      }
    }

    private static func decimal(_ text: String) -> NSDecimalNumber? {
      if text == "NaN" { return .notANumber }
      guard text.utf8.allSatisfy({ "+-.0123456789eE".utf8.contains($0) }) else { return nil }
      return Decimal(string: text, locale: Locale(identifier: "en_US_POSIX")).map(NSDecimalNumber.init(decimal:))
    }

    private static func bytes(_ digits: String) -> Data? {
      let digits = Array(digits.utf8)
      guard digits.count.isMultiple(of: 2) else { return nil }
      var data = Data()
      for place in stride(from: 0, to: digits.count, by: 2) {
        guard let high = Character(Unicode.Scalar(digits[place])).hexDigitValue,
          let low = Character(Unicode.Scalar(digits[place + 1])).hexDigitValue
        else { return nil }
        data.append(UInt8(high << 4 | low))
      }
      return data
    }

    private static func composite(
      _ given: [String: GivenValue], _ composite: NSCompositeAttributeDescription
    ) -> [String: Any]? {
      var values: [String: Any] = [:]
      for (name, value) in given {
        guard let element = composite.elements.first(where: { $0.name == name }),
          let made = value.value(of: element)
        else { return nil }
        if !(made is NSNull) { values[name] = made }
      }
      return values
    }

    /// The names of the objects of a relationship; nil if the value does not consist of names, or has more than one for
    /// a to-one relationship. In the text of a to-many relationship, spaces separate the names; the name in a to-one
    /// relationship may contain spaces.
    func objectNames(isToMany: Bool) -> [String]? {
      switch self {
      case .null, .string(""): []
      case .string(let text): isToMany ? text.split(separator: " ").map(String.init) : [text]
      case .array(let elements) where isToMany || elements.count <= 1:
        elements.reduce(into: [] as [String]?) { names, element in
          if case .string(let name) = element { names?.append(name) } else { names = nil }
        }
      case .array, .bool, .integer, .double, .object: nil
      }
    }
  }
#endif
