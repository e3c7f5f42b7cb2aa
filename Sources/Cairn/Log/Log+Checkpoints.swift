import Synchronization

/// What the manifest says besides the segments: features, keyspaces, checkpoints.
extension Log {
  /// Names a feature in the manifest, unless it does so. For the holder of the commit lock.
  func use(_ feature: UInt64) throws(StoreError) {
    _ = try currentEpoch()
    try manifest.withLock { (manifest) throws(StoreError) in
      guard manifest.features & feature == 0 else { return }
      var changed = manifest
      changed.features |= feature
      try replace(&manifest, changed) { () throws(FileError) in }
    }
  }

  /// Recovery has to know of a keyspace that it may retain so many older versions, before it meets the records.
  func note(_ keyspace: UInt32, oldVersions: UInt32) {
    manifest.withLock { manifest in
      guard let index = manifest.keyspaces.index(of: keyspace) else { return }
      manifest.keyspaces[index].oldVersions = max(manifest.keyspaces[index].oldVersions, oldVersions)
    }
  }

  // MARK: Checkpoints

  /// A keyspace has been dropped by a commit. It stays listed until all checkpoints are newer than that.
  func forget(_ keyspace: UInt32, droppedAt sequence: UInt64) {
    manifest.withLock { manifest in
      guard let index = manifest.keyspaces.index(of: keyspace) else { return }
      manifest.keyspaces[index].droppedAt = sequence
    }
  }

  /// Lists a checkpoint that is durable in the manifest, beside the one before it if that is of use still. Those before
  /// that are removed, and lists of moves with them.
  func publish(_ checkpoint: Manifest.Checkpoint) throws(StoreError) {
    // What has been compacted since the one before is found by its lists only.
    let hasMoved = moveLists.withLock { $0.hasMoved }
    try replaceCheckpoints { $0.suffix(hasMoved ? 0 : 1) + [checkpoint] }
    removeMoveLists()
  }

  /// Goes on without any: opening will read the whole log.
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
      // No checkpoint has those that were dropped before the oldest of them.
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
    // One that stays is not listed, and no harm.
    do throws(FileError) { try directory.remove(name) } catch {}
  }

  func removeCheckpoint(_ id: UInt32) { remove(CheckpointTables.fileName(id)) }

  /// The newest checkpoint that is listed.
  var newestCheckpoint: Manifest.Checkpoint? { manifest.withLock { $0.checkpoints.last } }
}
