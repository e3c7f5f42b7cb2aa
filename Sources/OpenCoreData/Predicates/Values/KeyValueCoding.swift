public import Foundation

/// A type whose instances have values for keys: a dictionary, a managed object, a row.
///
/// Predicates, expressions and sort descriptors read everything through this one protocol, as Apple's do through
/// key-value coding.
public protocol KeyValueCoding {
  /// The value for a key, nil if there is none.
  func value(forKey key: String) -> Any?

  /// The value for a key, as predicates compare it. It is that of `value(forKey:)`; a type may read it in a faster way.
  func predicateValue(forKey key: String) -> PredicateValue
}

extension KeyValueCoding {
  /// The value of `value(forKey:)`.
  public func predicateValue(forKey key: String) -> PredicateValue { PredicateValue(value(forKey: key)) }

  /// The value at the end of a key path: keys separated by dots, and collection operators such as `@count` or
  /// `@sum.salary`.
  ///
  /// A key of a collection is read from each element. Takes time in proportion to the number of elements on the path.
  public func value(forKeyPath keyPath: String) -> Any? {
    ValuePath(keyPath).value(of: self).anyValue
  }
}

/// The value as one that has values for keys; nil if it has none. Managed objects are recognised by their class: there
/// are many of them, and the search for a conformance takes longer than everything else.
func keyValues(of value: Any) -> (any KeyValueCoding)? {
  classInstance(value) as? NSManagedObject ?? value as? any KeyValueCoding
}

extension NSDictionary: KeyValueCoding {}

extension Dictionary: KeyValueCoding {
  /// The value for a key; nil if the keys are of another type.
  public func value(forKey key: String) -> Any? {
    if let key = key as? Key { self[key] } else { nil }
  }
}

/// A dictionary of any type. `IN`, `CONTAINS` and `@count` treat it as the collection of its values.
private protocol ValuesByKey {
  var predicateValues: [PredicateValue] { get }
}

extension NSDictionary: ValuesByKey {
  fileprivate var predicateValues: [PredicateValue] { allValues.map { PredicateValue($0) } }
}

extension Dictionary: ValuesByKey {
  fileprivate var predicateValues: [PredicateValue] { values.map { PredicateValue($0) } }
}

extension PredicateValue {
  /// Whether reading from the value may give another result later: if the value or one of its elements has values for
  /// keys or is a date, whose `timeIntervalSinceNow` changes.
  var hasChangingParts: Bool {
    switch self {
    case .object(let object): keyValues(of: object) != nil
    case .collection(let elements, _): elements.contains(where: \.hasChangingParts)
    case .date: true
    default: false
    }
  }

  /// The elements of a collection, or the values of a dictionary; nil for anything else.
  var members: [PredicateValue]? {
    if case .object(let dictionary as any ValuesByKey) = self { dictionary.predicateValues } else { elements }
  }
}
