import Synchronization

/// The end of the log, where its one writer appends. The commit lock owns it.
struct LogWriter: ~Copyable {
  let shared: Log
  private(set) var active: Segment?
  /// The first segment of an epoch that the manifest already lists, until it is active.
  var begun: (PreparedSegment, UInt32)?
  private var reserved = 0
  private var zeroed = 0
  private var segmentsByExtent: [Segment?] = []
  /// What recovery found; its segments are removed once the first write has made them part of the log.
  var recovered: RecoveredLog
  var lastSequence: CommitSequence

  init(_ shared: Log, _ recovered: RecoveredLog) {
    self.shared = shared
    self.recovered = recovered
    lastSequence = recovered.lastSequence
    for segment in recovered.segments { enter(segment) }
  }

  // MARK: Addresses

  /// Sets the segment to which addresses in these extents refer.
  mutating func enter(_ segment: Segment?, _ extents: Range<Int>) {
    while segmentsByExtent.count < extents.upperBound { segmentsByExtent.append(nil) }
    for extent in extents { segmentsByExtent[extent] = segment }
  }

  mutating func enter(_ segment: Segment) { enter(segment, segment.extents) }

  /// The segment an address lies in.
  @inline(__always)
  func segment(_ address: LogAddress) -> Segment { segment(extent: shared.table.extent(address)) }

  @inline(__always)
  func segment(extent: Int) -> Segment {
    guard let segment = segmentsByExtent[extent] else { fatalError("no segment has this address") }
    return segment
  }

  /// The segment of an older version: a wrong checkpoint may hold an address where there is no segment any more.
  @inline(__always)
  func segment(ifAnyAt address: LogAddress) -> Segment? {
    let extent = shared.table.extent(address)
    return extent < segmentsByExtent.count ? segmentsByExtent[extent] : nil
  }

  // MARK: Appending

  /// Where a frame of `length` bytes will be written. All blocks that it needs are reserved on return.
  ///
  /// - Throws: `noSpace` and the like, which change nothing, or `poisoned`.
  ///
  mutating func room(for length: Int, _ effect: SpaceEffect) throws(StoreError) -> (segment: Segment, offset: Int) {
    // What is reserved while the reserve is used up is for commits that free space.
    let mustRefillReserve = effect == .takes && shared.reserve.isSpent.load(ordering: .relaxed)
    if !mustRefillReserve, let active, case let end = active.end.load(ordering: .relaxed), end + length <= reserved {
      return (active, end)
    }
    do throws(StoreError) {
      if effect != .takes {
        defer { shared.isShortOfSpace.store(shared.reserve.isSpent.load(ordering: .relaxed), ordering: .relaxed) }
        let left =
          effect == .frees
          ? shared.reserve.floor : max(shared.reserve.floor, min(shared.reserveSize / 2, shared.longestEnd))
        return try shared.reserve.lend(to: .commit(length, leaving: left)) { () throws(StoreError) in
          try newRoom(length)
        }
      }
      try shared.requireReserve()
      defer { shared.isShortOfSpace.store(false, ordering: .relaxed) }
      return try newRoom(length)
    } catch {
      if error.code == .noSpace { shared.isShortOfSpace.store(true, ordering: .relaxed) }
      throw error
    }
  }

  private mutating func newRoom(_ length: Int) throws(StoreError) -> (segment: Segment, offset: Int) {
    if active == nil { try activateEpoch() }
    let full =
      shared.reserve.isSpent.load(ordering: .relaxed)
      ? min(shared.reserve.floor, shared.segmentSize) : shared.fullLength
    guard let active, case let end = active.end.load(ordering: .relaxed), end + length <= full else {
      return (try roll(length), SegmentHeader.size)
    }
    if end + length > reserved { try grow(active, to: end + length) }
    return (active, end)
  }

