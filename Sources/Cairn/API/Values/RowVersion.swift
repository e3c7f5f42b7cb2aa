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
