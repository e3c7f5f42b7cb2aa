import Synchronization

/// A checkpoint whose index has been loaded, and what else of it a recovery needs.
struct LoadedCheckpoint {
  let tables: CheckpointTables
  /// The move lists of segments compacted since, by segment.
  let moves: [SegmentID: MoveList]
  /// Live bytes by the segments' first extents.
  private var liveBytes: [Int: Int] = [:]
  private var dictionaries: [SegmentID: [DictionaryID]] = [:]
  /// Segments about which the move list says all, so that they need not be read again.
  private var wholly: Set<SegmentID> = []

  init(_ tables: CheckpointTables, moves: [SegmentID: MoveList]) {
    self.tables = tables
    self.moves = moves
    for live in tables.keyspaces.lazy.flatMap(\.live) { liveBytes[live.extent, default: 0] += live.bytes }
    for dictionary in tables.dictionaries {
      for segment in dictionary.segments { dictionaries[segment, default: []].append(dictionary.id) }
    }
  }

  var sequence: CommitSequence { tables.sequence }

  func segment(_ id: SegmentID) -> CheckpointTables.Segment? { tables.segments.element(id) }

  /// Sets the figures of a segment as they were when the checkpoint was made.
  func restoreFigures(of segment: Segment, _ known: CheckpointTables.Segment) {
    segment.liveBytes.store(liveBytes[known.extent] ?? 0, ordering: .relaxed)
    segment.tombstoneBytes.store(known.tombstones, ordering: .relaxed)
    for dictionary in dictionaries[known.id] ?? [] { segment.use(dictionary: dictionary) }
  }

  mutating func noteWhollyMoved(_ id: SegmentID) { wholly.insert(id) }

  func isWhollyMoved(_ id: SegmentID) -> Bool { wholly.contains(id) }
}
