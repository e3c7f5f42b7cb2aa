import Synchronization

/// How far the log is durable.
extension Log {
  /// Returns once every commit up to `sequence` is durable. One sync serves all who wait: the first in takes along
  /// whatever has been appended by then, and the others find it done.
  ///
  /// - Parameter place: what lies before it is durable then too, whether it belongs to a commit or not.
  func sync(upTo sequence: UInt64, through place: Place? = nil) throws(StoreError) {
    guard !isDurable(sequence, place) else { return }
    let turn = syncing.wait { (turn) -> SyncTurn? in
      if isDurable(sequence, place) { return .free }
      guard turn == .free else { return turn == .ended ? .ended : nil }
      turn = .taken
      return .taken
    }
    switch turn {
    case .free: return
    case .taken:
      defer { syncing.withLock { $0 = .free } }
      try syncTail()
    case .ended:
      try checkHealth()
      throw StoreError(.closed, "the store is closed")
    }
  }

  private func isDurable(_ sequence: UInt64, _ place: Place?) -> Bool {
    durableSequence.load(ordering: .acquiring) >= sequence
      && place.map { watermarkPlace.load(ordering: .acquiring) >= $0.packed } ?? true
  }

  /// Makes whatever has been appended by now durable.
  private func syncTail() throws(StoreError) {
    try checkHealth()
    let (segments, ends, last, frame) = tail.withLock { tail in
      (tail.segments, tail.segments.map { $0.end.load(ordering: .acquiring) }, tail.sequence, tail.frame)
    }
    do throws(FileError) {
      try rewriteTail()
      for segment in segments {
        syncCount.add(1, ordering: .relaxed)
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
      // What cannot be recorded now is when the store is closed, or that fails.
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

  /// Lets go of the descriptor of a segment that is durable and complete. It can be read as before.
  func close(_ segment: Segment) {
    // Whoever is syncing may have it at hand.
    let isOpen = syncing.wait { (turn) -> Bool? in
      guard turn == .free else { return turn == .ended ? false : nil }
      turn = .taken
      return true
    }
    guard isOpen else { return }
    defer { syncing.withLock { $0 = .free } }
    tail.withLock { tail in tail.segments.removeAll { $0 === segment } }
    segment.file.close()
  }

  /// After the committer's last commit, which is made durable. Space for more is given back, but for what deletions need to
  /// begin with, should the disk be full when the store is opened again; that it isn't always does no harm.
  ///
  /// - Parameter isReadOnly: whether all of it belongs to somebody else, who may be writing.
  func close(isReadOnly: Bool) throws(StoreError) {
    defer { closeFiles(isReadOnly: isReadOnly) }
    guard !isReadOnly else { return }
    // What recovery found is as durable as it was; only what this opening has written is its own.
    let hasWritten = appendedBytes.load(ordering: .relaxed) > 0
    if hasWritten { try sync(upTo: lastSequence) }
    endSyncing()
    guard !hasFailed.load(ordering: .acquiring) else { return }
    try attempt { () throws(FileError) in
      if hasWritten { try watermarkFile.write(record(watermark, tail.withLock { $0.frame })) }
      try watermarkFile.sync()
    }
  }

  /// Once whoever syncs is done, who may have said already what is durable and be writing it down.
  private func endSyncing() {
    syncing.wait { (turn) -> Void? in
      if turn == .taken { return nil }
      turn = .ended
      return ()
    }
  }

  private func closeFiles(isReadOnly: Bool) {
    endSyncing()
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
