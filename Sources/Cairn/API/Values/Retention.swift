/// How many versions of each row a keyspace retains.
public struct Retention: Sendable, Hashable {
  /// Number of versions, including the newest: 1 for ``newest``.
  public let count: Int

  /// The most versions of a row that can be retained.
  public static let maximumCount = 65_536

  /// Keeps only the newest version; overwritten and deleted versions remain only for snapshots that need them.
  public static let newest = Retention(count: 1)

  /// Keeps this many versions of each row, including the newest; a deletion is a version.
  public static func last(_ count: Int) -> Retention { Retention(count: count) }
}
