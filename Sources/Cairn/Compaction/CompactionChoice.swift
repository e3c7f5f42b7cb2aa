import Synchronization

/// Which segments to compact, by the figures that they have when this is made.
struct CompactionChoice {
  private let policy: CompactionPolicy
  private let keepers: TombstoneKeepers
  private let usage: LogUsage
  private let published: CommitSequence

  init(_ policy: CompactionPolicy, _ log: Log, _ index: Index) {
    self.policy = policy
    keepers = TombstoneKeepers(log)
    usage = LogUsage(log)
    published = index.published.load(ordering: .acquiring)
  }

  /// Whether the log grows faster than it is compacted.
  var isUrgent: Bool { policy.isUrgent(usage) }

  /// The segments to compact, if any are due.
  ///
  /// - Parameters:
  ///   - isShort: whether the disk is full, so that any compaction that frees space is due.
  ///   - thoroughly: whether a small gain is enough.
  func due(isShort: Bool, thoroughly: Bool) -> [Segment] {
    let candidates = candidates(keepers.compactable)
    guard isShort || policy.isDue(usage, tombstones: keepers.bytes(keptBy: nil), candidates) else { return [] }
    let isForTombstones = !isShort && policy.isTooLong(usage, becauseOf: keepers.bytes(keptBy: .segments))
    let chosen =
      isForTombstones
      ? policy.fill(self.candidates(keepers.keepingSegments)) : policy.choose(candidates, thoroughly: thoroughly)
    return chosen.map(\.segment)
  }

  /// The segments to compact next on request; empty if nothing remains to do.
  ///
  /// - Parameters:
  ///   - old: segments that existed at the beginning.
  ///   - copies: segments that have been written since, and that may be compacted again.
  func requested(
    _ extent: CompactionExtent, of old: Set<SegmentID>, again copies: Set<SegmentID>
  ) -> [CompactionPolicy.Candidate] {
    let candidates = candidates(keepers.compactable)
    if extent == .everything { return policy.fill(candidates.filter { old.contains($0.segment.id) }) }
    let chosen = policy.choose(
      candidates.filter {
        old.contains($0.segment.id) || copies.contains($0.segment.id) && policy.isWorthRepeating($0)
      }, thoroughly: true)
    guard chosen.isEmpty, keepers.bytes(keptBy: .segments) > usage.bytes / 200 else { return chosen }
    return policy.fill(self.candidates(keepers.keepingSegments.filter { old.contains($0.id) }))
  }

  /// Whether compacting a segment by itself would make the log shorter.
  func isWorthwhile(_ segment: Segment) -> Bool { !policy.choose(candidates([segment]), thoroughly: true).isEmpty }

  private func candidates(_ segments: [Segment]) -> [CompactionPolicy.Candidate] {
    segments.map { segment in
      let bytes = segment.end.load(ordering: .relaxed)
      let isFree = keepers.keeper(of: segment) == nil
      let tombstones = segment.looseTombstoneBytes
      let written = segment.isCompacted ? segment.purgedSequence : segment.lastSequence.load(ordering: .relaxed)
      let needed = segment.neededBytes + (isFree ? 0 : tombstones) + segment.overhead.load(ordering: .relaxed)
      return CompactionPolicy.Candidate(
        segment: segment, bytes: bytes, needed: min(bytes, needed), tombstones: isFree ? tombstones : 0,
        age: published - min(published, written))
    }
  }
}
