import Synchronization

/// Bytes and syncs of the log, which any thread may read.
final class LogCounts: Sendable {
  /// Bytes of commits' frames since the store was opened.
  let appendedBytes = Atomic<Int>(0)
  /// Bytes of segments that compaction has written since the store was opened.
  let compactedBytes = Atomic<Int>(0)
  /// Bytes of segments that have been compacted and may still be being read.
  let retiredBytes = Atomic<Int>(0)
  /// Bytes of the checkpoints that the manifest lists.
  let checkpointBytes = Atomic<Int>(0)
  /// Syncs of segments since the store was opened.
  let syncs = Atomic<Int>(0)

  /// Bytes that have been added to the log since the store was opened.
  var writtenBytes: Int { appendedBytes.load(ordering: .relaxed) + compactedBytes.load(ordering: .relaxed) }
}
