import Synchronization

/// Segments that have been compacted, until no reader and no backup uses them any more and their extents can be used
/// again.
struct RetiredSegments {
  private struct Group {
    var segments: [Segment]
    var era: UInt64
  }

  private let index: Index
  private let log: Log
  private let committer: Committer
  private var groups: [Group] = []

  init(index: Index, log: Log, committer: Committer) {
    self.index = index
    self.log = log
    self.committer = committer
  }

  /// Adds segments to which no index refers any more. Readers that began earlier may still use them.
  mutating func retire(_ segments: [Segment]) {
    let era = committer.betweenCommits { _ in
      defer { index.eras.advance() }
      return index.eras.now
    }
    groups.append(Group(segments: segments, era: era))
    for segment in segments { log.counts.retiredBytes.add(segment.end.load(ordering: .relaxed), ordering: .relaxed) }
    reclaim()
  }

  /// Reclaims the segments that neither a reader nor a backup uses any more.
  mutating func reclaim() {
    guard !groups.isEmpty else { return }
    committer.betweenCommits { writer in
      let oldest = index.eras.oldestPinned()
      groups.removeAll { group in
        guard group.era < oldest, !log.lent.contains(anyOf: group.segments) else { return false }
        for segment in group.segments {
          writer.log.release(segment)
          log.counts.retiredBytes.subtract(segment.end.load(ordering: .relaxed), ordering: .relaxed)
        }
        return true
      }
    }
    log.keepReserve()
  }
}
