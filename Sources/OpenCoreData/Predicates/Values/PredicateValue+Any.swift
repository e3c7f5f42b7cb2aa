import Foundation

extension PredicateValue {
  /// Converts a value of any of Swift's or Foundation's types: numbers, strings, dates, data, UUIDs, collections, null,
  /// and optionals of these. Anything else becomes an ``object(_:)``.
  ///
  /// Takes time in proportion to the elements of a collection.
  public init(_ value: Any?) {
    guard let value else {
      self = .null
      return
    }
    self = Self.exact(value) ?? Self.foundation(value) ?? Self.wrapped(value) ?? .object(value)
  }

  /// Converts by exact type, because a cast would first try to bridge; nil for other types.
  private static func exact(_ value: Any) -> PredicateValue? {
    let type: Any.Type = type(of: value)
    return if type == String.self, let value = value as? String {
      .string(value)
    } else if type == Int.self, let value = value as? Int {
      .integer(Int64(value))
    } else if type == Double.self, let value = value as? Double {
      .double(value)
    } else if type == Bool.self, let value = value as? Bool {
      .integer(value ? 1 : 0)
    } else if type == Date.self, let value = value as? Date {
      .date(value)
    } else if type == Decimal.self, let value = value as? Decimal {
      .decimal(value)
    } else if type == UUID.self, let value = value as? UUID {
      .uuid(value)
    } else if type == Data.self, let value = value as? Data {
      .data(value)
    } else if type == PredicateValue.self, let value = value as? PredicateValue {
      value
    } else if type == NSManagedObjectID.self {
      .object(value)
    } else {
      nil
    }
  }

  /// Converts an instance of a class; nil for values of Swift's types.
  private static func foundation(_ value: Any) -> PredicateValue? {
    guard let object = classInstance(value) else { return nil }
    return switch object {
    case is NSManagedObject: .object(value)
    case let value as NSDecimalNumber: .decimal(value.decimalValue)
    case let value as NSNumber: number(value)
    case let value as NSString: .string(value as String)
    case is NSNull: .null
    case let value as NSDate: .date(value as Date)
    case let value as NSUUID: .uuid(value as UUID)
    case let value as NSData: .data(value as Data)
    case let value as NSURL: .object(value as URL)
    case let value as NSArray: .collection(value.map(PredicateValue.init), ordered: true)
    case let value as NSOrderedSet: .collection(value.map { PredicateValue($0) }, ordered: true)
    case let value as NSSet: .collection(value.map { PredicateValue($0) }, ordered: false)
    default: .object(value)
    }
  }

  private static func number(_ number: NSNumber) -> PredicateValue {
    switch unsafe UInt8(bitPattern: number.objCType.pointee) {
    case UInt8(ascii: "d"), UInt8(ascii: "f"): .double(number.doubleValue)
    case UInt8(ascii: "Q"): whole(number.uint64Value)
    default: .integer(number.int64Value)
    }
  }

  private static func whole(_ value: some BinaryInteger) -> PredicateValue {
    Int64(exactly: value).map(PredicateValue.integer) ?? Decimal(string: value.description).map(PredicateValue.decimal)
      ?? .double(Double(value))
  }

  private static func wrapped(_ value: Any) -> PredicateValue? {
    switch value {
    case let value as any PredicateValueConvertible: value.predicateValue
    case let value as any BinaryInteger: whole(value)
    case let value as any BinaryFloatingPoint: .double(Double(value))
    default: nil
    }
  }
}

/// A type that holds values of any type, such as a collection or an optional. A value cannot be cast to these in
/// general, without naming the type of the elements.
private protocol PredicateValueConvertible {
  var predicateValue: PredicateValue { get }
}

extension PredicateValue: PredicateValueConvertible {
  fileprivate var predicateValue: PredicateValue { self }
}

extension Optional: PredicateValueConvertible {
  fileprivate var predicateValue: PredicateValue { PredicateValue(map { $0 as Any }) }
}

extension Array: PredicateValueConvertible {
  fileprivate var predicateValue: PredicateValue { .collection(map { PredicateValue($0) }, ordered: true) }
}

extension Set: PredicateValueConvertible {
  fileprivate var predicateValue: PredicateValue { .collection(map { PredicateValue($0) }, ordered: false) }
}

extension AnyHashable: PredicateValueConvertible {
  fileprivate var predicateValue: PredicateValue { PredicateValue(base) }
}
