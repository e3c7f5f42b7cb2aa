import Synchronization

/// What compaction and checkpoints do at the end of the log.
extension LogWriter {
  /// The active segment, if it has commits.
  var filled: Segment? {
    guard let active, active.end.load(ordering: .relaxed) > SegmentHeader.size else { return nil }
    return active
  }

  /// Activates the next segment, unless the present one has no commits; returns whether it did.
  mutating func rollIfFilled() throws(StoreError) -> Bool {
    guard filled != nil else { return false }
    _ = try roll(0, schedulesSeal: false)
    return true
  }

  /// Begins the epoch that this opening writes in, which seals the last segment that recovery found.
  ///
  /// Does nothing if recovery found no segments. Also does nothing if it found bytes after the end of the log and no
  /// sealed segment, so that a store that was taken back stays as it is until the first write.
  mutating func beginEpochForCompaction() throws(StoreError) {
    guard active == nil, !recovered.segments.isEmpty else { return }
    if recovered.discarded.isEmpty || !shared.compactable.isEmpty { _ = try currentEpoch() }
  }

  /// The epoch that this opening writes in; begins it if that has not happened yet.
  mutating func currentEpoch() throws(StoreError) -> UInt32 {
    if active == nil { try shared.reserve.lend(to: .compaction) { () throws(StoreError) in try activateEpoch() } }
    guard let active else { fatalError("an epoch without a segment") }
    return active.epoch
  }

  /// Gives addresses to a segment that compaction writes; no index refers to it yet.
  mutating func enterCompacted(_ created: (header: SegmentHeader, file: any File, mapping: any Mapping)) -> Segment {
    let header = created.header
    let extents = shared.table.enter(
      created.mapping, id: header.id, seed: header.seed, baseSequence: header.baseSequence)
    let segment = Segment(
      id: header.id, epoch: header.epoch, file: created.file,
      mapping: created.mapping, seed: header.seed, baseSequence: header.baseSequence, extents: extents,
      end: SegmentHeader.size, lastSequence: header.compactedSequence, isCompacted: true)
    enter(segment)
    return segment
  }

  /// Gives back the extents of a segment and closes its file. No reader may have an address in it any more.
  mutating func release(_ segment: Segment) {
    enter(nil, segment.extents)
    shared.table.leave(segment.extents)
    segment.file.close()
  }

  /// Adds a feature to the manifest, unless it is there already.
  mutating func use(_ feature: UInt64) throws(StoreError) {
    _ = try currentEpoch()
    try shared.manifest.add(feature: feature)
  }
}
