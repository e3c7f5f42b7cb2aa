import Synchronization

/// The checkpoints that the manifest lists, and the move lists that lead from the newest to segments compacted since.
extension CurrentManifest {
  /// The newest checkpoint that is listed.
  var newestCheckpoint: Manifest.Checkpoint? { withLock { $0.checkpoints.last } }

  /// The checkpoints whose files are used: those that are listed, and one that may be being written.
  var usedCheckpoints: [CheckpointID] {
    // A checkpoint that has been begun since the opening may have the name of one that was never finished, and is
    // listed only when it is finished.
    let captured = capturedCheckpoint.load(ordering: .acquiring)
    return withLock { $0.checkpoints.map(\.id) } + [captured]
  }

  /// Lists a checkpoint, which is durable, and keeps the one before it if that is still usable. Older checkpoints and
  /// all move lists are removed.
  func publish(_ checkpoint: Manifest.Checkpoint) throws(StoreError) {
    // Only the move lists, which are removed, lead from the previous checkpoint to segments compacted since.
    let hasMoved = moveLists.withLock { $0.hasMoved }
    try replaceCheckpoints { $0.suffix(hasMoved ? 0 : 1) + [checkpoint] }
    removeMoveLists()
  }

  /// Continues without any checkpoint: opening will read the whole log.
  func giveUpCheckpoints() throws(StoreError) {
    try replaceCheckpoints { _ in [] }
    removeMoveLists()
  }

  func replaceCheckpoints(
    _ change: ([Manifest.Checkpoint]) -> [Manifest.Checkpoint], _ changeMore: ((inout Manifest) -> Void)? = nil
  ) throws(StoreError) {
    let dropped = try withLock { (manifest) throws(StoreError) in
      var changed = manifest
      changed.checkpoints = change(manifest.checkpoints)
      changeMore?(&changed)
      // No checkpoint contains a keyspace that was dropped before the oldest checkpoint.
      let oldest = changed.checkpoints.first?.sequence ?? durable.sequence
      changed.keyspaces.removeAll { $0.droppedAt <= oldest }
      let kept = Set(changed.checkpoints.map(\.id))
      let dropped = manifest.checkpoints.filter { !kept.contains($0.id) }
      try replace(&manifest, changed)
      return dropped
    }
    for checkpoint in dropped { directory.removeIfPossible(CheckpointTables.fileName(checkpoint.id)) }
  }

  // MARK: Move lists

  /// Whether the newest checkpoint needs a move list to find the records of a segment.
  func hasMoves(_ segment: SegmentID) -> Bool { moveLists.withLock { $0.segments.contains(segment) } }

  /// Removes the move lists of these segments.
  func removeMoveLists(of segments: Set<SegmentID>) {
    let lists = moveLists.withLock { lists in
      defer { lists.segments.subtract(segments) }
      return lists.segments.intersection(segments)
    }
    removeFiles(lists)
  }

  private func removeMoveLists() {
    let lists = moveLists.withLock { lists in
      defer { lists = MoveLists() }
      return lists.segments
    }
    removeFiles(lists)
  }

  private func removeFiles(_ lists: Set<SegmentID>) {
    for segment in lists.sorted() { directory.removeIfPossible(MoveList.fileName(segment)) }
  }
}
