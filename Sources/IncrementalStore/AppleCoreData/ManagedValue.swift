import CoreData

/// The value of an attribute or of a to-one relationship.
package enum ManagedValue {
  case null
  /// A whole number, or a boolean as 0 or 1.
  case integer(Int64)
  case double(Double)
  case string(String)
  case date(Date)
  case data(Data)
  case uuid(UUID)
  /// A decimal number, a URL, or a value of a type of the application.
  indirect case other(Any)
  /// The object at the other end of a to-one relationship.
  case reference(NSManagedObjectID)
}

extension ManagedValue {
  /// The value in the representation of the attribute's type. A value that the type cannot represent stays as it is,
  /// and is refused when it is written.
  init(_ value: Any?, of attribute: NSAttributeDescription) {
    guard let value, !(value is NSNull) else {
      self = .null
      return
    }
    self = Self.made(of: value, attribute.attributeType) ?? .other(value)
  }

  private static func made(of value: Any, _ type: NSAttributeType) -> ManagedValue? {
    switch type {
    case .integer16AttributeType, .integer32AttributeType, .integer64AttributeType:
      (value as? NSNumber).map { .integer($0.int64Value) }
    case .booleanAttributeType: (value as? NSNumber).map { .integer($0.boolValue ? 1 : 0) }
    case .doubleAttributeType: (value as? NSNumber).map { .double($0.doubleValue) }
    case .floatAttributeType: (value as? NSNumber).map { .double(Double($0.floatValue)) }
    case .decimalAttributeType:
      (value as? NSNumber).map { .other($0 as? NSDecimalNumber ?? NSDecimalNumber(decimal: $0.decimalValue)) }
    case .stringAttributeType: (value as? String).map { .string($0) }
    case .dateAttributeType: (value as? Date).map { .date($0) }
    case .binaryDataAttributeType: (value as? Data).map { .data($0) }
    case .UUIDAttributeType: (value as? UUID).map { .uuid($0) }
    default: nil
    }
  }

  /// The value of an attribute as the application gets it; nil for none.
  func anyValue(of type: NSAttributeType) -> Any? {
    switch self {
    case .integer(let value): type == .booleanAttributeType ? NSNumber(value: value != 0) : NSNumber(value: value)
    case .double(let value): type == .floatAttributeType ? NSNumber(value: Float(value)) : NSNumber(value: value)
    case .string(let value): value
    case .date(let value): value
    case .data(let value): value
    case .uuid(let value): value
    case .other(let value): value
    case .null, .reference: nil
    }
  }

  /// The identifier of the object at the other end of a to-one relationship.
  var objectID: NSManagedObjectID? {
    if case .reference(let id) = self { id } else { nil }
  }
}
