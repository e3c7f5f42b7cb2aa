import Synchronization

/// The parts of the manifest other than the segments: features, keyspaces, checkpoints.
extension Log {
  /// Adds a feature to the manifest, unless it is there already.
  func addFeature(_ feature: UInt64) throws(StoreError) {
    try manifest.withLock { (manifest) throws(StoreError) in
      guard manifest.features & feature == 0 else { return }
      var changed = manifest
      changed.features |= feature
      try replace(&manifest, changed) { () throws(FileError) in }
    }
  }

  /// Notes in the manifest that a keyspace may retain this many older versions. Recovery has to know that before it
  /// reads the records.
  func note(_ keyspace: KeyspaceID, oldVersions: UInt32) {
    manifest.withLock { manifest in
      guard let index = manifest.keyspaces.index(of: keyspace) else { return }
      manifest.keyspaces[index].oldVersions = max(manifest.keyspaces[index].oldVersions, oldVersions)
    }
  }

  // MARK: Checkpoints

  /// Notes that a commit has dropped a keyspace. The keyspace stays listed until all checkpoints are newer than that
  /// commit.
  func forget(_ keyspace: KeyspaceID, droppedAt sequence: CommitSequence) {
    manifest.withLock { manifest in
      guard let index = manifest.keyspaces.index(of: keyspace) else { return }
      manifest.keyspaces[index].droppedAt = sequence
    }
  }

  /// Lists a checkpoint, which is durable, in the manifest, and keeps the one before it if that is still usable. Older
  /// checkpoints and all move lists are removed.
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

  private func removeMoveLists() {
    let lists = moveLists.withLock { lists in
      defer { lists = MoveLists() }
      return lists.segments
    }
    for segment in lists.sorted() { remove(MoveList.fileName(segment)) }
  }

  func replaceCheckpoints(
    _ change: ([Manifest.Checkpoint]) -> [Manifest.Checkpoint], segments: ((inout [Manifest.Segment]) -> Void)? = nil
  ) throws(StoreError) {
    let dropped = try manifest.withLock { (manifest) throws(StoreError) in
      var changed = manifest
      changed.checkpoints = change(manifest.checkpoints)
      segments?(&changed.segments)
      // No checkpoint contains a keyspace that was dropped before the oldest checkpoint.
      let oldest = changed.checkpoints.first?.sequence ?? durableSequence.load(ordering: .acquiring)
      changed.keyspaces.removeAll { $0.droppedAt <= oldest }
      let kept = Set(changed.checkpoints.map(\.id))
      let dropped = manifest.checkpoints.filter { !kept.contains($0.id) }
      try replace(&manifest, changed) { () throws(FileError) in }
      return dropped
    }
    for checkpoint in dropped { removeCheckpoint(checkpoint.id) }
  }

  func remove(_ name: String) {
    // A file that cannot be removed is not listed, so it does no harm.
    do throws(FileError) { try directory.remove(name) } catch {}
  }

  func removeCheckpoint(_ id: CheckpointID) { remove(CheckpointTables.fileName(id)) }

  /// The newest checkpoint that is listed.
  var newestCheckpoint: Manifest.Checkpoint? { manifest.withLock { $0.checkpoints.last } }
}
