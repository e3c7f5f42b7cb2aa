import Foundation

/// Reads values of an attribute's type from the attributes of its element.
struct AttributeValue {
  private let element: ModelElement
  private let type: NSAttributeType

  init(_ element: ModelElement, _ type: NSAttributeType) {
    self.element = element
    self.type = type
  }

  /// The default value; nil if there is none.
  func defaultValue() throws(ModelFileError) -> Any? {
    switch type {
    case .stringAttributeType: element.attributes["defaultValueString"]
    case .booleanAttributeType: try value("defaultValueString") { Bool(modelText: $0).map(NSNumber.init(value:)) }
    case .dateAttributeType: try date("defaultDateTimeInterval")
    case .UUIDAttributeType: try value("defaultValueString") { UUID(uuidString: $0) }
    case .URIAttributeType: try value("defaultValueString") { URL(string: $0) }
    default: type.isNumeric ? try number("defaultValueString") : nil
    }
  }

  /// A number of the type.
  func number(_ attribute: String) throws(ModelFileError) -> NSNumber? {
    switch type {
    case .integer16AttributeType: try integer(attribute, Int16.self).map(NSNumber.init(value:))
    case .integer32AttributeType: try integer(attribute, Int32.self).map(NSNumber.init(value:))
    case .integer64AttributeType: try integer(attribute, Int64.self).map(NSNumber.init(value:))
    case .decimalAttributeType:
      // The initialiser takes as much of a text as is a number.
      try value(attribute) { text in
        text.allSatisfy { "+-.0123456789eE".contains($0) } && Double(text) != nil
          ? Decimal(string: text).map(NSDecimalNumber.init(decimal:)) : nil
      }
    case .floatAttributeType: try value(attribute) { Float($0).map(NSNumber.init(value:)) }
    default: try value(attribute) { Double($0).map(NSNumber.init(value:)) }
    }
  }

  /// Seconds since the beginning of 2001.
  func date(_ attribute: String) throws(ModelFileError) -> Date? {
    try value(attribute) { Double($0).map(Date.init(timeIntervalSinceReferenceDate:)) }
  }

  /// An integer, also where it is written with a fraction of zero, as it is after the type was changed in the editor.
  private func integer<Integer: FixedWidthInteger>(
    _ attribute: String, _ type: Integer.Type
  ) throws(ModelFileError) -> Integer? {
    try value(attribute) { Integer($0) ?? Double($0).flatMap(Integer.init(exactly:)) }
  }

  private func value<Value>(_ attribute: String, _ parse: (String) -> Value?) throws(ModelFileError) -> Value? {
    guard let text = element.text(attribute) else { return nil }
    guard let value = parse(text) else {
      let name = element.text("attributeType") ?? "Undefined"
      throw element.error("\(attribute) of an attribute of type \(name) cannot be \"\(text)\"")
    }
    return value
  }
}

extension NSAttributeType {
  /// Whether values are numbers, other than yes and no.
  var isNumeric: Bool {
    switch self {
    case .integer16AttributeType, .integer32AttributeType, .integer64AttributeType, .decimalAttributeType,
      .doubleAttributeType, .floatAttributeType:
      true
    default: false
    }
  }
}
