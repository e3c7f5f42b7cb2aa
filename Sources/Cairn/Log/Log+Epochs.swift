import Synchronization

/// How an opening begins to write.
extension Log {
  /// The first write after opening: what recovery found is sealed as it is and a new segment begins behind a gap in the
  /// sequences, so that nothing of an earlier life can be taken for part of this one.
  func activateEpoch() throws(StoreError) {
    // An epoch that has been begun and could not go on is not begun twice.
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
      changed.segments.removeAll { entry in recovered.dropped.contains(entry.id) }
      // What has moved since a checkpoint that was of no use is not known, so it can never be of use.
      changed.checkpoints.removeAll { recovered.uselessCheckpoints.contains($0.id) }
      // What lay behind the commit that was gone back to is no part of the log any more.
      changed.chainSequence = min(changed.chainSequence, recovered.lastSequence)
      for segment in recovered.segments where !segment.isCompacted { changed.seal(segment) }
      changed.epoch += 1
      let base = recovered.baseOfNextEpoch(changed.epoch)
      guard changed.epoch <= Format.maximumID, base <= Format.maximumBaseSequence else { throw Self.usedUp }
      // So that no later epoch begins here again, should a crash take all of this one.
      changed.highestSequence = max(changed.highestSequence, base)
      return (try addSegment(to: &manifest, changed), changed.epoch)
    }
    // What is left is of no use; that it is still there does no harm.
    for segment in recovered.segments where recovered.unsealed.contains(segment.id) {
      do throws(FileError) { try segment.file.truncate(segment.end.load(ordering: .relaxed)) } catch {}
      close(segment)
    }
    for id in recovered.dropped.sorted() { remove(Segment.fileName(id)) }
    for id in recovered.uselessCheckpoints.sorted() { removeCheckpoint(id) }
    // Not before the manifest that says nothing of them is durable.
    removeLeftovers(except: Segment.fileName(begun.0.id))
    return begun
  }

  private func removeLeftovers(except segment: String) {
    // A checkpoint that has been begun since the opening may have the name of one that was never finished. It is listed
    // later than it is begun.
    let captured = capturedCheckpoint.load(ordering: .acquiring)
    let checkpoints = manifest.withLock { $0.checkpoints.map(\.id) } + [captured]
    let used = Set([segment] + checkpoints.map { CheckpointTables.fileName($0) })
    for name in recovered.unlisted where !used.contains(name) { remove(name) }
  }

  /// What recovery found and is not known to be durable is written once more before it is synced for the first time:
  /// after a failed sync the kernel takes pages for clean that never reached the disk, and no later sync, of this process
  /// or another, says so.
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

  static var usedUp: StoreError { StoreError(.damaged, "the store has used up its numbers") }

  /// Bytes behind the end of the log are kept as they were, under a name of their own.
  private func keepAside(_ discarded: RecoveredLog.Discarded) throws(StoreError) {
    let name = Segment.discardedName(discarded.place.segment, discarded.place.offset)
    // What an attempt that was cut short left is not all of it; the bytes are still in the log.
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
