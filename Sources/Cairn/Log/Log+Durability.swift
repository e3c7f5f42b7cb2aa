import Synchronization

/// How far the log is durable.
extension Log {
  /// Returns once every commit up to `sequence` is durable. One sync serves all threads that wait: one of them
  /// syncs all that has been appended by then, and the others find their commits durable.
  ///
  /// - Parameter place: if given, the log before this place is durable on return too, whether it belongs to a commit or
  ///   not.
  func sync(upTo sequence: CommitSequence, through place: Place? = nil) throws(StoreError) {
    guard !isDurable(sequence, place) else { return }
    let isOpen = try turns.sync(unless: { isDurable(sequence, place) }, syncTail)
    guard !isOpen else { return }
    try checkHealth()
    throw StoreError(.closed, "the store is closed")
  }

  private func isDurable(_ sequence: CommitSequence, _ place: Place?) -> Bool {
    durableSequence.load(ordering: .acquiring) >= sequence
      && place.map { watermarkPlace.load(ordering: .acquiring) >= $0.packed } ?? true
  }

  /// Makes all that has been appended by now durable.
  private func syncTail() throws(StoreError) {
    try checkHealth()
    let (segments, ends, last, frame) = tail.withLock { tail in
      (tail.segments, tail.segments.map { $0.end.load(ordering: .acquiring) }, tail.sequence, tail.frame)
    }
    do throws(FileError) {
      try rewriteTail()
      for segment in segments {
        counts.syncs.add(1, ordering: .relaxed)
        try segment.file.sync()
      }
      try directory.checkPresence()
    } catch {
      throw poison(error)
    }
    if let newest = segments.last, let end = ends.last {
      watermarkPlace.store(Place(segment: newest.id, offset: end).packed, ordering: .releasing)
    }
    durableSequence.store(last, ordering: .releasing)
    if let newest = segments.last, let end = ends.last {
      let record = record(Watermark(sequence: last, place: Place(segment: newest.id, offset: end)), frame)
      // A record that cannot be written now is written when the store is closed; if it cannot be written then, closing
      // fails.
      do throws(FileError) { try watermarkFile.write(record) } catch {}
    }
    tail.withLock { tail in
      for (segment, end) in zip(segments, ends)
      where segment !== tail.segments.last && segment.end.load(ordering: .acquiring) == end {
        tail.segments.removeAll { $0 === segment }
      }
    }
  }

  private func record(_ watermark: Watermark, _ frame: Int) -> WatermarkRecord {
    WatermarkRecord(store: store, epoch: epoch.load(ordering: .relaxed), watermark: watermark, frame: frame)
  }

  /// Closes the file of a segment that is durable and complete. The segment can still be read through its mapping.
  func close(_ segment: Segment) {
    turns.betweenSyncs {
      tail.withLock { tail in tail.segments.removeAll { $0 === segment } }
      segment.file.close()
    }
  }

  /// Closes the log after the committer's last commit, which is made durable. Reserved space is released, except what
  /// deletions need to begin with if the disk is full when the store is opened again; a failure to release it does no
  /// harm.
  ///
  /// - Parameters:
  ///   - last: the last commit.
  ///   - active: the segment that was being written.
  ///   - isReadOnly: whether the files belong to another process, which may be writing.
  func close(after last: CommitSequence, _ active: Segment?, isReadOnly: Bool) throws(StoreError) {
    defer { closeFiles(active, isReadOnly: isReadOnly) }
    guard !isReadOnly else { return }
    // The commits that recovery found are as durable as they were; this opening syncs only what it has written.
    let hasWritten = counts.appendedBytes.load(ordering: .relaxed) > 0
    if hasWritten { try sync(upTo: last) }
    turns.end()
    guard !hasFailed.load(ordering: .acquiring) else { return }
    try attempt { () throws(FileError) in
      if hasWritten { try watermarkFile.write(record(watermark, tail.withLock { $0.frame })) }
      try watermarkFile.sync()
    }
  }

  private func closeFiles(_ active: Segment?, isReadOnly: Bool) {
    turns.end()
    let next = prepared.withLock { $0?.file }
    if !isReadOnly, !hasFailed.load(ordering: .acquiring) {
      do throws(FileError) { try active?.file.truncate(active?.end.load(ordering: .relaxed) ?? 0) } catch {}
      do throws(FileError) { try next?.truncate(0) } catch {}
      do throws(FileError) { try reserve.shrink(to: leastReserve) } catch {}
    }
    next?.close()
    watermarkFile.close()
    for segment in segments.withLock({ $0 }) { segment.file.close() }
  }
}
