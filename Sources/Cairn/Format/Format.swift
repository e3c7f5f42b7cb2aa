/// Sizes and names that FORMAT.md defines.
package enum Format {
  package static let majorVersion: UInt16 = 1
  package static let minorVersion: UInt16 = 0
  /// The feature bit of keyspaces that retain older versions.
  package static let retention: UInt64 = 1 << 1
  /// The feature bit of stores that have been taken back to an earlier commit.
  package static let timelines: UInt64 = 1 << 2
  /// The feature bit of stores whose manifest says which deletions the log may lack.
  package static let changeReaders: UInt64 = 1 << 3
  package static let knownFeatures: UInt64 = retention | timelines | changeReaders
  /// The compatible feature bit of a directory with a backup.
  package static let backup: UInt64 = 1 << 0
  package static let knownCompatibleFeatures: UInt64 = backup
  package static let unit = 8
  package static let maximumKeyLength = 65_536
  package static let maximumValueLength = 1 << 30
  package static let maximumFrameLength = 1 << 32
  /// The highest segment, keyspace or checkpoint id, and the highest epoch.
  package static let maximumID: UInt32 = 1 << 31
  /// The highest base sequence: low enough to leave sequences for a store's life.
  package static let maximumBaseSequence = CommitSequence(1 << 62)
  /// The highest sequence.
  package static let maximumSequence = CommitSequence(1 << 63)
  package static let maximumGeneration: UInt64 = 1 << 63

  /// The number of a segment or a checkpoint in its file's name.
  package static func fileNumber(_ id: some DistinctNumber) -> String {
    let digits = String(id.rawValue)
    return String(repeating: "0", count: max(0, 10 - digits.count)) + digits
  }

  @inline(__always)
  package static func padded(_ length: Int) -> Int { (length &+ 7) & ~7 }
}
