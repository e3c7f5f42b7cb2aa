/// Which segments a compaction takes.
public enum CompactionExtent: Sendable, Hashable {
  /// The segments with something to gain.
  case worthwhile
  /// All segments; afterwards rows that are near each other in key order are near each other on disk.
  case everything
}

/// What a compaction has done.
public struct CompactionReport: Sendable, Hashable, CustomStringConvertible {
  /// Segments that were compacted and removed.
  public internal(set) var segments = 0
  /// Bytes of the log before the compaction.
  public internal(set) var bytesBefore = 0
  /// Bytes of the log after the compaction, including those that were written by others meanwhile.
  public internal(set) var bytesAfter = 0
  /// Bytes that were written to new segments.
  public internal(set) var copiedBytes = 0
  /// Bytes by which the new segments are shorter than the removed ones.
  public internal(set) var gainedBytes = 0
  /// Bytes of the log that only snapshots need, and that can be freed when those snapshots have ended.
  public internal(set) var pinnedBytes = 0
  /// Bytes of tombstones that have to stay, because they still delete an older record.
  public internal(set) var tombstoneBytes = 0
  /// Places of damage. The damaged segments have been left as they are; their intact rows can be read.
  public internal(set) var damaged: [Place] = []

  /// The report in words.
  public var description: String {
    var text =
      segments == 0
      ? "nothing to compact: no segment has enough dead bytes"
      : "\(segments) segments compacted, the log had \(bytesBefore) bytes and now has \(bytesAfter)"
    if pinnedBytes > 0 { text += "; \(pinnedBytes) bytes are kept only for snapshots" }
    for place in damaged { text += "; segment \(place.segment) is damaged and was not compacted" }
    return text
  }
}

/// How far a compaction has come.
public struct CompactionProgress: Sendable, Hashable {
  /// Bytes read and copied of the current segments.
  public internal(set) var bytes = 0
  /// Bytes to read and to copy of the current segments, as far as is known.
  public internal(set) var totalBytes = 0
  /// Segments compacted before the current ones.
  public internal(set) var segments = 0
}
