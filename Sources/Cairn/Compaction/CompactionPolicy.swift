/// Decides which segments to compact, and when, from figures alone.
///
/// After Rosenblum and Ousterhout, "The design and implementation of a log-structured file system", 1992: first the
/// segments that free the most for what has to be copied, and of equal ones the older first, since rows that have lived
/// long tend to live on. Rows that were copied together stay together, apart from new rows.
struct CompactionPolicy {
  /// A segment that may be compacted.
  struct Candidate {
    var segment: Segment
    var bytes: Int
    /// Bytes that would have to be copied.
    var needed: Int
    /// Bytes of tombstones that would not have to be copied.
    var tombstones: Int
    /// Commits since the segment was written.
    var age: UInt64

    var gain: Int { max(0, bytes - SegmentHeader.size - FrameHeader.size - needed - needed >> 12) }

    fileprivate var benefit: Double {
      let used = min(1, Double(needed) / Double(max(1, bytes)))
      return (1 - used) * Double(age + 1) / (1 + used)
    }
  }

  var segmentSize: Int
  /// Size of the largest new segment that there is space for, in bytes.
  var largestOutput = Int.max

  /// A smaller gain is not worth a new segment.
  private var leastGain: Int { min(segmentSize / 64, 4096) }

  /// Smaller segments are joined when there are several of them.
  private var smallSize: Int { segmentSize / 4 }
  private static let smallCount = 4

  /// Whether the log is longer than it should be for the bytes of it that are needed. `tombstones` are bytes of those
  /// that nothing keeps.
  func isDue(_ usage: LogUsage, tombstones: Int, _ candidates: [Candidate]) -> Bool {
    isTooLong(usage)
      || tombstones > max(usage.bytes / 100, segmentSize / 4)
      || candidates.count { $0.bytes < smallSize } >= Self.smallCount
  }

  func isTooLong(_ usage: LogUsage) -> Bool { usage.excess > usage.needed / 4 + segmentSize }

  /// Whether the log is too long, and `tombstones` that something keeps are a good part of the excess. The excess
  /// consists of dead records, tombstones that segments keep, and tombstones that a checkpoint keeps: the largest of
  /// the three is more than a third, and is dealt with.
  func isTooLong(_ usage: LogUsage, becauseOf tombstones: Int) -> Bool {
    isTooLong(usage) && tombstones > usage.excess / 3
  }

  /// Whether there is only time for copying, not for compressing again.
  func isUrgent(_ usage: LogUsage) -> Bool { usage.excess > usage.needed / 4 + 2 * segmentSize }

  /// How many bytes may be written before writers have to wait, so that the log stays within its bound even if it grows
  /// faster than it is compacted.
  func slack(_ usage: LogUsage) -> Int { usage.needed * 3 / 10 + 5 * segmentSize / 2 - usage.excess }

  /// The segments to compact together into one of at most full size; empty if there is nothing to gain.
  ///
  /// - Parameter thoroughly: whether a small gain is enough, as for a compaction on request: above all that of
  ///   tombstones, of which no more than a hundredth of the log is to remain.
  func choose(_ candidates: [Candidate], thoroughly: Bool = false) -> [Candidate] {
    let small = candidates.filter { $0.bytes < smallSize }
    let worthwhile = candidates.filter { isWorthwhile($0, thoroughly) }
    let isWorthJoining = small.count >= (thoroughly ? 2 : Self.smallCount) || !worthwhile.isEmpty
    let ranked = worthwhile.sorted { $0.benefit > $1.benefit } + (isWorthJoining ? small : [])
    let chosen = fill(ranked)
    // If there is no space for two small segments together, one of them alone would be written again and again.
    return chosen.count > 1 || chosen.contains { $0.gain >= leastGain || isWorthwhile($0, thoroughly) } ? chosen : []
  }

  private func isWorthwhile(_ candidate: Candidate, _ thoroughly: Bool) -> Bool {
    candidate.gain >= leastGain && candidate.gain > candidate.bytes / (thoroughly ? 50 : 10)
      || thoroughly && hasManyTombstones(candidate)
  }

  private func hasManyTombstones(_ candidate: Candidate) -> Bool { candidate.tombstones > candidate.bytes / 200 }

  /// Whether a segment that was written a moment ago is worth compacting again on request. Not for every gain: while
  /// other threads change its rows, that could go on for ever.
  func isWorthRepeating(_ candidate: Candidate) -> Bool {
    candidate.bytes < smallSize || hasManyTombstones(candidate)
  }

  /// As many candidates as fit into one segment, in their order.
  func fill(_ ranked: [Candidate]) -> [Candidate] {
    var chosen: [Candidate] = []
    var needed = 0
    for candidate in ranked where !chosen.contains(where: { $0.segment === candidate.segment }) {
      // A segment that needs more than one segment's size is compacted by itself.
      let limit = chosen.isEmpty ? largestOutput : min(segmentSize * 15 / 16, largestOutput)
      guard needed + candidate.needed <= limit else { continue }
      chosen.append(candidate)
      needed += candidate.needed
      if needed >= segmentSize * 7 / 8 || chosen.count == 64 { break }
    }
    return chosen
  }
}
