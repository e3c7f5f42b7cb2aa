import Synchronization

/// How an opening begins to write.
extension Log {
  /// The first write after opening: the recovered segments are sealed as they are, and a new segment begins after a
  /// gap in the sequences, so that no frame of an earlier epoch can be taken for part of this one.
  func activateEpoch() throws(StoreError) {
    // An epoch that was begun by an attempt that failed later is not begun again.
    let (file, epoch) = if let begun { begun } else { try startEpoch() }
    begun = (file, epoch)
    let end = recovered.last.map { Place(segment: $0.id, offset: $0.end.load(ordering: .relaxed)) }
    lastSequence = recovered.baseOfNextEpoch(epoch)
    durableSequence.store(recovered.lastSequence, ordering: .releasing)
    if let end { watermarkPlace.store(end.packed, ordering: .releasing) }
    try activate(file, epoch: epoch, length: 0, recoveredEnd: end ?? Place(segment: 0, offset: 0))
    begun = nil
    recovered.segments = []
    environment.scheduler.schedule { [self] in prepare() }
  }

  private func startEpoch() throws(StoreError) -> (PreparedFile, UInt32) {
    for discarded in recovered.discarded { try keepAside(discarded) }
    do throws(FileError) {
      try rewriteTail()
      for segment in recovered.segments where recovered.unsealed.contains(segment.id) { try segment.file.sync() }
    } catch {
      throw poison(error)
    }
    let begun = try manifest.withLock { (manifest) throws(StoreError) in
      var changed = manifest
      changed.segments.removeAll { entry in recovered.excluded.contains(entry.id) }
      // The records that have moved since an unusable checkpoint are not known, so it can never be used.
      changed.checkpoints.removeAll { recovered.uselessCheckpoints.contains($0.id) }
      // Commits after the one that the store was taken back to are no longer part of the log.
      changed.chainSequence = min(changed.chainSequence, recovered.lastSequence)
      for segment in recovered.segments where !segment.isCompacted { changed.seal(segment) }
      changed.epoch += 1
      let base = recovered.baseOfNextEpoch(changed.epoch)
      guard changed.epoch <= Format.maximumID, base <= Format.maximumBaseSequence else { throw Self.usedUp }
      // So that no later epoch begins here again if a crash loses all of this one.
      changed.highestSequence = max(changed.highestSequence, base)
      return (try addSegment(to: &manifest, changed), changed.epoch)
    }
    // The remaining bytes and files are not used; it does no harm if one of them cannot be removed.
    for segment in recovered.segments where recovered.unsealed.contains(segment.id) {
      do throws(FileError) { try segment.file.truncate(segment.end.load(ordering: .relaxed)) } catch {}
      close(segment)
    }
    for id in recovered.excluded.sorted() { remove(Segment.fileName(id)) }
    for id in recovered.uselessCheckpoints.sorted() { removeCheckpoint(id) }
    // Not before the manifest that no longer lists them is durable.
    removeLeftovers(except: Segment.fileName(begun.0.id))
    return begun
  }

  private func removeLeftovers(except segment: String) {
    // A checkpoint that has been begun since the opening may have the name of one that was never finished, and is
    // listed only when it is finished.
    let captured = capturedCheckpoint.load(ordering: .acquiring)
    let checkpoints = manifest.withLock { $0.checkpoints.map(\.id) } + [captured]
    let used = Set([segment] + checkpoints.map { CheckpointTables.fileName($0) })
    for name in recovered.unlisted where !used.contains(name) { remove(name) }
  }

  /// Writes the recovered bytes that are not known to be durable once more, before they are synced for the first time:
  /// after a failed sync the kernel considers pages clean that never reached the disk, and no later sync, of this
  /// process or another, reports that.
  func rewriteTail() throws(FileError) {
    try isTailRewritten.withLock { (isRewritten) throws(FileError) in
      if isRewritten { return }
      for segment in recovered.segments where recovered.unsealed.contains(segment.id) { try rewrite(segment) }
      isRewritten = true
    }
  }

  private func rewrite(_ segment: Segment) throws(FileError) {
    let durable = recovered.watermark.place
    guard durable.segment <= segment.id else { return }
    let end = segment.end.load(ordering: .relaxed)
    var offset = durable.segment == segment.id ? durable.offset : 0
    while offset < end {
      let count = min(end - offset, Self.firstReservation)
      let piece = unsafe [UInt8](UnsafeRawBufferPointer(start: segment.mapping.base + offset, count: count))
      try segment.file.writeAll(piece, at: offset)
      offset += count
    }
  }

  static var usedUp: StoreError {
    StoreError(.numbersUsedUp, "the store has used up its segment numbers, epochs or sequences")
  }

  /// Saves the bytes after the end of the log in a file of their own.
  private func keepAside(_ discarded: RecoveredLog.Discarded) throws(StoreError) {
    let name = Segment.discardedName(discarded.place.segment, discarded.place.offset)
    // An existing file may be incomplete, left by an attempt that was interrupted; the bytes are still in the log.
    let file = try attempt { () throws(FileError) in try create(name, discarded.length) }
    defer { file.close() }
    do throws(FileError) {
      try unsafe file.write(
        UnsafeRawBufferPointer(start: discarded.mapping.base + discarded.place.offset, count: discarded.length), at: 0)
      try file.sync()
      try directory.sync()
    } catch {
      throw poison(error)
    }
  }
}
