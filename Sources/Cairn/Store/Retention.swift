/// How many versions of each row a keyspace keeps.
public struct Retention: Sendable, Hashable {
  /// The newest included: 1 for ``newest``.
  public let count: Int

  /// The most versions of a row that can be kept.
  public static let maximumCount = 65_536

  /// What has been overwritten or deleted goes, but for snapshots.
  public static let newest = Retention(count: 1)

  /// The newest versions of each row, so many in all; a deletion is a version.
  public static func last(_ count: Int) -> Retention { Retention(count: count) }
}

/// One version of a row, copied out of the store.
public struct RowVersion: Sendable, Hashable {
  /// The value as it was put; nil if the row was deleted.
  public let value: [UInt8]?
  /// How often the row had been saved since it was inserted. That of a deletion is the deleted row's.
  public let version: UInt64
  /// The sequence of the commit that wrote it.
  public let revision: UInt64

  package init(value: [UInt8]?, version: UInt64, revision: UInt64) {
    self.value = value
    self.version = version
    self.revision = revision
  }

  /// Whether the row was deleted.
  public var isDeletion: Bool { value == nil }
}

extension RecordView {
  func rowVersion(_ dictionaries: DictionaryTable) throws(StoreError) -> RowVersion {
    RowVersion(
      value: header.isTombstone ? nil : try copiedValue(dictionaries), version: header.version,
      revision: header.revision)
  }
}
