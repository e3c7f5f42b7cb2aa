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
  /// The number by which the log identifies it; never used for another keyspace.
  public var id: KeyspaceID { index.id }
  /// The order it was created with.
  public var order: Order { index.isOrdered ? .ordered : .unordered }

  /// How many versions of each row are retained, as last set by ``Store/setRetention(_:of:_:)``.
  public var retention: Retention { .last(Int(index.oldVersions.load(ordering: .relaxed)) + 1) }

  @inline(__always)
  func checkBelongs(to index: Index) throws(StoreError) {
    guard owner == index.number else {
      throw StoreError(.foreignKeyspace, "keyspace \(name) belongs to another store")
    }
    try index.checkProcess()
  }

  /// The same keyspace of the same open store.
  public static func == (left: Keyspace, right: Keyspace) -> Bool { left.index === right.index }

  /// Hashes the identity of the keyspace.
  public func hash(into hasher: inout Hasher) { hasher.combine(ObjectIdentifier(index)) }
}
