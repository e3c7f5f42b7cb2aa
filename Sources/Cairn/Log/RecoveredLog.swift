/// What recovery found in the log, for the writer.
package struct RecoveredLog: Sendable {
  /// Bytes after the end of the log that are not zero.
  struct Discarded: Sendable {
    let place: Place
    let length: Int
    let mapping: any Mapping
  }

  /// The segments that hold rows, in order, each ending where its valid frames end.
  var segments: [Segment] = []
  /// The last of those that holds commits in the order they were made, that is, was not written by compaction.
  var last: Segment?
  /// Files of segments, checkpoints and move lists that the manifest does not list.
  var unlisted: [String] = []
  var moveLists = CurrentManifest.MoveLists()
  /// Checkpoints that the manifest lists and that are unusable.
  var uselessCheckpoints: Set<CheckpointID> = []
  /// The segments that the manifest does not call sealed.
  var unsealed: Set<SegmentID> = []
  /// Segments that the manifest lists and that are not part of the log: never used, or after the end of the log.
  var excluded: Set<SegmentID> = []
  var discarded: [Discarded] = []
  /// Whether commits after the last one are no longer part of the log.
  var isTakenBack = false
  /// The last commit.
  var lastSequence: CommitSequence = 0
  /// The highest sequence that any valid structure names, also after the end of the log.
  var highestSequence: CommitSequence = 0
  var watermark = Watermark.none

  /// The sequence that the first commit of the next epoch follows: after a gap, so that a sequence lost in a torn tail
  /// is never used again.
  func baseOfNextEpoch(_ epoch: UInt32) -> CommitSequence {
    guard epoch > 1 else { return 0 }
    let range: UInt64 = 1_000_000_000
    return CommitSequence((highestSequence.rawValue + 16_000_000) / range * range + range)
  }
}
