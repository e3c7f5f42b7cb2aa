import Synchronization

/// What all threads share of the log: its segments, its manifest, and how far it is durable. Its end, where the one
/// writer appends, is the `LogWriter`'s.
final class Log: Sendable {
  let environment: Environment
  let directory: any Directory
  let table: SegmentTable
  let manifestFile: ManifestFile
  let store: UInt128
  let segmentSize: Int
  let reserve: Reserve
  /// Used by the thread that has the turn to sync.
  let watermarkFile: WatermarkFile
  /// The epoch that is being written, or was written last.
  let epoch: Atomic<UInt32>
  /// Whether the last commit that needed more space found none, or had to take it from the reserve.
  let isShortOfSpace = Atomic<Bool>(false)

  /// The manifest as it is on disk, or will be once the present holder of the lock is done.
  let manifest: Lock<Manifest>
  /// All segments that hold rows, in order. Never held during input or output.
  let segments: Lock<[Segment]>
  /// The compacted segments that the newest checkpoint does not know except through the move lists beside them.
  let moveLists: Lock<MoveLists>
  /// The last checkpoint begun since the opening; 0 for none.
  let capturedCheckpoint = Atomic<CheckpointID>(0)
  let prepared = Lock<PreparedFile?>(nil)
  let tail: Lock<Tail>
  let turns = SyncTurns()
  private let failure = Lock<StoreError?>(nil)
  let hasFailed = Atomic<Bool>(false)
  let watermarkPlace: Atomic<UInt64>
  let durableSequence: Atomic<CommitSequence>
  let counts = LogCounts()

  /// The recovered bytes that are not known to be durable; nil once they have been written again.
  private let doubtfulTail: Lock<DoubtfulTail?>

  static let firstReservation = 1 << 20

  /// What has been appended and not yet synced.
  struct Tail {
    var segments: [Segment]
    var sequence: CommitSequence
    /// The offset of the last frame in the last segment; 0 if there is none.
    var frame = 0
  }

  /// What leads from the newest checkpoint to segments that have been compacted since.
  struct MoveLists {
    /// Compacted segments with a move list.
    var segments: Set<SegmentID> = []
    /// Whether anything may have been compacted since.
    var hasMoved = false
  }

  private struct DoubtfulTail {
    let segments: [Segment]
    /// Where the log is durable up to.
    let durable: Place
  }

  struct PreparedFile {
    let id: SegmentID
    let file: any File
    var reserved: Int
  }

  init(
    environment: Environment, directory: any Directory, table: SegmentTable, manifest: Manifest, recovered: RecoveredLog
  ) {
    self.environment = environment
    self.directory = directory
    self.table = table
    manifestFile = ManifestFile(directory: directory)
    store = manifest.store
    segmentSize = manifest.segmentSize
    reserve = Reserve(directory: directory, segmentSize: segmentSize)
    watermarkFile = WatermarkFile(directory)
    epoch = Atomic(manifest.epoch)
    self.manifest = Lock(manifest)
    segments = Lock(recovered.segments)
    tail = Lock(
      Tail(
        segments: recovered.segments.filter { recovered.unsealed.contains($0.id) }, sequence: recovered.lastSequence))
    durableSequence = Atomic(recovered.watermark.sequence)
    watermarkPlace = Atomic(recovered.watermark.place.packed)
    moveLists = Lock(recovered.moveLists)
    doubtfulTail = Lock(
      DoubtfulTail(
        segments: recovered.segments.filter { recovered.unsealed.contains($0.id) },
        durable: recovered.watermark.place))
    counts.checkpointBytes.store(manifest.checkpointBytes, ordering: .relaxed)
  }

  // MARK: Failure

  /// Handles a failed write or sync: the first ends all writing. Nothing is retried, because the kernel reports a lost
  /// page once.
  func poison(_ error: FileError) -> StoreError {
    let cause = StoreError(error)
    return failure.withLock { failure in
      if let failure { return failure }
      let sticky = StoreError(
        .poisoned, "\(cause.message); the store must be reopened before it can be written again",
        systemError: cause.systemError)
      failure = sticky
      hasFailed.store(true, ordering: .releasing)
      return sticky
    }
  }

  func checkHealth() throws(StoreError) {
    guard hasFailed.load(ordering: .acquiring) else { return }
    if let failure = failure.withLock({ $0 }) { throw failure }
  }

  func attempt<R>(_ body: () throws(FileError) -> R) throws(StoreError) -> R {
    do throws(FileError) { return try body() } catch { throw StoreError(error) }
  }

  // MARK: Appending

  func allocate(_ file: any File, _ size: Int) throws(StoreError) {
    try attempt { () throws(FileError) in try file.reserve(size) }
  }

  // MARK: The reserve

  /// The length at which a segment is full. On a disk that has space for a short log only, segments are short, too:
  /// when the disk is full, the reserve has space for compaction to write any of them again.
  var fullLength: Int {
    let held = logBytes + reserve.bytes.load(ordering: .relaxed)
    return min(segmentSize, max(Self.firstReservation, held / 16 + directory.freeSpace / 16))
  }

  private var logBytes: Int { segments.withLock { $0 }.reduce(0) { $0 + $1.end.load(ordering: .relaxed) } }

  var longestEnd: Int { segments.withLock { $0 }.reduce(0) { max($0, $1.end.load(ordering: .relaxed)) } }

  /// Bytes to begin a segment and to write a manifest.
  var leastReserve: Int { min(Self.firstReservation, segmentSize) + reserve.step }

  /// Bytes for compaction to write a segment as well.
  var reserveSize: Int {
    let length = logBytes
    return length < leastReserve ? 0 : leastReserve + min(segmentSize, length / 4)
  }

  /// For callers that take space and free none.
  func requireReserve() throws(StoreError) {
    guard reserve.isSpent.load(ordering: .relaxed) else { return }
    try attempt { () throws(FileError) in try reserve.hold(reserveSize) }
  }

  /// Must not delay a commit: it may wait for the disk.
  func keepReserve() {
    // Without the reserve the disk is full a little earlier.
    do throws(FileError) { try reserve.hold(reserveSize) } catch {}
  }

  /// Writes part of a frame. A failure poisons the log, except in a segment that compaction writes, which nothing
  /// depends on yet.
  func write(_ segment: Segment, _ bytes: UnsafeRawBufferPointer, at offset: Int) throws(StoreError) {
    do throws(FileError) {
      try unsafe segment.file.write(bytes, at: offset)
    } catch {
      throw segment.isCompacted ? StoreError(error) : poison(error)
    }
  }

  var watermark: Watermark {
    // Each is a lower bound by itself; they need not come from the same sync.
    Watermark(
      sequence: durableSequence.load(ordering: .acquiring),
      place: Place(packed: watermarkPlace.load(ordering: .acquiring)))
  }

  /// Writes the recovered bytes that are not known to be durable once more, before they are synced for the first time:
  /// after a failed sync the kernel considers pages clean that never reached the disk, and no later sync, of this
  /// process or another, reports that.
  func rewriteTail() throws(FileError) {
    try doubtfulTail.withLock { (tail) throws(FileError) in
      for segment in tail?.segments ?? [] { try rewrite(segment, from: tail?.durable ?? Watermark.none.place) }
      tail = nil
    }
  }

  private func rewrite(_ segment: Segment, from durable: Place) throws(FileError) {
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
}
