import Synchronization

/// A named set of rows, each identified by its key.
///
///     let planets = try store.keyspace("planets")
///     try planets.put("the red one", at: "Mars")
///     let mars = try planets.get("Mars", as: String.self)
///     for row in try planets.rows("a"..<"m") { print(row.key) }
///     try store.write { batch in try planets.delete("Mars", in: &batch) }
///
/// Obtained from ``Store/keyspace(_:order:)``. Keeps the store from closing itself; once the store is closed, reads
/// continue and writes throw `closed`. May be used from any thread, like the store.
public struct Keyspace: Sendable, Hashable {
  /// Whether the rows can be walked in the order of their keys.
  public enum Order: Sendable, Hashable {
    /// Ranges and prefixes can be read; takes 24 more bytes of memory a row.
    case ordered
    /// Rows are found one by one, or all of them are read in no particular order.
    case unordered
  }

  @usableFromInline package let store: Store
  let index: KeyspaceIndex
  /// Number of the open store; no other store has had it.
  let owner: UInt64

  init(store: Store, index: KeyspaceIndex) {
    self.store = store
    self.index = index
    owner = store.index.number
  }

  /// The name, unique in the store.
  public var name: String { index.name }
  /// The number by which the log identifies it; never used for another keyspace. 0 in a store opened for reading, as
  /// long as no commit that the store has seen defines the keyspace.
  public var id: KeyspaceID { (defined ?? self).index.id }
  /// The order it was created with.
  public var order: Order { index.isOrdered ? .ordered : .unordered }

  /// How many versions of each row are retained, as last set by ``setRetention(_:durability:)``.
  public var retention: Retention { .last(Int((defined ?? self).index.oldVersions.load(ordering: .relaxed)) + 1) }

  /// The keyspace that a commit has defined since somebody asked for it in a store opened for reading; nil if there is
  /// none, and for a keyspace that was defined then.
  var defined: Keyspace? { index.definition.load().map { Keyspace(store: store, index: $0) } }

  /// Whether no row has been put into it yet, so that no snapshot that was taken before has any.
  package var isBlank: Bool {
    guard index.locator.index.isBlank else { return false }
    return index.id != 0 || defined?.isBlank ?? true
  }

  @inline(__always)
  func checkBelongs(to index: Index) throws(StoreError) {
    guard owner == index.number else {
      throw StoreError(.foreignKeyspace, "keyspace \(name) belongs to another store")
    }
    try index.checkProcess()
  }

  /// The same keyspace of the same open store.
  public static func == (left: Keyspace, right: Keyspace) -> Bool {
    (left.defined ?? left).index === (right.defined ?? right).index
  }

  /// Hashes the name, which stays the same when a keyspace becomes defined.
  public func hash(into hasher: inout Hasher) { hasher.combine(name) }
}

extension Keyspace {
  /// Drops the keyspace with all its rows, in one step however many there are. Existing snapshots still see it; for all
  /// other readers its rows are gone, and writing to it throws `keyspaceDropped`. The name can be used again at once.
  ///
  /// - Returns: the sequence of the commit.
  /// - Throws: `keyspaceDropped`; the errors of ``Store/write(durability:_:)-(_,(Batch)->Void)``.
  @discardableResult
  public func drop(durability: Durability = .durable) throws(StoreError) -> CommitSequence {
    try store.drop(self, durability)
  }

  /// Sets how many versions of each row the keyspace retains, by a commit of its own; without a commit if that is the
  /// present number.
  ///
  /// A version expires with the write that makes it one too many, unless a snapshot sees it. If fewer versions are
  /// retained than before, those that are too many expire at once; if more, rows gain versions with later writes. Each
  /// older version that is retained takes its record in the log and 64 bytes of memory, and each write to a row walks
  /// the row's versions, at 10 to 200 ns each. A deleted row keeps its place in the index as long as older versions of
  /// it are retained.
  ///
  /// Takes as long as a commit; if fewer versions are retained than before, also 0.2 to 0.8 µs for each that expires,
  /// during which other commits wait. After this call, versions of the library that do not support retention cannot read
  /// the store.
  ///
  /// - Parameters:
  ///   - retention: 1 to ``Retention/maximumCount`` versions.
  ///   - durability: how durable the commit is when the call returns.
  /// - Returns: the sequence of the commit.
  /// - Throws: `invalidArgument` for another number; `keyspaceDropped`; the errors of
  ///   ``Store/write(durability:_:)-(_,(Batch)->Void)``.
  @discardableResult
  public func setRetention(
    _ retention: Retention, durability: Durability = .durable
  ) throws(StoreError) -> CommitSequence {
    try store.setRetention(retention, of: self, durability)
  }
}
