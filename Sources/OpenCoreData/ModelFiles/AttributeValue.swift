import Foundation

/// Reads values of an attribute's type from the XML attributes of its element.
struct AttributeValue {
  private let element: ModelElement
  private let type: NSAttributeType

  init(_ element: ModelElement, _ type: NSAttributeType) {
    self.element = element
    self.type = type
  }

  /// The default value; nil if there is none, or if the type cannot have it.
  func defaultValue() -> Any? {
    if type == .stringAttributeType { return element.attributes["defaultValueString"] }
    let attribute = type == .dateAttributeType ? "defaultDateTimeInterval" : "defaultValueString"
    guard let text = element.text(attribute) else { return nil }
    if let value = value(text) { return value }
    let assumed = inOtherWords(text)
    element.warn("\(problem(attribute, text)); \(assumed ?? "none") is assumed")
    return assumed.flatMap(value)
  }

  /// A bound of the values; nil if there is none, or if the type cannot have it.
  func bound(_ attribute: String) -> Any? {
    guard let text = element.text(attribute) else { return nil }
    if let bound = value(text) { return bound }
    element.warn("\(problem(attribute, text)); no bound is assumed")
    return nil
  }

  private func problem(_ attribute: String, _ text: String) -> String {
    let name = element.text("attributeType") ?? "Undefined"
    return "\(attribute) of an attribute of type \(name) cannot be \"\(text)\""
  }

  /// The value that the text represents; nil if the type has no such value.
  private func value(_ text: String) -> Any? {
    switch type {
    case .integer16AttributeType: Int(modelText: text).flatMap(Int16.init(exactly:)).map(NSNumber.init(value:))
    case .integer32AttributeType: Int(modelText: text).flatMap(Int32.init(exactly:)).map(NSNumber.init(value:))
    case .integer64AttributeType: Int(modelText: text).map { NSNumber(value: Int64($0)) }
    case .decimalAttributeType: decimal(text)
    case .floatAttributeType: Float(text).flatMap { $0.isFinite ? NSNumber(value: $0) : nil }
    case .doubleAttributeType: Double(modelText: text).map(NSNumber.init(value:))
    case .booleanAttributeType: Bool(modelText: text).map(NSNumber.init(value:))
    case .dateAttributeType: Double(modelText: text).map(Date.init(timeIntervalSinceReferenceDate:))
    case .UUIDAttributeType: UUID(uuidString: text)
    case .URIAttributeType: URL(string: text)
    default: nil
    }
  }

  private func decimal(_ text: String) -> NSDecimalNumber? {
    // `Decimal(string:)` ignores what follows a number, so it would accept texts that only begin with one.
    guard text.allSatisfy({ "+-.0123456789eE".contains($0) }), Double(text) != nil, let decimal = Decimal(string: text)
    else { return nil }
    return decimal.isNaN ? nil : NSDecimalNumber(decimal: decimal)
  }

  /// A stale default value, written for an earlier type of the attribute, in the notation of the current type: `1` for
  /// `YES` if that is a number. Nil if the current type has no such value.
  private func inOtherWords(_ text: String) -> String? {
    if type == .booleanAttributeType { return Double(modelText: text).map { $0 == 0 ? "NO" : "YES" } }
    guard type.isNumeric else { return nil }
    let number = Bool(modelText: text).map { $0 ? 1 : 0 } ?? Double(modelText: text)?.rounded(.towardZero)
    return number.flatMap(Int.init(exactly:)).map(String.init).flatMap { value($0) == nil ? nil : $0 }
  }
}

extension NSAttributeType {
  /// Whether the values are numbers other than Booleans.
  var isNumeric: Bool {
    switch self {
    case .integer16AttributeType, .integer32AttributeType, .integer64AttributeType, .decimalAttributeType,
      .doubleAttributeType, .floatAttributeType:
      true
    default: false
    }
  }
}
