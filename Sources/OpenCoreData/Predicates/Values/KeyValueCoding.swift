public import Foundation

/// What has values for keys: a dictionary, a managed object, a row.
///
/// Predicates, expressions and sort descriptors read everything through this one protocol, as Apple's do through key-value coding.
public protocol KeyValueCoding {
  /// The value for a key, nil if there is none.
  func value(forKey key: String) -> Any?
}

extension KeyValueCoding {
  /// The value at the end of a key path: keys with dots between them, and collection operators such as `@count` or `@sum.salary`.
  ///
  /// A key asked of a collection is asked of each element. Takes time in proportion to the elements that the path meets.
  public func value(forKeyPath keyPath: String) -> Any? {
    ValuePath(keyPath).value(in: .object(self)).anyValue
  }
}

extension NSDictionary: KeyValueCoding {}

extension Dictionary: KeyValueCoding {
  /// The value for a key; nil if the keys are of another type.
  public func value(forKey key: String) -> Any? {
    if let key = key as? Key { self[key] } else { nil }
  }
}
