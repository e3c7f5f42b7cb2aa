public import Foundation

extension NSSortDescriptor: Adopting {
  /// Sorts by the values at the end of a key path, which may lead to related objects, as in `department.name`; without
  /// a key, by the objects themselves.
  ///
  /// In ascending order, null comes first. Strings are ordered by their scalars, and values of different kinds by kind.
  public convenience init(key: String?, ascending: Bool) {
    self.init(key: key, ascending: ascending, selector: nil)
  }

  /// Sorts by key with one of Apple's comparison methods: `compare:`, `caseInsensitiveCompare:`, `localizedCompare:`,
  /// `localizedCaseInsensitiveCompare:` or `localizedStandardCompare:`. Without a selector, it is `compare:`.
  ///
  /// Traps for any other selector.
  public convenience init(key: String?, ascending: Bool, selector: Selector?) {
    let name = selector?.description ?? SortComparison.plain.rawValue
    guard let comparison = SortComparison(rawValue: name) else { fatalError("\(name) cannot be sorted by") }
    self.init(adopting: Self.checked(KeySortDescriptor(key: key, ascending: ascending, order: .named(comparison))))
  }

  /// Sorts by key with a block, which gets `NSNull` for null.
  public convenience init(key: String?, ascending: Bool, comparator: @escaping Comparator) {
    self.init(adopting: Self.checked(KeySortDescriptor(key: key, ascending: ascending, order: .block(comparator))))
  }

  /// The key by which the descriptor sorts; nil if it sorts by the objects themselves or by a Swift key path.
  public var key: String? { (self as? KeySortDescriptor)?.sortKey }

  /// The comparison method; nil if the descriptor has a block or a Swift key path.
  public var selector: Selector? {
    guard case .named(let comparison)? = (self as? KeySortDescriptor)?.order else { return nil }
    return Selector(comparison.rawValue)
  }

  private static func checked(_ made: KeySortDescriptor) -> Self {
    guard let made = made as? Self else { fatalError("a sort descriptor by key is no \(Self.self)") }
    return made
  }
}
