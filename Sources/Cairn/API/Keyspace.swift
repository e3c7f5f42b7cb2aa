import Synchronization

/// A named set of rows, each identified by its key.
///
/// Obtained from ``Store/keyspace(_:_:)``, and valid for that store as long as it is open.
public struct Keyspace: Sendable, Hashable {
  /// Whether the rows can be walked in the order of their keys.
  public enum Order: Sendable, Hashable {
    /// Ranges and prefixes can be read; takes 24 more bytes of memory a row.
    case ordered
    /// Rows are found one by one, or all of them are read in no particular order.
    case unordered
  }

  let index: KeyspaceIndex
  /// Number of the open store; no other store has had it.
  let owner: UInt64

  /// The name, unique in the store.
  public var name: String { index.name }
  /// The number by which the log identifies it; never used for another keyspace. 0 in a store opened for reading, as
  /// long as no commit that the store has seen defines the keyspace.
  public var id: KeyspaceID { (defined ?? self).index.id }
  /// The order it was created with.
  public var order: Order { index.isOrdered ? .ordered : .unordered }

  /// How many versions of each row are retained, as last set by ``Store/setRetention(_:of:_:)``.
  public var retention: Retention { .last(Int((defined ?? self).index.oldVersions.load(ordering: .relaxed)) + 1) }

  /// The keyspace that a commit has defined since somebody asked for it in a store opened for reading; nil if there is
  /// none, and for a keyspace that was defined then.
  var defined: Keyspace? { index.definition.load().map { Keyspace(index: $0, owner: owner) } }

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
