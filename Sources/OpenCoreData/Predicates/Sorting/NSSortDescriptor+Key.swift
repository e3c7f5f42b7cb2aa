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

  /// The key by which the descriptor sorts; nil if it sorts by the objects themselves, or by a Swift key path that stands
  /// for no key.
  ///
  /// A Swift key path of managed objects stands for the property, or the properties of related objects, whose value it
  /// passes on. The key is found once a coordinator uses a model with an entity of the class; to find it, the accessors
  /// on the path are called for an object in no context.
  public var key: String? {
    self is KeySortDescriptor || self is KeyPathSortDescriptor ? keyed?.sortKey : KeyPathReading.key(ofErased: keyPath)
  }

  /// The comparison method; nil if the descriptor has a block, or a Swift key path that stands for no key.
  public var selector: Selector? {
    guard case .named(let comparison)? = keyed?.order else { return nil }
    return Selector(comparison.rawValue)
  }

  /// Sorts by the values that a Swift key path reads, in the order of ``init(key:ascending:)``: nil comes first if
  /// ascending. If the path stands for a ``key``, stores sort by it.
  public convenience init<Root: NSManagedObject, Value>(keyPath: KeyPath<Root, Value>, ascending: Bool) {
    self.init(adopting: Self.checked(KeyPathSortDescriptor(keyPath, ascending: ascending)))
  }

  /// Sorts by the values that a Swift key path reads; see ``init(keyPath:ascending:)``.
  public convenience init<Root: NSManagedObject, Value: Comparable>(
    keyPath: KeyPath<Root, Value>, ascending: Bool
  ) {
    self.init(adopting: Self.checked(KeyPathSortDescriptor(keyPath, ascending: ascending)))
  }

  /// Sorts by the values that a Swift key path reads; see ``init(keyPath:ascending:)``.
  public convenience init<Root, Value>(keyPath: KeyPath<Root, Value>, ascending: Bool) {
    self.init(adopting: Self.checked(KeyPathSortDescriptor(keyPath, ascending: ascending)))
  }

  private static func checked(_ made: NSSortDescriptor) -> Self {
    guard let made = made as? Self else { fatalError("a sort descriptor of this kind is no \(Self.self)") }
    return made
  }
}
