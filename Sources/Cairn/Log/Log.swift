import Synchronization

/// What all threads share of the log: its segments, its manifest, and how far it is durable. Its end, where the one
/// writer appends, is the `LogWriter`'s.
final class Log: Sendable {
  let environment: Environment
  let directory: any Directory
  let table: SegmentTable
  let store: UInt128
  let segmentSize: Int
  let reserve: Reserve
  let manifest: CurrentManifest
  let syncs: SyncQueue
  let telemetry: Telemetry
  let failure: LogFailure
  let counts = LogCounts()
  /// All segments that hold rows, in order. Never held during input or output.
  let segments: Lock<[Segment]>
  /// Segments that backups are reading.
  let lent = LentSegments()
  /// Whether the last commit that needed more space found none, or had to take it from the reserve.
  let isShortOfSpace = Atomic<Bool>(false)

  static let firstReservation = 1 << 20

  init(
    environment: Environment, directory: any Directory, table: SegmentTable, manifest: Manifest, recovered: RecoveredLog
  ) {
    self.environment = environment
    let telemetry = Telemetry()
    self.telemetry = telemetry
    failure = LogFailure(telemetry)
    self.directory = directory
    self.table = table
    store = manifest.store
    segmentSize = manifest.segmentSize
    reserve = Reserve(directory: directory, segmentSize: segmentSize)
    segments = Lock(recovered.segments)
    syncs = SyncQueue(recovered, manifest, directory: directory, failure: failure, counts: counts, telemetry: telemetry)
    self.manifest = CurrentManifest(
      manifest, recovered.moveLists, directory: directory, durable: syncs.durable, failure: failure, counts: counts)
    failure.whenPoisoned.withLock { $0 = { [waiters = syncs.durable.waiters] in waiters.finish() } }
  }

  /// Writes part of a frame. A failure poisons the log, except in a segment that compaction writes, which nothing
  /// depends on yet.
  func write(_ segment: Segment, _ bytes: UnsafeRawBufferPointer, at offset: Int) throws(StoreError) {
    do throws(FileError) {
      try unsafe segment.file.write(bytes, at: offset)
    } catch {
      throw segment.isCompacted ? StoreError(error) : failure.poison(error)
    }
  }

  static var usedUp: StoreError {
    StoreError(.numbersUsedUp, "the store has used up its segment numbers, epochs or sequences")
  }

  // MARK: The end

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
    if !isReadOnly { try syncs.close(after: last) }
  }

  private func closeFiles(_ active: Segment?, isReadOnly: Bool) {
    syncs.end()
    let next = manifest.prepared.withLock { $0?.file }
    if !isReadOnly, !failure.isThere {
      do throws(FileError) { try active?.file.truncate(active?.end.load(ordering: .relaxed) ?? 0) } catch {}
      do throws(FileError) { try next?.truncate(0) } catch {}
      do throws(FileError) { try reserve.shrink(to: leastReserve) } catch {}
    }
    next?.close()
    syncs.closeFile()
    for segment in segments.withLock({ $0 }) { segment.file.close() }
  }
}
