/// One row, copied out of the store.
public struct Row: Sendable, Hashable {
  /// The key that identifies the row.
  public let key: Key
  /// The value as it was put.
  public let value: [UInt8]
  /// How often the row has been saved since it was inserted: 1, 2, 3 …
  public let version: UInt64
  /// The sequence of the commit that wrote it: what ``Expectation/sequence(_:)`` compares.
  public let sequence: CommitSequence

  package init(key: Key, value: [UInt8], version: UInt64, sequence: CommitSequence) {
    self.key = key
    self.value = value
    self.version = version
    self.sequence = sequence
  }
}

/// The version and sequence of a row.
public struct RowStamp: Sendable, Hashable {
  /// How often the row has been saved since it was inserted: 1, 2, 3 …
  public let version: UInt64
  /// The sequence of the commit that wrote it.
  public let sequence: CommitSequence

  package init(version: UInt64, sequence: CommitSequence) {
    self.version = version
    self.sequence = sequence
  }
}

extension Row {
  /// The value as a text; nil if the value is not UTF-8.
  public var text: String? { String(validating: value, as: UTF8.self) }
}
