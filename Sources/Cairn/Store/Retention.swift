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

/// One version of a row, copied out of the store.
public struct RowVersion: Sendable, Hashable {
  /// The value as it was put; nil if the row was deleted.
  public let value: [UInt8]?
  /// How often the row had been saved since it was inserted. A deletion has the version of the deleted row.
  public let version: UInt64
  /// The sequence of the commit that wrote it.
  public let sequence: CommitSequence

  package init(value: [UInt8]?, version: UInt64, sequence: CommitSequence) {
    self.value = value
    self.version = version
    self.sequence = sequence
  }

  /// Whether the row was deleted.
  public var isDeletion: Bool { value == nil }
}

extension RecordView {
  func rowVersion(_ dictionaries: DictionaryTable) throws(StoreError) -> RowVersion {
    RowVersion(
      value: header.isTombstone ? nil : try copiedValue(dictionaries), version: header.version,
      sequence: header.sequence)
  }
}
