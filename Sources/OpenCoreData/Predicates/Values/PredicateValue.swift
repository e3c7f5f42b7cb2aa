public import Foundation

/// A value as predicates compare it, whatever the type that held it in Swift or Foundation.
///
/// A store decodes its rows directly to such values; ``init(_:)`` converts all others. Two values are equal if a
/// predicate's `==` is true for them: numbers are compared by value, whatever their type; strings by canonical
/// equivalence; null equals only null.
public enum PredicateValue {
  /// No value: nil and `NSNull`.
  case null
  /// A whole number; booleans are 0 and 1.
  case integer(Int64)
  /// A floating-point number, single or double.
  case double(Double)
  /// A decimal number, or a whole number that `Int64` cannot hold.
  case decimal(Decimal)
  /// A string.
  case string(String)
  /// A date.
  case date(Date)
  /// Bytes.
  case data(Data)
  /// A UUID.
  case uuid(UUID)
  /// A collection. Unordered collections are equal if they have the same elements, in any order and however often.
  case collection([PredicateValue], ordered: Bool)
  /// Anything else, compared by its own equality.
  indirect case object(Any)
}

extension PredicateValue {
  /// The elements of a collection; nil for anything else.
  public var elements: [PredicateValue]? {
    if case .collection(let elements, _) = self { elements } else { nil }
  }

  /// Whether the value is an object, or has one among its elements.
  var hasObjects: Bool {
    switch self {
    case .object: true
    case .collection(let elements, _): elements.contains(where: \.hasObjects)
    default: false
    }
  }

  /// Whether the value is null.
  public var isNull: Bool {
    if case .null = self { true } else { false }
  }

  /// The value in one of Foundation's types: numbers as `NSNumber`, collections as arrays or, if not ordered, as
  /// `NSSet`; nil for null.
  ///
  /// Takes time in proportion to the number of elements of a collection.
  public var anyValue: Any? {
    switch self {
    case .null: nil
    case .integer(let value): NSNumber(value: value)
    case .double(let value): NSNumber(value: value)
    case .decimal(let value): NSDecimalNumber(decimal: value)
    case .string(let value): value
    case .date(let value): value
    case .data(let value): value
    case .uuid(let value): value
    case .collection(let elements, ordered: true): elements.map { $0.anyValue ?? NSNull() }
    case .collection(let elements, ordered: false): NSSet(array: elements.map { $0.anyValue ?? NSNull() })
    case .object(let value): value
    }
  }
}
