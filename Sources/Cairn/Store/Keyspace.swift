import Synchronization

/// A named set of rows, each found by its reference.
///
/// Got from ``Store/keyspace(_:_:)``, and good for the store it came from as long as that is open.
public struct Keyspace: Sendable, Hashable {
  /// Whether the rows can be walked in the order of their references.
  public enum Order: Sendable, Hashable {
    /// Ranges and prefixes, at 24 bytes of memory a row more.
    case ordered
    /// Rows are found one by one, or all of them in no order.
    case unordered
  }

  let index: KeyspaceIndex
  /// Of the store: no other has had this number.
  let owner: UInt64

  /// The name, unique in the store.
  public var name: String { index.name }
  /// The number by which the log knows it; never used for another keyspace.
  public var id: UInt32 { index.id }
  /// As it was made.
  public var order: Order { index.isOrdered ? .ordered : .unordered }

  /// How many versions of each row are kept: what ``Store/setRetention(_:of:_:)`` has set last.
  public var retention: Retention { .last(Int(index.oldVersions.load(ordering: .relaxed)) + 1) }

  @inline(__always)
  func checkBelongs(to index: Index) throws(StoreError) {
    guard owner == index.number else {
      throw StoreError(.keyspaceMismatch, "keyspace \(name) belongs to another store")
    }
    try index.checkProcess()
  }

  /// The same keyspace of the same open store.
  public static func == (left: Keyspace, right: Keyspace) -> Bool { left.index === right.index }

  /// By identity.
  public func hash(into hasher: inout Hasher) { hasher.combine(ObjectIdentifier(index)) }
}
