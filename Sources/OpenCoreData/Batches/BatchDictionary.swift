import Foundation

/// The dictionary that the handler of a batch insertion fills in. It keeps values as they are given: Foundation's own
/// dictionary would make an object of each value.
final class BatchDictionary: NSMutableDictionary {
  private(set) var values: [String: Any] = [:]

  override var count: Int { values.count }

  override func object(forKey aKey: Any) -> Any? { (aKey as? String).flatMap { values[$0] } }

  override func keyEnumerator() -> NSEnumerator { NSArray(array: Array(values.keys)).objectEnumerator() }

  override func setObject(_ anObject: Any, forKey aKey: AnyHashable) {
    values[aKey.base as? String ?? "\(aKey.base)"] = anObject
  }

  override func removeObject(forKey aKey: Any) {
    if let key = aKey as? String { values[key] = nil }
  }

  override func removeAllObjects() { values.removeAll(keepingCapacity: true) }
}
