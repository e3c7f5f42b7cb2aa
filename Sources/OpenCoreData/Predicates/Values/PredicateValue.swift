public import Foundation

/// A value as predicates compare it: what a row holds, free of the many types that can carry it.
///
/// A store decodes its rows straight into these; everything else is turned into one by ``init(_:)``. Two values are equal if a predicate's
/// `==` says so: numbers by what they stand for, whatever their type; strings by canonical equivalence; null equals only null.
public enum PredicateValue {
  /// No value: nil and `NSNull`.
  case null
  /// A whole number; booleans are 0 and 1.
  case integer(Int64)
  /// A floating-point number, single or double.
  case double(Double)
  /// A decimal number, and a whole one that `Int64` cannot hold.
  case decimal(Decimal)
  /// A string.
  case string(String)
  /// A date.
  case date(Date)
  /// Bytes.
  case data(Data)
  /// A UUID.
  case uuid(UUID)
  /// Several values; if not ordered, equal to the same ones in any order.
  case collection([PredicateValue], ordered: Bool)
  /// Anything else, compared by its own equality.
  indirect case object(Any)
}

extension PredicateValue {
  /// The elements of a collection; nil for anything else.
  public var elements: [PredicateValue]? {
    if case .collection(let elements, _) = self { elements } else { nil }
  }

  /// Whether there is no value.
  public var isNull: Bool {
    if case .null = self { true } else { false }
  }

  /// The value as Foundation's types carry it: numbers as `NSNumber`, collections as arrays or, if they have no order, sets; nil for null.
  ///
  /// Takes time in proportion to the elements of a collection.
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