  private mutating func grow(_ segment: Segment, to needed: Int) throws(StoreError) {
    var target = reserved
    if shared.reserve.isSpent.load(ordering: .relaxed) {
      target = needed + shared.reserve.step
    } else {
      while target < needed { target *= 2 }
    }
    target = min(target, max(needed, shared.fullLength))
    try StoreError.wrap { () throws(FileError) in try segment.file.reserve(target) }
    reserved = target
    shared.environment.scheduler.schedule { [shared] in shared.keepReserve() }
  }

  /// Writes zeros ahead of the frames: blocks that have been written sync faster than blocks that are only reserved.
  /// Done only for small frames that are synced, where the gain exceeds the cost.
  mutating func zeroAhead(_ segment: Segment, from offset: Int, _ length: Int) throws(StoreError) {
    guard offset + length > zeroed, length < 1 << 16 else { return }
    let start = max(zeroed, offset)
    let stop = min(reserved, offset + length + Log.firstReservation)
    guard start < stop else { return }
    let zeros = [UInt8](repeating: 0, count: stop - start)
    do throws(FileError) { try segment.file.writeAll(zeros, at: start) } catch { throw shared.failure.poison(error) }
    zeroed = stop
  }

  /// Notes that a whole frame has been written.
  mutating func appended(_ segment: Segment, end: Int, sequence: CommitSequence) {
    let start = segment.end.load(ordering: .relaxed)
    let length = end - start
    let appended = shared.counts.appendedBytes.load(ordering: .relaxed)
    shared.counts.appendedBytes.store(appended &+ length, ordering: .relaxed)
    segment.end.store(end, ordering: .releasing)
    segment.lastSequence.store(sequence, ordering: .releasing)
    lastSequence = sequence
    shared.syncs.note(sequence, at: start)
  }

  /// Where the log ends; nil while there is no commit.
  var end: Place? {
    guard let last = active ?? recovered.last else { return nil }
    return Place(segment: last.id, offset: last.end.load(ordering: .relaxed))
  }

  // MARK: Segments

  /// Makes a prepared file the active segment.
  @discardableResult
  mutating func activate(
    _ next: PreparedSegment, epoch: UInt32, length: Int, recoveredEnd: Place
  ) throws(StoreError) -> Segment {
    let needed = SegmentHeader.size + length
    let mapping = try StoreError.wrap { () throws(FileError) in
      if needed > next.reserved { try next.file.reserve(needed) }
      return try next.file.map(max(shared.segmentSize, needed))
    }
    reserved = max(needed, next.reserved)
    zeroed = 0
    let header = SegmentHeader(
      store: shared.store, id: next.id, epoch: epoch, baseSequence: lastSequence, created: shared.environment.clock(),
      watermark: shared.syncs.durable.watermark, recoveredEnd: recoveredEnd)
    do throws(FileError) { try next.file.writeAll(header.encoded(), at: 0) } catch {
      throw shared.failure.poison(error)
    }
    let extents = shared.table.enter(mapping, id: next.id, seed: header.seed, baseSequence: lastSequence)
    let segment = Segment(
      id: next.id, epoch: epoch, file: next.file, mapping: mapping,
      seed: header.seed, baseSequence: lastSequence, extents: extents, end: SegmentHeader.size,
      lastSequence: lastSequence)
    enter(segment)
    shared.list(segment)
    shared.syncs.begin(segment)
    active = segment
    return segment
  }

  mutating func roll(_ length: Int, schedulesSeal: Bool = true) throws(StoreError) -> Segment {
    if shared.manifest.prepared.withLock({ $0 == nil }) {
      // The background work is late, and so perhaps is the reserve, which is needed when a disk fills up this fast.
      if !shared.reserve.isSpent.load(ordering: .relaxed) { shared.keepReserve() }
      try shared.prepareNow()
    }
    guard let next = shared.manifest.prepared.withLock({ $0 }), let full = active else {
      fatalError("no segment to roll to")
    }
    let segment = try activate(next, epoch: full.epoch, length: length, recoveredEnd: Place(segment: 0, offset: 0))
    shared.manifest.prepared.withLock { $0 = nil }
    if schedulesSeal {
      shared.environment.scheduler.schedule { [shared] in
        shared.seal(full)
        shared.prepare()
      }
    }
    return segment
  }
}
