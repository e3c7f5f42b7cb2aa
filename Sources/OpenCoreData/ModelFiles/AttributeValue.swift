import Foundation

/// Reads values of an attribute's type from the attributes of its element.
struct AttributeValue {
  private let element: ModelElement
  private let type: NSAttributeType

  init(_ element: ModelElement, _ type: NSAttributeType) {
    self.element = element
    self.type = type
  }

  /// The default value; nil if there is none, or it is none that the type can have.
  func defaultValue() -> Any? {
    if type == .stringAttributeType { return element.attributes["defaultValueString"] }
    let attribute = type == .dateAttributeType ? "defaultDateTimeInterval" : "defaultValueString"
    guard let text = element.text(attribute) else { return nil }
    if let value = value(text) { return value }
    let assumed = inOtherWords(text)
    element.warn("\(problem(attribute, text)); \(assumed ?? "none") is assumed")
    return assumed.flatMap(value)
  }

  /// A bound of the values; nil if there is none, or it is none that the type can have.
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

  /// The value that the text stands for; nil if the type has none such.
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
    // The initialiser takes as much of a text as is a number.
    guard text.allSatisfy({ "+-.0123456789eE".contains($0) }), Double(text) != nil, let decimal = Decimal(string: text)
    else { return nil }
    return decimal.isNaN ? nil : NSDecimalNumber(decimal: decimal)
  }

  /// What a text that was left when the type was changed means in the words of the type it has now.
  private func inOtherWords(_ text: String) -> String? {
    if type == .booleanAttributeType { return Double(modelText: text).map { $0 == 0 ? "NO" : "YES" } }
    guard type.isNumeric else { return nil }
    let number = Bool(modelText: text).map { $0 ? 1 : 0 } ?? Double(modelText: text)?.rounded(.towardZero)
    return number.flatMap(Int.init(exactly:)).map(String.init).flatMap { value($0) == nil ? nil : $0 }
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
