public import Cairn

/// An index of values by a key that follows from them. Declared once and given to a ``TypedKeyspace``, which keeps the
/// entries of the index in the same batch as the values.
///
///     let byFolder = ValueIndex<Note>("by folder") { Key($0.folder, $0.modified) }
///     let bySlug = ValueIndex<Note>("by slug", isUnique: true) { $0.slug }
///     let byDeadline = ValueIndex<Note>("by deadline") { $0.deadline }    // a Date?
public struct ValueIndex<Value: Sendable>: Sendable {
  /// The name, unique among the indexes of a keyspace.
  public let name: String
  /// Raise it when the closure gives other keys than before: the index is then built again.
  public let version: Int
  /// Whether two values must not have the same key.
  public let isUnique: Bool
  let keys: @Sendable (Value) -> [Key]

  /// An index with at most one key for each value.
  ///
  /// - Parameters:
  ///   - name: unique among the indexes of a keyspace.
  ///   - version: another number than before if the closure gives other keys than before.
  ///   - isUnique: whether two values must not have the same key.
  ///   - key: the key of a value, a tuple for several columns; nil for a value that is not in the index. An array is
  ///     one key, a tuple; `keys:` gives each of its elements as a key.
  public init<IndexKey: KeyConvertible>(
    _ name: String, version: Int = 1, isUnique: Bool = false, key: @escaping @Sendable (Value) -> IndexKey?
  ) {
    self.init(name, version: version, isUnique: isUnique, keys: { value in key(value).map { [$0] } ?? [] })
  }

  /// An index with any number of keys for each value, such as the words of a text.
  ///
  /// - Parameters:
  ///   - name: unique among the indexes of a keyspace.
  ///   - version: another number than before if the closure gives other keys than before.
  ///   - isUnique: whether two values must not have the same key.
  ///   - keys: the keys of a value; repeated ones count once.
  public init(
    _ name: String, version: Int = 1, isUnique: Bool = false,
    keys: @escaping @Sendable (Value) -> [some KeyConvertible]
  ) {
    (self.name, self.version, self.isUnique) = (name, version, isUnique)
    self.keys = { value in Array(Set(keys(value).map(\.key))) }
  }
}

/// A value was not written because another one has its key in a unique index. Nothing was changed.
public struct UniquenessViolation: Error, Hashable, Sendable, CustomStringConvertible {
  /// The name of the index.
  public let index: String
  /// The key that both have.
  public let key: Key
  /// The key of the row that has it.
  public let holder: Key

  /// In words.
  public var description: String { "the row \(holder) already has the key \(key) in the index \(index)" }
}

/// Keys of an index from one bound to another: Swift's ranges of keys. Both bounds have the same number of columns as
/// each other; a tuple of fewer columns than the index has stands for all keys that begin with it.
public protocol IndexRange {
  /// The range of the entries of an index.
  var entries: KeyRange { get }
}

extension Range: IndexRange where Bound: KeyConvertible {
  /// From the lower bound up to the upper one, which is excluded.
  public var entries: KeyRange { .from(lowerBound.key.columns).before(upperBound.key.columns) }
}

extension ClosedRange: IndexRange where Bound: KeyConvertible {
  /// Both bounds and all between them.
  public var entries: KeyRange { .from(lowerBound.key.columns).throughAll(beginningWith: upperBound.key) }
}

extension PartialRangeFrom: IndexRange where Bound: KeyConvertible {
  /// The bound and all keys after it.
  public var entries: KeyRange { .from(lowerBound.key.columns) }
}

extension PartialRangeUpTo: IndexRange where Bound: KeyConvertible {
  /// All keys before the bound.
  public var entries: KeyRange { .before(upperBound.key.columns) }
}

extension PartialRangeThrough: IndexRange where Bound: KeyConvertible {
  /// The bound and all keys before it.
  public var entries: KeyRange { KeyRange.all.throughAll(beginningWith: upperBound.key) }
}

extension Key {
  /// The key as a tuple, whose elements are the columns of an index.
  var columns: Key {
    if case .tuple = self { self } else { .tuple([self]) }
  }
}

extension KeyRange {
  func contains(_ key: Key) -> Bool {
    let encoded = key.encoded
    return !encoded.lexicographicallyPrecedes(lower)
      && (upper.map { encoded.lexicographicallyPrecedes($0) } ?? true)
  }

  func throughAll(beginningWith key: Key) -> KeyRange {
    let prefix = KeyRange.prefix(key.columns)
    guard let end = prefix.upper else { return self }
    guard let upper, upper.lexicographicallyPrecedes(end) else { return KeyRange(lower: lower, upper: end) }
    return self
  }
}
