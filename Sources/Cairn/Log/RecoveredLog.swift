/// What recovery found in the log, as the writer needs it.
package struct RecoveredLog: Sendable {
  /// Bytes behind the end of the log that are not zero.
  struct Discarded: Sendable {
    let place: Place
    let length: Int
    let mapping: any Mapping
  }

  /// The segments that hold rows, in order, each ending where its valid frames end.
  var segments: [Segment] = []
  /// Of those the last that holds commits as they were made.
  var last: Segment?
  /// Files of segments, checkpoints and lists of moves that the manifest says nothing of.
  var unlisted: [String] = []
  var moveLists = Log.MoveLists()
  /// Checkpoints that were listed and of no use.
  var uselessCheckpoints: Set<UInt32> = []
  /// Those the manifest doesn't call sealed.
  var unsealed: Set<UInt32> = []
  /// Listed by the manifest and of no use any more: never used, or behind the end of the log.
  var dropped: Set<UInt32> = []
  var discarded: [Discarded] = []
  /// The last commit.
  var lastSequence: UInt64 = 0
  /// The highest number that any valid structure speaks of, also behind the end of the log.
  var highestSequence: UInt64 = 0
  var watermark = Watermark.none

  /// Behind a gap, so that a sequence lost in a torn tail is never used again.
  func baseOfNextEpoch(_ epoch: UInt32) -> UInt64 {
    epoch == 1 ? 0 : (highestSequence + 16_000_000) / 1_000_000_000 * 1_000_000_000 + 1_000_000_000
  }
}
