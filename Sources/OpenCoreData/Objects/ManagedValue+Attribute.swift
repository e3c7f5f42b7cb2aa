import Foundation

extension ManagedValue {
  /// Converts a value to the form in which the attribute's type keeps it. Ends the program if the type cannot have the
  /// value; Apple's Core Data raises an exception.
  package init(_ value: Any?, of attribute: NSAttributeDescription) {
    // The value is unwrapped once, since each copy of an optional one takes long.
    guard let value else {
      self = .null
      return
    }
    guard let made = ManagedValue(given: value, attribute.attributeType) else {
      fatalError(
        """
        Unacceptable type of value for attribute \(attribute.owner?.name ?? "").\(attribute.name): \
        desired type = \(attribute.attributeValueClassName ?? ""); given type = \(type(of: value)).
        """)
    }
    self = made
  }

  /// As ``init(_:of:)``, but nil for a value that the attribute's type cannot have.
  init?(ifFit value: Any?, for attribute: NSAttributeDescription) {
    self.init(ifFit: value, attribute.attributeType)
  }

  /// As ``init(_:of:)``, but nil for a value that the type cannot have.
  init?(ifFit value: Any?, _ type: NSAttributeType) {
    guard let value else {
      self = .null
      return
    }
    self.init(given: value, type)
  }

  /// As ``init(ifFit:_:)``.
  init?(given value: Any, _ type: NSAttributeType) {
    if let made = Self.made(of: value, type) {
      self = made
    } else if value is NSNull {
      self = .null
    } else {
      return nil
    }
  }

  /// A value that was converted to the type; nil if the type cannot have it.
  init?(converted value: PredicateValue, _ type: NSAttributeType) {
    switch (value, type) {
    case (.null, _): self = .null
    case (.integer(let number), .integer16AttributeType), (.integer(let number), .integer32AttributeType),
      (.integer(let number), .integer64AttributeType):
      self = .integer(number)
    case (.double(let number), .doubleAttributeType): self = .double(number)
    case (.string(let text), .stringAttributeType): self = .string(text)
    case (.date(let date), .dateAttributeType): self = .date(date)
    default: self.init(ifFit: value.anyValue, type)
    }
  }

  /// Nil for a value that the type cannot have.
  private static func made(of value: Any, _ type: NSAttributeType) -> ManagedValue? {
    switch type {
    case .integer64AttributeType, .integer32AttributeType, .integer16AttributeType:
      if let value = same(value, Int.self) { return .integer(Int64(value)) }
      return number(value).map { .integer($0.int64Value) }
    case .booleanAttributeType:
      if let value = same(value, Bool.self) { return .integer(value ? 1 : 0) }
      return number(value).map { .integer($0.boolValue ? 1 : 0) }
    case .doubleAttributeType:
      if let value = same(value, Double.self) { return .double(value) }
      return number(value).map { .double($0.doubleValue) }
    case .floatAttributeType: return number(value).map { .double(Double($0.floatValue)) }
    case .stringAttributeType: return (same(value, String.self) ?? value as? String).map { .string($0) }
    case .dateAttributeType: return (same(value, Date.self) ?? value as? Date).map { .date($0) }
    case .binaryDataAttributeType: return (same(value, Data.self) ?? value as? Data).map { .data($0) }
    case .UUIDAttributeType: return (same(value, UUID.self) ?? value as? UUID).map { .uuid($0) }
    case .URIAttributeType: return (value as? URL).map { .other($0) }
    case .decimalAttributeType:
      if let value = value as? NSDecimalNumber { return .other(value) }
      if let value = value as? Decimal { return .other(NSDecimalNumber(decimal: value)) }
      return number(value).map { .other(NSDecimalNumber(decimal: $0.decimalValue)) }
    case .undefinedAttributeType, .transformableAttributeType, .objectIDAttributeType, .compositeAttributeType:
      return value is NSNull ? nil : .other(value)
    }
  }

  /// The value if its type is exactly `wanted`. A cast would first look for other ways, which takes ten times as long.
  static func same<Value>(_ value: Any, _ wanted: Value.Type) -> Value? {
    func cast<Given>(_ given: Given) -> Value? {
      guard Given.self == wanted else { return nil }
      return unsafe withUnsafePointer(to: given) { place in
        unsafe UnsafeRawPointer(place).assumingMemoryBound(to: Value.self).pointee
      }
    }
    return _openExistential(value, do: cast)
  }

  /// The number in an `NSNumber` or in a value of one of Swift's number types.
  private static func number(_ value: Any) -> NSNumber? {
    if Swift.type(of: value) is AnyClass { return value as AnyObject as? NSNumber }
    return switch value {
    case let value as any BinaryInteger: Int64(exactly: value).map { NSNumber(value: $0) }
    case let value as any BinaryFloatingPoint: NSNumber(value: Double(value))
    default: value as? NSNumber
    }
  }

  /// The value of an attribute in the form that the application gets: numbers as `NSNumber`, so that every cast that
  /// succeeds on Apple's platforms succeeds here; nil for no value.
  package func anyValue(of type: NSAttributeType) -> Any? {
    switch self {
    case .integer(let value):
      type == .booleanAttributeType ? NSNumber(value: value != 0) : NSNumber(value: value)
    case .double(let value):
      type == .floatAttributeType ? NSNumber(value: Float(value)) : NSNumber(value: value)
    case .string(let value): value
    case .date(let value): value
    case .data(let value): value
    case .uuid(let value): value
    case .other(let value): value
    case .null, .reference, .object, .members, .fetched, .fault: nil
    }
  }

  /// The value of an attribute or a to-one relationship in the form that predicates compare.
  package var predicateValue: PredicateValue {
    switch self {
    case .integer(let value): .integer(value)
    case .double(let value): .double(value)
    case .string(let value): .string(value)
    case .date(let value): .date(value)
    case .data(let value): .data(value)
    case .uuid(let value): .uuid(value)
    case .other(let value): PredicateValue(value)
    case .reference(let id): .object(id)
    case .object(let object): .object(object)
    case .fetched(let objects): .collection(objects.map { .object($0) }, ordered: true)
    case .null, .members, .fault: .null
    }
  }
}
