import Synchronization

/// What has been appended to the log and is not durable yet, and the threads that wait for it.
final class SyncQueue: Sendable {
  private struct Tail {
    var segments: [Segment]
    var sequence: CommitSequence
    /// The offset of the last frame in the last segment; 0 if there is none.
    var frame = 0
    /// The epoch that is being written, or was written last.
    var epoch: UInt32
  }

  /// Recovered bytes that are not known to be durable.
  private struct DoubtfulTail {
    let segments: [Segment]
    /// Where the log is durable up to.
    let durable: Place
  }

  let durable: DurableEnd
  private let store: UInt128
  private let directory: any Directory
  private let failure: LogFailure
  private let counts: LogCounts
  private let telemetry: Telemetry
  private let turns = SyncTurns()
  private let tail: Lock<Tail>
  /// nil once the bytes have been written again.
  private let doubtful: Lock<DoubtfulTail?>
  /// Used by the thread that has the turn to sync.
  private let watermarkFile: WatermarkFile

  init(
    _ recovered: RecoveredLog, _ manifest: Manifest, directory: any Directory, failure: LogFailure, counts: LogCounts,
    telemetry: Telemetry
  ) {
    durable = DurableEnd(recovered.watermark)
    store = manifest.store
    self.directory = directory
    self.failure = failure
    self.counts = counts
    self.telemetry = telemetry
    let segments = recovered.segments.filter { recovered.unsealed.contains($0.id) }
    tail = Lock(Tail(segments: segments, sequence: recovered.lastSequence, epoch: manifest.epoch))
    doubtful = Lock(DoubtfulTail(segments: segments, durable: recovered.watermark.place))
    watermarkFile = WatermarkFile(directory)
  }

  // MARK: What is appended

  /// Notes that commits go to this segment from now on.
  func begin(_ segment: Segment) {
    tail.withLock { tail in
      tail.segments.append(segment)
      tail.frame = 0
      tail.epoch = segment.epoch
    }
  }

  /// Notes that the frame of a commit has been appended at an offset of the active segment.
  @inline(__always)
  func note(_ sequence: CommitSequence, at frame: Int) {
    tail.withLock { tail in
      tail.sequence = sequence
      tail.frame = frame
    }
  }

  /// Removes segments that the log no longer has. Returns when no thread is syncing them.
  func remove(_ segments: Set<SegmentID>) {
    tail.withLock { $0.segments.removeAll { segments.contains($0.id) } }
    turns.waitForCurrent()
  }

  /// Closes the file of a segment that is durable and complete. The segment can still be read through its mapping.
  func close(_ segment: Segment) {
    turns.betweenSyncs {
      tail.withLock { tail in tail.segments.removeAll { $0 === segment } }
      segment.file.close()
    }
  }

  // MARK: Syncing

  /// Returns once every commit up to `sequence` is durable. One sync serves all threads that wait: one of them
  /// syncs all that has been appended by then, and the others find their commits durable.
  ///
  /// - Parameter place: if given, the log before this place is durable on return too, whether it belongs to a commit or
  ///   not.
  func sync(upTo sequence: CommitSequence, through place: Place? = nil) throws(StoreError) {
    guard !durable.contains(sequence, place) else { return }
    let isOpen = try turns.sync(unless: { durable.contains(sequence, place) }, syncTail)
    guard !isOpen else { return }
    try failure.check()
    throw StoreError(.closed, "the store is closed")
  }

  /// Makes all that has been appended by now durable.
  private func syncTail() throws(StoreError) {
    try failure.check()
    let start = telemetry.begin()
    defer { telemetry.end(.sync, since: start) }
    let (tail, ends) = self.tail.withLock { ($0, $0.segments.map { $0.end.load(ordering: .acquiring) }) }
    do throws(FileError) {
      try rewriteDoubtful()
      for segment in tail.segments {
        counts.syncs.add(1, ordering: .relaxed)
        try segment.file.sync()
      }
      try directory.checkPresence()
    } catch {
      throw failure.poison(error)
    }
    let place = tail.segments.last.flatMap { newest in ends.last.map { Place(segment: newest.id, offset: $0) } }
    durable.move(to: tail.sequence, place)
    if let place {
      // A record that cannot be written now is written when the store is closed; if it cannot be written then, closing
      // fails.
      let record = record(Watermark(sequence: tail.sequence, place: place), tail)
      do throws(FileError) { try watermarkFile.write(record) } catch {}
    }
    removeComplete(tail.segments, ends)
  }

  /// Removes the segments that end where they have been synced, except the last.
  private func removeComplete(_ segments: [Segment], _ ends: [Int]) {
    tail.withLock { tail in
      for (segment, end) in zip(segments, ends)
      where segment !== tail.segments.last && segment.end.load(ordering: .acquiring) == end {
        tail.segments.removeAll { $0 === segment }
      }
    }
  }

  private func record(_ watermark: Watermark, _ tail: Tail) -> WatermarkRecord {
    WatermarkRecord(store: store, epoch: tail.epoch, watermark: watermark, frame: tail.frame)
  }

  /// Writes the recovered bytes that are not known to be durable once more, before they are synced for the first time:
  /// after a failed sync the kernel considers pages clean that never reached the disk, and no later sync, of this
  /// process or another, reports that.
  func rewriteDoubtful() throws(FileError) {
    try doubtful.withLock { (tail) throws(FileError) in
      for segment in tail?.segments ?? [] { try segment.rewrite(from: tail?.durable ?? Watermark.none.place) }
      tail = nil
    }
  }

  // MARK: The end

  /// Ends syncing, after the committer's last commit. Before that makes the log durable and records how far it is, if
  /// this opening has written: the commits that recovery found are as durable as they were.
  func close(after last: CommitSequence) throws(StoreError) {
    let hasWritten = counts.appendedBytes.load(ordering: .relaxed) > 0
    if hasWritten { try sync(upTo: last) }
    end()
    guard !failure.isThere else { return }
    try StoreError.wrap { () throws(FileError) in
      if hasWritten { try watermarkFile.write(record(durable.watermark, tail.withLock { $0 })) }
      try watermarkFile.sync()
    }
  }

  /// Ends syncing. No thread touches a file of the log for a sync afterwards.
  func end() {
    turns.end()
    durable.waiters.finish()
  }

  func closeFile() { watermarkFile.close() }
}

extension Segment {
  /// Writes the bytes from a place of the log to the segment's end again.
  fileprivate func rewrite(from durable: Place) throws(FileError) {
    guard durable.segment <= id else { return }
    let end = end.load(ordering: .relaxed)
    var offset = durable.segment == id ? durable.offset : 0
    while offset < end {
      let count = min(end - offset, Log.firstReservation)
      let piece = unsafe [UInt8](UnsafeRawBufferPointer(start: mapping.base + offset, count: count))
      try file.writeAll(piece, at: offset)
      offset += count
    }
  }
}
