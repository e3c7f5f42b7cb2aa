public import Foundation

extension NSSortDescriptor: Adopting {
  /// Sorts by the values at the end of a key path, related ones too: `department.name`; without a key, by the objects themselves.
  ///
  /// Null comes before everything if ascending. Strings are ordered by their scalars, and values of different kinds by kind.
  public convenience init(key: String?, ascending: Bool) {
    self.init(key: key, ascending: ascending, selector: nil)
  }

  /// Sorts by key as a method of Apple's compares: `compare:`, `caseInsensitiveCompare:`, `localizedCompare:`,
  /// `localizedCaseInsensitiveCompare:` or `localizedStandardCompare:`; the first, if none is named.
  ///
  /// Traps for any other.
  public convenience init(key: String?, ascending: Bool, selector: Selector?) {
    let name = selector?.description ?? SortComparison.plain.rawValue
    guard let comparison = SortComparison(rawValue: name) else { preconditionFailure("\(name) cannot be sorted by") }
    self.init(adopting: Self.checked(KeySortDescriptor(key: key, ascending: ascending, order: .named(comparison))))
  }

  /// Sorts by key as a block compares; it is given `NSNull` for null.
  public convenience init(key: String?, ascending: Bool, comparator: @escaping Comparator) {
    self.init(adopting: Self.checked(KeySortDescriptor(key: key, ascending: ascending, order: .block(comparator))))
  }

  /// The key that is sorted by; nil for the objects themselves, and for descriptors by a Swift key path.
  public var key: String? { (self as? KeySortDescriptor)?.sortKey }

  /// The method that compares; nil if a block does.
  public var selector: Selector? {
    guard case .named(let comparison)? = (self as? KeySortDescriptor)?.order else { return nil }
    return Selector(comparison.rawValue)
  }

  private static func checked(_ made: KeySortDescriptor) -> Self {
    guard let made = made as? Self else { preconditionFailure("a sort descriptor by key is no \(Self.self)") }
    return made
  }
}
