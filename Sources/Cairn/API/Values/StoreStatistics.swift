/// Figures about a store at one time. Taking them delays neither readers nor writers; while writers are active the
/// figures may be of slightly different moments.
public struct StoreStatistics: Sendable, Hashable {
  /// Number of segments in the log.
  public var segments = 0
  /// Keyspaces that have been written to.
  public var keyspaces = 0
  /// Rows in all keyspaces.
  public var rows = 0
  /// Bytes of the log, including headers but not space reserved for later writes.
  public var logBytes = 0
  /// Bytes of the newest records of existing rows, and of older records that their keyspaces retain.
  public var liveBytes = 0
  /// Bytes of older records that a snapshot needs, and of the tombstones that have deleted their rows since.
  public var pinnedBytes = 0
  /// Bytes of the log that are neither live nor pinned.
  public var deadBytes: Int { logBytes - liveBytes - pinnedBytes }
  /// Bytes of tombstones among the dead bytes.
  public var tombstoneBytes = 0
  /// The readers of changes for whom the log keeps deletions.
  public var changeReaders: [ChangeReader] = []
  /// Bytes of segments that have been compacted and are no longer part of the log, but are still being read.
  public var retiredBytes = 0
  /// Segments in which compaction has found damage; they are left as they are.
  public var damagedSegments = 0
  /// Bytes that commits have added to the log since the store was opened.
  public var appendedBytes = 0
  /// Bytes that compaction has added to the log since the store was opened.
  public var compactedBytes = 0
  /// Bytes of the checkpoints on disk, which are not part of the log.
  public var checkpointBytes = 0
  /// Bytes of disk space held back so that deletions and compaction find space when the disk is full; not part of the
  /// log.
  public var reservedBytes = 0
  /// Bytes of memory that the index takes.
  public var indexBytes = 0
  /// Older versions in memory, at 64 bytes each: those that keyspaces retain, and those that only snapshots need.
  public var olderVersions = 0
  /// Number of snapshots held.
  public var snapshots = 0
  /// Bytes of the values put since the store was opened, before compression.
  public var rawValueBytes = 0
  /// Bytes of the same values as they are stored.
  public var storedValueBytes = 0
  /// Stored bytes divided by given bytes of the values put since the store was opened; 1 if nothing was put.
  public var compressionRatio: Double { rawValueBytes == 0 ? 1 : Double(storedValueBytes) / Double(rawValueBytes) }
  /// Number of dictionaries that values of the present keyspaces may be compressed with.
  public var dictionaries = 0
  /// Bytes of these dictionaries, which are also in memory.
  public var dictionaryBytes = 0
  /// Commits since the store was opened.
  public var commits = 0
  /// Syncs of segments since the store was opened.
  public var syncs = 0
  /// Commits for each sync of a segment since the store was opened; 0 if nothing was synced.
  public var commitsPerSync: Double { syncs == 0 ? 0 : Double(commits) / Double(syncs) }
  /// The newest commit.
  public var lastSequence: CommitSequence = 0
  /// The newest commit known to be durable.
  public var durableSequence: CommitSequence = 0
}
