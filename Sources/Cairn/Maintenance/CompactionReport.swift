/// How much compaction is to take up.
public enum CompactionExtent: Sendable, Hashable {
  /// Segments with something to gain.
  case worthwhile
  /// All of them: rows that are near each other in order are near on disk then.
  case everything
}

/// What a compaction has done.
public struct CompactionReport: Sendable, Hashable, CustomStringConvertible {
  /// Segments that were compacted and are gone.
  public internal(set) var segments = 0
  /// Bytes of the log before.
  public internal(set) var bytesBefore = 0
  /// Bytes of the log afterwards; what others have written meanwhile is among them.
  public internal(set) var bytesAfter = 0
  /// Bytes that were written to new segments.
  public internal(set) var copiedBytes = 0
  /// Bytes by which the new segments are shorter than those that are gone.
  public internal(set) var gainedBytes = 0
  /// Bytes of the log that only snapshots need, and that can be gained when those have ended.
  public internal(set) var pinnedBytes = 0
  /// Bytes of tombstones that have to stay, because there is still something older for them to delete.
  public internal(set) var tombstoneBytes = 0
  /// Where segments are damaged, which have been left as they are. Their rows can be read as far as they are sound.
  public internal(set) var damaged: [Place] = []

  /// In words.
  public var description: String {
    var text =
      segments == 0
      ? "nothing to compact: no segment holds enough that is not needed"
      : "\(segments) segments compacted, the log went from \(bytesBefore) to \(bytesAfter) bytes"
    if pinnedBytes > 0 { text += "; snapshots need \(pinnedBytes) bytes more" }
    for place in damaged { text += "; segment \(place.segment) is damaged and was left as it is" }
    return text
  }
}

/// How far a compaction has come.
public struct CompactionProgress: Sendable, Hashable {
  /// Bytes looked at and copied, of the segments at hand.
  public internal(set) var bytes = 0
  /// Bytes there are to look at and copy, of the segments at hand, as far as is known.
  public internal(set) var totalBytes = 0
  /// Segments that have been compacted before these.
  public internal(set) var segments = 0
}
