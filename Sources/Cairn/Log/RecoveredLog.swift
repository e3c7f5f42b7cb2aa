/// What recovery found in the log, for the writer.
package struct RecoveredLog: Sendable {
  /// Bytes behind the end of the log that are not zero.
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
  var moveLists = Log.MoveLists()
  /// Checkpoints that the manifest lists and that are unusable.
  var uselessCheckpoints: Set<UInt32> = []
  /// The segments that the manifest does not call sealed.
  var unsealed: Set<UInt32> = []
  /// Segments that the manifest lists and that are not part of the log: never used, or behind the end of the log.
  var dropped: Set<UInt32> = []
  var discarded: [Discarded] = []
  /// The last commit.
  var lastSequence: UInt64 = 0
  /// The highest sequence that any valid structure names, also behind the end of the log.
  var highestSequence: UInt64 = 0
  var watermark = Watermark.none

  /// The sequence that the first commit of the next epoch follows: behind a gap, so that a sequence lost in a torn tail
  /// is never used again.
  func baseOfNextEpoch(_ epoch: UInt32) -> UInt64 {
    epoch == 1 ? 0 : (highestSequence + 16_000_000) / 1_000_000_000 * 1_000_000_000 + 1_000_000_000
  }
}
