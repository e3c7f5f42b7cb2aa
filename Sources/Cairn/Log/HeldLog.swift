import Synchronization

/// The log as it was between two commits. It can be read as long as it is held, whatever is written and compacted
/// meanwhile.
struct HeldLog {
  /// What the store consisted of, with every segment sealed where it ended, and without checkpoints.
  let manifest: Manifest
  /// The segments that the manifest lists, in the same order.
  let segments: [Segment]
  /// The segments that were sealed already, so that nothing is ever written to their files again.
  let sealed: Set<SegmentID>
  /// The newest commit in it.
  let lastSequence: CommitSequence
  /// The end of the segment that was growing; nil if there was none. Up to here the log may not be durable yet.
  let growingEnd: Place?

  /// - Parameters:
  ///   - known: the segments that hold rows.
  ///   - last: the newest commit.
  init(_ manifest: Manifest, _ known: [Segment], last: CommitSequence) {
    var manifest = manifest
    let isSealed = Dictionary(uniqueKeysWithValues: manifest.segments.map { ($0.id, $0.end != nil) })
    // A segment that is listed and not known has been prepared for commits to come, or comes after the commit that a
    // reader reads up to; one without a commit need not be there.
    let segments = known.filter { segment in
      isSealed[segment.id].map { $0 || segment.end.load(ordering: .relaxed) > SegmentHeader.size } ?? false
    }
    let ids = Set(segments.map(\.id))
    manifest.segments.removeAll { !ids.contains($0.id) }
    manifest.chainSequence = min(manifest.chainSequence, last)
    for segment in segments where !segment.isCompacted { manifest.seal(segment) }
    manifest.checkpoints = []
    // They read the store itself.
    manifest.changeReaders = []
    manifest.keyspaces.removeAll { $0.definedAt > last }
    manifest.highestSequence = max(manifest.highestSequence, last)
    self.manifest = manifest
    self.segments = segments.sorted { $0.id < $1.id }
    sealed = ids.filter { isSealed[$0] ?? false }
    lastSequence = last
    growingEnd = segments.last { isSealed[$0.id] == false }.map { segment in
      Place(segment: segment.id, offset: segment.end.load(ordering: .relaxed))
    }
  }
}
