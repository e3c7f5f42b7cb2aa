import Foundation

/// The dictionary that the handler of a batch insertion fills in. It keeps values as they are given: Foundation's own
/// dictionary would make an object of each value.
final class BatchDictionary: NSMutableDictionary {
  var content = BatchContent()

  override var count: Int { content.setPlaces.count }

  override func object(forKey aKey: Any) -> Any? { (aKey as? String).flatMap { content[$0] } }

  override func keyEnumerator() -> NSEnumerator {
    NSArray(array: content.setPlaces.map { content.keys[$0] }).objectEnumerator()
  }

  override func setObject(_ anObject: Any, forKey aKey: AnyHashable) {
    let key = ManagedValue.same(aKey.base, String.self) ?? aKey.base as? String ?? "\(aKey.base)"
    content.set(anObject, key)
  }

  override func removeObject(forKey aKey: Any) {
    if let key = aKey as? String { content.remove(key) }
  }

  override func removeAllObjects() { content.removeAll() }
}

/// The keys and values of a dictionary that is filled in again and again.
///
/// A handler sets the same keys for each object, mostly in the same order. So keys keep their places when they are
/// removed, and the key after the one that was set last is looked at first.
struct BatchContent {
  /// All keys that were ever set.
  private(set) var keys: [String] = []
  /// The last values of the keys.
  private var values: [Any] = []
  /// The rounds in which the values were set: they count if it is the present one.
  private var rounds: [Int] = []
  private var round = 1
  private var places: [String: Int] = [:]
  private var next = 0

  /// The places of the keys that are set.
  var setPlaces: [Int] { keys.indices.filter(isSet) }

  func isSet(_ place: Int) -> Bool { rounds[place] == round }

  subscript(key: String) -> Any? { place(of: key).flatMap { isSet($0) ? values[$0] : nil } }

  mutating func set(_ value: Any, _ key: String) {
    if let place = place(of: key) {
      values[place] = value
      rounds[place] = round
      next = place + 1
    } else {
      places[key] = keys.count
      keys.append(key)
      values.append(value)
      rounds.append(round)
      next = keys.count
    }
  }

  mutating func remove(_ key: String) {
    if let place = place(of: key) { rounds[place] = 0 }
  }

  /// Calls `body` with the keys that are set, their places and values, and removes them.
  mutating func takeAll(_ body: (_ place: Int, _ key: String, _ value: Any) throws -> Void) rethrows {
    for place in values.indices where isSet(place) { try body(place, keys[place], values[place]) }
    removeAll()
  }

  mutating func removeAll() { (round, next) = (round + 1, 0) }

  private func place(of key: String) -> Int? { next < keys.count && keys[next] == key ? next : places[key] }
}
