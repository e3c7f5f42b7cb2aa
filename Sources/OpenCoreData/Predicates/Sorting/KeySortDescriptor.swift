import Foundation

/// A sort descriptor that sorts by a key, as Foundation's own cannot.
final class KeySortDescriptor: NSSortDescriptor {
  /// How the values for the key are compared.
  enum Order {
    case named(SortComparison)
    case block(Comparator)
  }

  let sortKey: String?
  let order: Order
  private let path: ValuePath

  init(key: String?, ascending: Bool, order: Order) {
    sortKey = key
    self.order = order
    path = ValuePath(key ?? "")
    // Foundation needs a key path, but nothing reads it.
    super.init(keyPath: \String.count, ascending: ascending)
  }

  override func compare(_ left: Any, to right: Any) -> ComparisonResult {
    let left = order.key(for: path.value(of: left))
    let right = order.key(for: path.value(of: right))
    let result = order.order(left, right)
    return ascending ? result : result.reversed
  }

  override var comparator: Comparator {
    { [order] in order.order(order.key(for: PredicateValue($0)), order.key(for: PredicateValue($1))) }
  }

  override var reversedSortDescriptor: Any { KeySortDescriptor(key: sortKey, ascending: !ascending, order: order) }

  override func copy(with zone: NSZone? = nil) -> Any { self }

  override func isEqual(_ object: Any?) -> Bool {
    guard let other = (object as? NSSortDescriptor)?.keyed else { return false }
    return self === other || (sortKey == other.sortKey && ascending == other.ascending && order.isEqual(other.order))
  }

  // It must be that of an equal descriptor with a key path, whose key may not be known yet.
  override var hash: Int { ascending ? 1 : 0 }

  override var description: String {
    let how = if case .named(let comparison) = order { comparison.rawValue } else { "a block" }
    return "(\(sortKey ?? "SELF"), \(ascending ? "ascending" : "descending"), \(how))"
  }
}

extension KeySortDescriptor.Order {
  /// The value to compare instead of the given one.
  func key(for value: PredicateValue) -> PredicateValue {
    if case .named(let comparison) = self { comparison.key(for: value) } else { value }
  }

  func order(_ left: PredicateValue, _ right: PredicateValue) -> ComparisonResult {
    switch self {
    case .named(let comparison): comparison.order(left, right)
    case .block(let compare): compare(left.anyValue ?? NSNull(), right.anyValue ?? NSNull())
    }
  }

  /// Orders by blocks are never equal.
  fileprivate func isEqual(_ other: KeySortDescriptor.Order) -> Bool {
    if case (.named(let left), .named(let right)) = (self, other) { left == right } else { false }
  }
}
