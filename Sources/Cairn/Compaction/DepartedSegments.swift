import Synchronization

/// Segments that a refresh has found compacted, until nobody in this process needs them any more. Their files are
/// removed already, but memory and disk keep their bytes as long as they are mapped.
struct DepartedSegments {
  private struct Group {
    let segments: [Segment]
    /// Only snapshots of earlier commits need them.
    let sequence: CommitSequence
    /// The era in which no snapshot needed them any more; nil while one does.
    var era: UInt64?
  }

  private var groups: [Group] = []

  mutating func add(_ segments: [Segment], after sequence: CommitSequence) {
    if !segments.isEmpty { groups.append(Group(segments: segments, sequence: sequence)) }
  }

  /// Releases the segments that neither snapshots nor readers use any more.
  mutating func reclaim(_ committer: Committer) {
    guard !groups.isEmpty else { return }
    committer.dropEndedSnapshots()
    let eras = committer.index.eras
    committer.betweenCommits { writer in
      for position in groups.indices
      where groups[position].era == nil && !writer.isSeen(before: groups[position].sequence) {
        groups[position].era = eras.now
      }
      eras.advance()
      let oldest = eras.oldestPinned()
      groups.removeAll { group in
        guard let era = group.era, era < oldest else { return false }
        for segment in group.segments { writer.forget(segment) }
        return true
      }
    }
  }
}

extension Writer {
  /// Whether a snapshot of a commit before this one is held, or what only it needed has not been dropped yet. Deleted
  /// rows stay in the index of a dropped keyspace until its memory is released.
  fileprivate func isSeen(before sequence: CommitSequence) -> Bool {
    !droppedKeyspaces.isEmpty || index.snapshots.oldest.map { $0 < sequence } ?? false
      || pinned.keys.contains { $0 < sequence }
  }

  fileprivate mutating func forget(_ segment: Segment) {
    for keyspace in index.allKeyspaces {
      keyspace.live.reset(extent: segment.extent)
      keyspace.held.reset(extent: segment.extent)
    }
    log.release(segment)
  }
}
