public import Foundation

/// What has values for keys: a dictionary, a managed object, a row.
///
/// Predicates, expressions and sort descriptors read everything through this one protocol, as Apple's do through key-value coding.
public protocol KeyValueCoding {
  /// The value for a key, nil if there is none.
  func value(forKey key: String) -> Any?

  /// The value for a key as predicates compare it: that of `value(forKey:)`, unless a type has a shorter way to it.
  func predicateValue(forKey key: String) -> PredicateValue
}

extension KeyValueCoding {
  /// The value of `value(forKey:)`.
  public func predicateValue(forKey key: String) -> PredicateValue { PredicateValue(value(forKey: key)) }

  /// The value at the end of a key path: keys with dots between them, and collection operators such as `@count` or `@sum.salary`.
  ///
  /// A key asked of a collection is asked of each element. Takes time in proportion to the elements that the path meets.
  public func value(forKeyPath keyPath: String) -> Any? {
    ValuePath(keyPath).value(of: self).anyValue
  }
}

/// What a value of any type has for keys; nil if it has none. Managed objects are told by their class: there are many of them, and the
/// search for a conformance takes longer than all else.
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

/// A dictionary of any type, of which `IN` and `@count` see the values.
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
  /// Whether what is read from the value may be something else later: it or an element of it has values for keys, or is
  /// a date, which the present moves away from.
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
