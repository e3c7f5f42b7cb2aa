import Synchronization

/// The log for its one writer: where the next frame is written, and how far the log is durable.
///
/// `room(for:_:)`, `appended` and the functions they call belong to the committer, which calls them under its
/// lock. The rest may be called from any thread.
final class Log: @unchecked Sendable {
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
  let syncCount = Atomic<Int>(0)
  /// Bytes of commits' frames since the store was opened.
  let appendedBytes = Atomic<Int>(0)
  /// Bytes of segments that compaction has written since the store was opened.
  let compactedBytes = Atomic<Int>(0)
  /// Bytes of the checkpoints that the manifest lists.
  let checkpointBytes: Atomic<Int>
  var writtenBytes: Int { appendedBytes.load(ordering: .relaxed) + compactedBytes.load(ordering: .relaxed) }

  // For the committer only.
  var active: Segment?
  /// The first segment of an epoch that the manifest already lists, until it is active.
  var begun: (PreparedFile, UInt32)?
  var reserved = 0
  var zeroed = 0
  private var segmentsByExtent: [Segment?] = []
  /// What recovery found; its segments are removed once the first write has made them part of the log.
  var recovered: RecoveredLog
  let isTailRewritten = Lock(false)
  var lastSequence: CommitSequence

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
    self.recovered = recovered
    manifestFile = ManifestFile(directory: directory)
    store = manifest.store
    segmentSize = manifest.segmentSize
    reserve = Reserve(directory: directory, segmentSize: segmentSize)
    watermarkFile = WatermarkFile(directory)
    epoch = Atomic(manifest.epoch)
    checkpointBytes = Atomic(manifest.checkpointBytes)
    self.manifest = Lock(manifest)
    lastSequence = recovered.lastSequence
    segments = Lock(recovered.segments)
    tail = Lock(
      Tail(
        segments: recovered.segments.filter { recovered.unsealed.contains($0.id) }, sequence: recovered.lastSequence))
    durableSequence = Atomic(recovered.watermark.sequence)
    watermarkPlace = Atomic(recovered.watermark.place.packed)
    moveLists = Lock(recovered.moveLists)
    for segment in recovered.segments { enter(segment) }
  }

  /// Sets the segment to which addresses in these extents refer.
  func enter(_ segment: Segment?, _ extents: Range<Int>) {
    while segmentsByExtent.count < extents.upperBound { segmentsByExtent.append(nil) }
    for extent in extents { segmentsByExtent[extent] = segment }
  }

  func enter(_ segment: Segment) { enter(segment, segment.extents) }

  /// The segment an address lies in. For the committer.
  @inline(__always)
  func segment(_ address: LogAddress) -> Segment { segment(extent: table.extent(address)) }

  @inline(__always)
  func segment(extent: Int) -> Segment {
    guard let segment = segmentsByExtent[extent] else { fatalError("no segment has this address") }
    return segment
  }

  /// The segment of an older version: a wrong checkpoint may hold an address where there is no segment any more.
  @inline(__always)
  func segment(ifAnyAt address: LogAddress) -> Segment? {
    let extent = table.extent(address)
    return extent < segmentsByExtent.count ? segmentsByExtent[extent] : nil
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

  /// Where a frame of `length` bytes will be written. All blocks that it needs are reserved on return.
  ///
  /// - Throws: `noSpace` and the like, which change nothing, or `poisoned`.
  ///
  func room(for length: Int, _ effect: SpaceEffect) throws(StoreError) -> (segment: Segment, offset: Int) {
    if let active, case let end = active.end.load(ordering: .relaxed), end + length <= reserved { return (active, end) }
    do throws(StoreError) {
      if effect != .takes {
        defer { isShortOfSpace.store(reserve.isSpent.load(ordering: .relaxed), ordering: .relaxed) }
        let left = effect == .frees ? reserve.floor : max(reserve.floor, min(reserveSize / 2, longestEnd))
        return try reserve.lend(to: .commit(length, leaving: left)) { () throws(StoreError) in try newRoom(length) }
      }
      try requireReserve()
      defer { isShortOfSpace.store(false, ordering: .relaxed) }
      return try newRoom(length)
    } catch {
      if error.code == .noSpace { isShortOfSpace.store(true, ordering: .relaxed) }
      throw error
    }
  }

  private func newRoom(_ length: Int) throws(StoreError) -> (segment: Segment, offset: Int) {
    if active == nil { try activateEpoch() }
    let full = reserve.isSpent.load(ordering: .relaxed) ? min(reserve.floor, segmentSize) : fullLength
    guard let active, case let end = active.end.load(ordering: .relaxed), end + length <= full else {
      return (try roll(length), SegmentHeader.size)
    }
    if end + length > reserved { try grow(active, to: end + length) }
    return (active, end)
  }

  private func grow(_ segment: Segment, to needed: Int) throws(StoreError) {
    var target = reserved
    if reserve.isSpent.load(ordering: .relaxed) {
      target = needed + reserve.step
    } else {
      while target < needed { target *= 2 }
    }
    target = min(target, max(needed, fullLength))
    try allocate(segment.file, target)
    reserved = target
    environment.scheduler.schedule { [self] in keepReserve() }
  }

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

  private var longestEnd: Int { segments.withLock { $0 }.reduce(0) { max($0, $1.end.load(ordering: .relaxed)) } }

  /// Bytes to begin a segment and to write a manifest.
  var leastReserve: Int { min(Self.firstReservation, segmentSize) + reserve.step }

  /// Bytes for compaction to write a segment as well.
  private var reserveSize: Int {
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

  /// Writes zeros ahead of the frames: blocks that have been written sync faster than blocks that are only reserved.
  /// Done only for small frames that are synced, where the gain exceeds the cost.
  func zeroAhead(_ segment: Segment, from offset: Int, _ length: Int) throws(StoreError) {
    guard offset + length > zeroed, length < 1 << 16 else { return }
    let start = max(zeroed, offset)
    let stop = min(reserved, offset + length + Self.firstReservation)
    guard start < stop else { return }
    let zeros = [UInt8](repeating: 0, count: stop - start)
    do throws(FileError) { try segment.file.writeAll(zeros, at: start) } catch { throw poison(error) }
    zeroed = stop
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

  /// Notes that a whole frame has been written.
  func appended(_ segment: Segment, end: Int, sequence: CommitSequence) {
    let start = segment.end.load(ordering: .relaxed)
    let length = end - start
    appendedBytes.store(appendedBytes.load(ordering: .relaxed) &+ length, ordering: .relaxed)
    segment.end.store(end, ordering: .releasing)
    segment.lastSequence.store(sequence, ordering: .releasing)
    lastSequence = sequence
    tail.withLock { tail in
      tail.sequence = sequence
      tail.frame = start
    }
  }

  var watermark: Watermark {
    // Each is a lower bound by itself; they need not come from the same sync.
    Watermark(
      sequence: durableSequence.load(ordering: .acquiring),
      place: Place(packed: watermarkPlace.load(ordering: .acquiring)))
  }

  /// Where the log ends; nil while there is no commit. For the committer.
  var end: Place? {
    guard let last = active ?? recovered.last else { return nil }
    return Place(segment: last.id, offset: last.end.load(ordering: .relaxed))
  }
}
