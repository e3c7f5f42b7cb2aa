import Foundation

/// A sort descriptor that sorts by a Swift key path, and by the key that the path stands for, if it stands for one.
final class KeyPathSortDescriptor: NSSortDescriptor {
  private let make: (_ ascending: Bool) -> KeyPathSortDescriptor
  private let findKey: () -> String?
  private let found = Locked<KeySortDescriptor?>(nil)

  init<Root, Value>(_ keyPath: KeyPath<Root, Value>, ascending: Bool) {
    make = { KeyPathSortDescriptor(keyPath, ascending: $0) }
    findKey = { KeyPathReading.key(of: keyPath) }
    super.init(keyPath: keyPath, ascending: ascending) { left, right in
      SortComparison.plain.order(PredicateValue(left), PredicateValue(right))
    }
  }

  /// The descriptor with the key that the path stands for; nil if there is none, or if no model in use has its class.
  fileprivate func withKey() -> KeySortDescriptor? {
    if let found = found.withLock({ $0 }) { return found }
    let made = findKey().map { KeySortDescriptor(key: $0, ascending: ascending, order: .named(.plain)) }
    found.withLock { $0 = made }
    return made
  }

  override var reversedSortDescriptor: Any { make(!ascending) }

  override func copy(with zone: NSZone? = nil) -> Any { self }

  override func isEqual(_ object: Any?) -> Bool {
    guard let other = object as? NSSortDescriptor else { return false }
    if let keyed, let otherKeyed = other.keyed { return keyed.isEqual(otherKeyed) }
    guard let other = other as? KeyPathSortDescriptor else { return false }
    return self === other || (keyPath == other.keyPath && ascending == other.ascending)
  }

  override var hash: Int { ascending ? 1 : 0 }

  override var description: String { keyed?.description ?? "(\(keyPath), \(ascending ? "ascending" : "descending"))" }
}

extension NSSortDescriptor {
  /// The descriptor as one that sorts by a key; nil if it sorts by a Swift key path that stands for no key.
  var keyed: KeySortDescriptor? { self as? KeySortDescriptor ?? (self as? KeyPathSortDescriptor)?.withKey() }
}
