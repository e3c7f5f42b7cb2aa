import Foundation

/// The dictionary that the handler of a batch insertion fills in. It keeps values as they are given: Foundation's own
/// dictionary would make an object of each value.
///
/// A handler sets the same keys for each object, mostly in the same order. So keys keep their places when they are
/// removed, and the key after the one that was set last is looked at first.
final class BatchDictionary: NSMutableDictionary {
  /// All keys that were ever set.
  private(set) var keys: [String] = []
  /// The values of the keys; nil for keys that are not set.
  private(set) var values: [Any?] = []
  private var places: [String: Int] = [:]
  private var next = 0

  override var count: Int { values.count { $0 != nil } }

  override func object(forKey aKey: Any) -> Any? { (aKey as? String).flatMap(place).flatMap { values[$0] } }

  override func keyEnumerator() -> NSEnumerator {
    NSArray(array: keys.indices.filter { values[$0] != nil }.map { keys[$0] }).objectEnumerator()
  }

  override func setObject(_ anObject: Any, forKey aKey: AnyHashable) {
    let key = ManagedValue.same(aKey.base, String.self) ?? aKey.base as? String ?? "\(aKey.base)"
    let place = place(of: key) ?? newPlace(of: key)
    values[place] = anObject
    next = place + 1
  }

  override func removeObject(forKey aKey: Any) {
    if let place = (aKey as? String).flatMap(place) { values[place] = nil }
  }

  override func removeAllObjects() {
    for place in values.indices { values[place] = nil }
    next = 0
  }

  private func place(of key: String) -> Int? { next < keys.count && keys[next] == key ? next : places[key] }

  private func newPlace(of key: String) -> Int {
    places[key] = keys.count
    keys.append(key)
    values.append(nil)
    return keys.count - 1
  }
}
