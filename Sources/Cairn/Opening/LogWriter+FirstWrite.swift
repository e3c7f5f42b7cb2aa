import Synchronization

/// How an opening begins to write.
extension LogWriter {
  /// The first write after opening: the recovered segments are sealed as they are, and a new segment begins after a
  /// gap in the sequences, so that no frame of an earlier epoch can be taken for part of this one.
  mutating func activateEpoch() throws(StoreError) {
    // An epoch that was begun by an attempt that failed later is not begun again.
    let (file, epoch) = if let begun { begun } else { try startEpoch() }
    begun = (file, epoch)
    let end = recovered.last.map { Place(segment: $0.id, offset: $0.end.load(ordering: .relaxed)) }
    lastSequence = recovered.baseOfNextEpoch(epoch)
    shared.syncs.durable.move(to: recovered.lastSequence, end)
    try activate(file, epoch: epoch, length: 0, recoveredEnd: end ?? Place(segment: 0, offset: 0))
    begun = nil
    recovered.segments = []
    shared.environment.scheduler.schedule { [shared] in shared.prepare() }
  }

  private mutating func startEpoch() throws(StoreError) -> (PreparedSegment, UInt32) {
    for discarded in recovered.discarded { try keepAside(discarded) }
    do throws(FileError) {
      try shared.syncs.rewriteDoubtful()
      for segment in recovered.segments where recovered.unsealed.contains(segment.id) { try segment.file.sync() }
    } catch {
      throw shared.failure.poison(error)
    }
    let begun = try shared.manifest.withLock { (manifest) throws(StoreError) in
      var changed = manifest
      changed.segments.removeAll { entry in recovered.excluded.contains(entry.id) }
      // The records that have moved since an unusable checkpoint are not known, so it can never be used.
      changed.checkpoints.removeAll { recovered.uselessCheckpoints.contains($0.id) }
      // Commits after the one that the store was taken back to are no longer part of the log.
      changed.chainSequence = min(changed.chainSequence, recovered.lastSequence)
      if recovered.isTakenBack {
        changed.timeline &+= 1
        changed.features |= Format.timelines
        // What they know may not have happened.
        changed.changeReaders = []
      }
      for segment in recovered.segments where !segment.isCompacted { changed.seal(segment) }
      changed.epoch += 1
      let base = recovered.baseOfNextEpoch(changed.epoch)
      guard changed.epoch <= Format.maximumID, base <= Format.maximumBaseSequence else { throw Log.usedUp }
      // So that no later epoch begins here again if a crash loses all of this one.
      changed.highestSequence = max(changed.highestSequence, base)
      return (try shared.manifest.addSegment(to: &manifest, changed, reserving: shared.firstLength), changed.epoch)
    }
    // The remaining bytes and files are not used; it does no harm if one of them cannot be removed.
    for segment in recovered.segments where recovered.unsealed.contains(segment.id) {
      // Processes that have opened the store for reading may see commits that are no longer part of the log.
      if !recovered.isTakenBack {
        do throws(FileError) { try segment.file.truncate(segment.end.load(ordering: .relaxed)) } catch {}
      }
      shared.syncs.close(segment)
    }
    for id in recovered.excluded.sorted() { shared.directory.removeIfPossible(Segment.fileName(id)) }
    for id in recovered.uselessCheckpoints.sorted() { shared.directory.removeIfPossible(CheckpointTables.fileName(id)) }
    // Not before the manifest that no longer lists them is durable.
    removeLeftovers(except: Segment.fileName(begun.0.id))
    return begun
  }

  private func removeLeftovers(except segment: String) {
    let used = Set([segment] + shared.manifest.usedCheckpoints.map { CheckpointTables.fileName($0) })
    for name in recovered.unlisted where !used.contains(name) { shared.directory.removeIfPossible(name) }
  }

  /// Saves the bytes after the end of the log in a file of their own.
  private func keepAside(_ discarded: RecoveredLog.Discarded) throws(StoreError) {
    let name = Segment.discardedName(discarded.place.segment, discarded.place.offset)
    // An existing file may be incomplete, left by an attempt that was interrupted; the bytes are still in the log.
    let file = try StoreError.wrap { () throws(FileError) in
      try shared.directory.create(name, reserving: discarded.length)
    }
    defer { file.close() }
    do throws(FileError) {
      try unsafe file.write(
        UnsafeRawBufferPointer(start: discarded.mapping.base + discarded.place.offset, count: discarded.length), at: 0)
      try file.sync()
      try shared.directory.sync()
    } catch {
      throw shared.failure.poison(error)
    }
  }
}
