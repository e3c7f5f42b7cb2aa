/// Which segments to compact, and when: a decision from figures alone.
///
/// After Rosenblum and Ousterhout, "The design and implementation of a log-structured file system", 1992: the segments
/// first that free the most for what has to be copied, older ones before younger ones of the same kind, since what has
/// lived long goes on to live. What was copied together stays together, apart from what is new.
struct CompactionPolicy {
  /// A segment that may be compacted.
  struct Candidate {
    var segment: Segment
    var bytes: Int
    /// Bytes that would have to be copied.
    var needed: Int
    /// Bytes of tombstones that would not.
    var tombstones: Int
    /// Commits since it was written.
    var age: UInt64

    var gain: Int { max(0, bytes - SegmentHeader.size - FrameHeader.size - needed - needed >> 12) }

    fileprivate var benefit: Double {
      let used = min(1, Double(needed) / Double(max(1, bytes)))
      return (1 - used) * Double(age + 1) / (1 + used)
    }
  }

  let segmentSize: Int
  /// Bytes of a new segment that there is space for.
  var largestOutput = Int.max

  /// Less is not worth a new segment.
  private var leastGain: Int { min(segmentSize / 64, 4096) }

  /// Segments below this are put together when there are some of them.
  private var smallSize: Int { segmentSize / 4 }
  private static let smallCount = 4

  /// Whether the log is longer than it should be for what is needed of it. `tombstones` are those that may go.
  func isDue(logBytes: Int, needed: Int, tombstones: Int, _ candidates: [Candidate]) -> Bool {
    isTooLong(logBytes: logBytes, needed: needed)
      || tombstones > max(logBytes / 100, segmentSize / 4)
      || candidates.count { $0.bytes < smallSize } >= Self.smallCount
  }

  func isTooLong(logBytes: Int, needed: Int) -> Bool { logBytes - needed > needed / 4 + segmentSize }

  /// Whether `tombstones` that something keeps make a good part of that. Dead records, tombstones that segments keep and
  /// those that a checkpoint keeps: the largest of the three is more than a third, and its turn comes.
  func isTooLong(logBytes: Int, needed: Int, becauseOf tombstones: Int) -> Bool {
    isTooLong(logBytes: logBytes, needed: needed) && tombstones > (logBytes - needed) / 3
  }

  /// Whether there is no time for anything but copying.
  func isUrgent(logBytes: Int, needed: Int) -> Bool { logBytes - needed > needed / 4 + 2 * segmentSize }

  /// How many bytes may be written before writers have to wait, so that the log stays within its bound where it grows
  /// faster than it is compacted.
  func slack(logBytes: Int, needed: Int) -> Int { needed + needed * 3 / 10 + 5 * segmentSize / 2 - logBytes }

  /// The segments to compact together into one of at most full size; none if there is nothing to gain.
  ///
  /// - Parameter thoroughly: whether little is worth it, as when somebody asks: above all tombstones, of which no more
  ///   than a hundredth of the log is to be left.
  func choose(_ candidates: [Candidate], thoroughly: Bool = false) -> [Candidate] {
    let small = candidates.filter { $0.bytes < smallSize }
    let worthwhile = candidates.filter { isWorthwhile($0, thoroughly) }
    let isWorthJoining = small.count >= (thoroughly ? 2 : Self.smallCount) || !worthwhile.isEmpty
    let ranked = worthwhile.sorted { $0.benefit > $1.benefit } + (isWorthJoining ? small : [])
    let chosen = fill(ranked)
    // A small one alone, where there is no space for two, would be written anew and anew.
    return chosen.count > 1 || chosen.contains { $0.gain >= leastGain || isWorthwhile($0, thoroughly) } ? chosen : []
  }

  private func isWorthwhile(_ candidate: Candidate, _ thoroughly: Bool) -> Bool {
    candidate.gain >= leastGain && candidate.gain > candidate.bytes / (thoroughly ? 50 : 10)
      || thoroughly && hasManyTombstones(candidate)
  }

  private func hasManyTombstones(_ candidate: Candidate) -> Bool { candidate.tombstones > candidate.bytes / 200 }

  /// Whether one that was written a moment ago is worth it again when somebody asks: whatever others do to its rows
  /// meanwhile could go on for ever.
  func isWorthRepeating(_ candidate: Candidate) -> Bool {
    candidate.bytes < smallSize || hasManyTombstones(candidate)
  }

  /// As many of them as fit into one segment, in their order.
  func fill(_ ranked: [Candidate]) -> [Candidate] {
    var chosen: [Candidate] = []
    var needed = 0
    for candidate in ranked where !chosen.contains(where: { $0.segment === candidate.segment }) {
      // One that is larger than a segment is compacted by itself.
      let limit = chosen.isEmpty ? largestOutput : min(segmentSize * 15 / 16, largestOutput)
      guard needed + candidate.needed <= limit else { continue }
      chosen.append(candidate)
      needed += candidate.needed
      if needed >= segmentSize * 7 / 8 || chosen.count == 64 { break }
    }
    return chosen
  }
}
