import CoreData

extension ManagedValue {
  /// The only stored value that equals a constant; nil if there may be several, or none.
  init?(equalTo constant: Any?, of attribute: NSAttributeDescription) {
    guard let value = Self.value(constant, attribute.attributeType) else { return nil }
    self.init(value, of: attribute)
  }

  private static func value(_ constant: Any?, _ type: NSAttributeType) -> Any? {
    switch type {
    case .booleanAttributeType: return number(constant).flatMap { [0, 1].contains($0.doubleValue) ? $0 : nil }
    case .integer16AttributeType, .integer32AttributeType, .integer64AttributeType:
      return number(constant).flatMap { $0.isWhole ? $0 : nil }
    case .doubleAttributeType: return number(constant).flatMap { $0.equals($0.doubleValue) ? $0 : nil }
    case .floatAttributeType: return number(constant).flatMap { $0.equals(Double($0.floatValue)) ? $0 : nil }
    case .stringAttributeType: return constant as? String
    case .dateAttributeType: return constant as? Date
    case .binaryDataAttributeType: return constant as? Data
    case .UUIDAttributeType: return constant as? UUID
    default: return nil
    }
  }

  /// Nil for a decimal number: the double that it equals is not the one that it converts to.
  private static func number(_ constant: Any?) -> NSNumber? {
    constant is Decimal || constant is NSDecimalNumber ? nil : constant as? NSNumber
  }
}

extension NSNumber {
  private enum Kind {
    case signed
    case unsigned
    case floating
  }

  private var kind: Kind {
    switch unsafe UInt8(bitPattern: objCType.pointee) {
    case UInt8(ascii: "d"), UInt8(ascii: "f"): .floating
    case UInt8(ascii: "Q"): .unsigned
    default: .signed
    }
  }

  var isFloating: Bool { kind == .floating }

  /// Whether the number is exactly the same as a double. Large integers are not the doubles that they convert to.
  fileprivate func equals(_ double: Double) -> Bool {
    switch kind {
    case .floating: doubleValue == double
    case .unsigned: UInt64(exactly: double) == uint64Value
    case .signed: Int64(exactly: double) == int64Value
    }
  }

  /// The integer that the number is; nil if it is none, or one that 64 bits cannot hold.
  var whole: Int64? { isWhole ? int64Value : nil }

  /// Whether the number is an integer that 64 bits can hold.
  fileprivate var isWhole: Bool {
    switch kind {
    case .floating: Int64(exactly: doubleValue) != nil
    case .unsigned: uint64Value <= Int64.max
    case .signed: true
    }
  }
}
