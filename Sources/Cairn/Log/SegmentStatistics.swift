/// Figures about one segment.
package struct SegmentStatistics: Sendable, Hashable {
  package var id: SegmentID
  /// Bytes of the header and all frames.
  package var end: Int
  /// Bytes of the newest records of existing rows, and of older records that are retained.
  package var liveBytes: Int
  package var pinnedBytes: Int
  package var tombstoneBytes: Int
  /// Other bytes of it that are needed, if compaction wrote it.
  package var overhead: Int
}
