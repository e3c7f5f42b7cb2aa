import Synchronization

/// Finds why tombstones stay in the log: another segment may still contain a record that they delete, or the newest
/// checkpoint refers to one.
struct TombstoneKeepers {
  enum Keeper {
    /// Other segments that can be compacted; compacting some of them, even without a gain of its own, makes the
    /// tombstones dead.
    case segments
    /// The newest checkpoint; with a newer one, or none, the tombstones are dead.
    case checkpoint
    /// A segment from which compaction cannot remove what the tombstones delete, because of a snapshot or damage; or a
    /// reader of changes.
    case others
  }

  let compactable: [Segment]
  private let purgeable: [Segment]
  private let lowest: Lowest
  /// Of the segments from which compaction cannot remove superseded records.
  private let lowestOther: Lowest
  private let checkpoint: CommitSequence
  /// Readers of changes need the deletions after this commit.
  private let held: CommitSequence

  /// The lowest horizon of some segments, and the lowest without that segment.
  private struct Lowest {
    var segment: Segment?
    var horizon = CommitSequence.max
    var second = CommitSequence.max

    init(_ segments: [Segment]) {
      for candidate in segments {
        let horizon = candidate.horizon
        if horizon < self.horizon {
          (segment, second) = (candidate, self.horizon)
          self.horizon = horizon
        } else {
          second = min(second, horizon)
        }
      }
    }

    func without(_ excluded: Segment) -> CommitSequence { segment === excluded ? second : horizon }
  }

  init(_ log: Log) {
    let segments = log.segments.withLock { $0 }
    compactable = log.compactable
    purgeable = compactable.filter { !Self.isHeldBack($0) }
    lowest = Lowest(segments)
    let purgeable = Set(purgeable.map(\.id))
    lowestOther = Lowest(segments.filter { !purgeable.contains($0.id) })
    checkpoint = log.manifest.newestCheckpoint?.sequence ?? .max
    held = log.manifest.changes.held.load(ordering: .relaxed)
  }

  private static func isHeldBack(_ segment: Segment) -> Bool {
    segment.isHeldBack.load(ordering: .relaxed) && segment.neededBytes > segment.liveBytes.load(ordering: .relaxed)
  }

  /// What keeps a segment's tombstones, except those to which indexes refer; nil if nothing does.
  func keeper(of segment: Segment) -> Keeper? {
    let last = segment.lastSequence.load(ordering: .relaxed)
    if segment.looseTombstoneBytes == 0 { return nil }
    // A copy would have them too, because a snapshot may see the rows that they delete.
    if Self.isHeldBack(segment) || last > held { return .others }
    if last > lowestOther.without(segment) { return .others }
    if last > lowest.without(segment) { return .segments }
    return last > checkpoint ? .checkpoint : nil
  }

  /// Bytes of the tombstones kept by `keeper`, or by nothing for nil, in segments that could be compacted.
  func bytes(keptBy keeper: Keeper?) -> Int {
    compactable.reduce(0) { $0 + (self.keeper(of: $1) == keeper ? $1.looseTombstoneBytes : 0) }
  }

  /// The segments to compact so that tombstones in others can go; first those that keep most.
  var keepingSegments: [Segment] {
    let newest = compactable.reduce(0) {
      max($0, keeper(of: $1) == .segments ? $1.lastSequence.load(ordering: .relaxed) : 0)
    }
    return purgeable.filter { $0.horizon < newest }.sorted { $0.horizon < $1.horizon }
  }
}
