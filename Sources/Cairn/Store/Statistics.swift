/// Figures about a store at one time. Taking them holds up neither readers nor writers; with writers at work the
/// figures may be of slightly different moments.
public struct StoreStatistics: Sendable, Hashable {
  /// Segments that hold commits.
  public var segments = 0
  /// Keyspaces that have been written to.
  public var keyspaces = 0
  /// Rows in all keyspaces.
  public var rows = 0
  /// Bytes of the log, headers included; what is reserved for writes to come is not.
  public var logBytes = 0
  /// Bytes of the newest records of the rows there are, and of older ones that their keyspaces retain.
  public var liveBytes = 0
  /// Bytes of older records that a snapshot needs, and of what deleted them since.
  public var pinnedBytes = 0
  /// Everything else in the log.
  public var deadBytes: Int { logBytes - liveBytes - pinnedBytes }
  /// Of these the bytes of tombstones.
  public var tombstoneBytes = 0
  /// Bytes of segments that have been compacted and are no part of the log, but are being read still.
  public var retiredBytes = 0
  /// Segments in which compaction has found damage; they stay as they are.
  public var damagedSegments = 0
  /// Bytes that commits have added to the log since the store was opened.
  public var appendedBytes = 0
  /// Bytes that compaction has added to the log since.
  public var compactedBytes = 0
  /// Bytes of the checkpoints on disk, which are no part of the log.
  public var checkpointBytes = 0
  /// Bytes of disk held for the day when it is full, so that deletions and compaction find space then; no part of the
  /// log.
  public var reservedBytes = 0
  /// Bytes of memory the index takes.
  public var indexBytes = 0
  /// Older versions that a snapshot may need or a keyspace retains, at 64 bytes of memory each.
  public var retainedVersions = 0
  /// Snapshots held.
  public var snapshots = 0
  /// Bytes of the values put since the store was opened, as they were given.
  public var rawValueBytes = 0
  /// The same as they are stored.
  public var storedValueBytes = 0
  /// Stored over given bytes of the values put since the store was opened; 1 where nothing was put.
  public var compressionRatio: Double { rawValueBytes == 0 ? 1 : Double(storedValueBytes) / Double(rawValueBytes) }
  /// Dictionaries that values of the keyspaces there are may be compressed with.
  public var dictionaries = 0
  /// Bytes of those, which are also in memory.
  public var dictionaryBytes = 0
  /// Commits since the store was opened.
  public var commits = 0
  /// Syncs of segments since the store was opened.
  public var syncs = 0
  /// The newest commit.
  public var lastSequence: UInt64 = 0
  /// The newest commit known to be durable.
  public var durableSequence: UInt64 = 0
}

/// Figures about one segment.
package struct SegmentStatistics: Sendable, Hashable {
  package var id: UInt32
  /// Header and frames.
  package var end: Int
  /// Of the newest records of the rows there are, and of older ones that are retained.
  package var liveBytes: Int
  package var pinnedBytes: Int
  package var tombstoneBytes: Int
  /// What is needed of it that is none of these, if compaction wrote it.
  package var overhead: Int
}
