import Synchronization

/// The log for its one writer: where the next frame goes, and how far the log is durable.
///
/// `room(for:)`, `append` and what they call belong to the committer, which calls them under its lock. The rest may be
/// called from any thread.
final class Log: @unchecked Sendable {
  let environment: Environment
  let directory: String
  let table: SegmentTable
  let manifestFile: ManifestFile
  let store: UInt128
  let segmentSize: Int
  let reserve: Reserve
  /// Whether the last commit that needed more space met none, or had to take it from the reserve.
  let isShortOfSpace = Atomic<Bool>(false)

  /// The manifest as it is on disk, or will be once the lock's present holder is done.
  let manifest: Lock<Manifest>
  /// All segments that hold rows, in order. Never held during input or output.
  let segments: Lock<[Segment]>
  /// The compacted segments that a checkpoint does not know, but for the lists of moves beside them.
  private let moveLists: Lock<MoveLists>
  private let prepared = Lock<PreparedFile?>(nil)
  private let tail: Lock<Tail>
  /// Whether somebody is syncing; the others wait for that.
  private let syncing = Monitor(false)
  private let failure = Lock<StoreError?>(nil)
  let hasFailed = Atomic<Bool>(false)
  private let watermarkPlace: Atomic<UInt64>
  let durableSequence: Atomic<UInt64>
  let syncCount = Atomic<Int>(0)
  /// Bytes of commits' frames since the store was opened.
  let appendedBytes = Atomic<Int>(0)
  /// Bytes of segments that compaction has written since.
  let compactedBytes = Atomic<Int>(0)
  var writtenBytes: Int { appendedBytes.load(ordering: .relaxed) + compactedBytes.load(ordering: .relaxed) }

  // The committer's own.
  private var active: Segment?
  /// The first segment of an epoch that the manifest speaks of already, until it is in use.
  private var begun: (PreparedFile, UInt32)?
  private var reserved = 0
  private var zeroed = 0
  private var segmentsBySlot: [Segment?] = []
  /// Without its segments once the first write has made them part of the log.
  private var recovered: RecoveredLog
  private let isTailRewritten = Lock(false)
  private(set) var lastSequence: UInt64

  static let firstReservation = 1 << 20

  /// What has been appended and not yet synced.
  private struct Tail {
    var segments: [Segment]
    var sequence: UInt64
  }

  /// What leads from the newest checkpoint to segments that have been compacted since.
  struct MoveLists {
    /// Compacted segments with a list.
    var segments: Set<UInt32> = []
    /// Whether anything may have been compacted since.
    var hasMoved = false
  }

  private struct PreparedFile {
    let id: UInt32
    let file: any File
    var reserved: Int
  }

  init(
    environment: Environment, directory: String, table: SegmentTable, manifest: Manifest, recovered: RecoveredLog
  ) {
    self.environment = environment
    self.directory = directory
    self.table = table
    self.recovered = recovered
    manifestFile = ManifestFile(files: environment.files, directory: directory)
    store = manifest.store
    segmentSize = manifest.segmentSize
    reserve = Reserve(files: environment.files, directory: directory, segmentSize: segmentSize)
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

  /// For addresses that lead to it.
  private func enter(_ segment: Segment?, _ slots: Range<Int>) {
    while segmentsBySlot.count < slots.upperBound { segmentsBySlot.append(nil) }
    for slot in slots { segmentsBySlot[slot] = segment }
  }

  private func enter(_ segment: Segment) { enter(segment, segment.slots) }

  /// The segment an address lies in. For the committer.
  @inline(__always)
  func segment(_ address: UInt64) -> Segment { segment(slot: table.slot(address)) }

  @inline(__always)
  func segment(slot: Int) -> Segment {
    guard let segment = segmentsBySlot[slot] else { preconditionFailure("no segment has this address") }
    return segment
  }

  /// The same for an older version, which a checkpoint that lies may lead to where no segment is left.
  @inline(__always)
  func segment(ifAnyAt address: UInt64) -> Segment? {
    let slot = table.slot(address)
    return slot < segmentsBySlot.count ? segmentsBySlot[slot] : nil
  }

  // MARK: Failure

  /// The first failed write or sync ends all writing; nothing is retried, because the kernel reports a lost page once.
  func poison(_ error: FileError) -> StoreError {
    let cause = StoreError(error)
    return failure.withLock { failure in
      if let failure { return failure }
      let sticky = StoreError(
        .poisoned, "\(cause.message); the store has to be reopened before it is written again",
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

  // MARK: Appending

  /// Where a frame of `length` bytes will go. All blocks it needs are reserved on return.
  /// Throws `noSpace` and the like and changes nothing, or `poisoned`.
  ///
  /// - Parameter freesSpace: whether it may use the reserve.
  func room(for length: Int, freesSpace: Bool) throws(StoreError) -> (segment: Segment, offset: Int) {
    if let active, case let end = active.end.load(ordering: .relaxed), end + length <= reserved { return (active, end) }
    do throws(StoreError) {
      if freesSpace {
        defer { isShortOfSpace.store(reserve.isSpent.load(ordering: .relaxed), ordering: .relaxed) }
        return try reserve.lend(to: .deletion(length)) { () throws(StoreError) in try newRoom(length) }
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
    guard let active, case let end = active.end.load(ordering: .relaxed), end + length <= segmentSize else {
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
    target = min(target, segmentSize)
    try allocate(segment.file, target)
    reserved = target
    environment.scheduler.schedule { [self] in keepReserve() }
  }

  private func allocate(_ file: any File, _ size: Int) throws(StoreError) {
    try attempt { () throws(FileError) in try file.reserve(size) }
  }

  // MARK: The reserve

  /// Enough to begin a segment, and for a manifest.
  private var leastReserve: Int { min(Self.firstReservation, segmentSize) + reserve.step }

  /// Enough for compaction to write a segment, too.
  private var reserveSize: Int {
    let length = segments.withLock { $0 }.reduce(0) { $0 + $1.end.load(ordering: .relaxed) }
    return length < leastReserve ? 0 : leastReserve + min(segmentSize, length / 4)
  }

  /// For who takes space and frees none.
  private func requireReserve() throws(StoreError) {
    guard reserve.isSpent.load(ordering: .relaxed) else { return }
    try attempt { () throws(FileError) in try reserve.hold(reserveSize) }
  }

  /// Not in the way of a commit: it may wait for the disk.
  func keepReserve() {
    // Without it the disk is full a little earlier.
    do throws(FileError) { try reserve.hold(reserveSize) } catch {}
  }

  /// Blocks written before sync faster than blocks merely reserved; worth it when every small frame is synced.
  func zeroAhead(_ segment: Segment, from offset: Int, _ length: Int) throws(StoreError) {
    guard offset + length > zeroed, length < 1 << 16 else { return }
    let start = max(zeroed, offset)
    let stop = min(reserved, offset + length + Self.firstReservation)
    guard start < stop else { return }
    let zeros = [UInt8](repeating: 0, count: stop - start)
    do throws(FileError) { try segment.file.writeAll(zeros, at: start) } catch { throw poison(error) }
    zeroed = stop
  }

  /// Writes part of a frame. A failure poisons, unless it is one of compaction, which nothing depends on yet.
  func write(_ segment: Segment, _ bytes: UnsafeRawBufferPointer, at offset: Int) throws(StoreError) {
    do throws(FileError) {
      try unsafe segment.file.write(bytes, at: offset)
    } catch {
      throw segment.isCompacted ? StoreError(error) : poison(error)
    }
  }

  /// A whole frame has been written.
  func appended(_ segment: Segment, end: Int, sequence: UInt64) {
    let length = end - segment.end.load(ordering: .relaxed)
    appendedBytes.store(appendedBytes.load(ordering: .relaxed) &+ length, ordering: .relaxed)
    segment.end.store(end, ordering: .releasing)
    segment.lastSequence.store(sequence, ordering: .releasing)
    lastSequence = sequence
    tail.withLock { $0.sequence = sequence }
  }

  var watermark: Watermark {
    // Each is a lower bound by itself; they need not be of the same sync.
    Watermark(
      sequence: durableSequence.load(ordering: .acquiring),
      place: Place(packed: watermarkPlace.load(ordering: .acquiring)))
  }

  /// Where the log ends; nil while there is no commit. For the committer.
  var end: Place? {
    guard let last = active ?? recovered.last else { return nil }
    return Place(segment: last.id, offset: last.end.load(ordering: .relaxed))
  }

  // MARK: Features

  /// Names a feature in the manifest, unless it does so. For the holder of the commit lock.
  func use(_ feature: UInt64) throws(StoreError) {
    _ = try currentEpoch()
    try manifest.withLock { (manifest) throws(StoreError) in
      guard manifest.features & feature == 0 else { return }
      var changed = manifest
      changed.features |= feature
      try replace(&manifest, changed) { () throws(FileError) in }
    }
  }

  /// Recovery has to know of a keyspace that it may retain so many older versions, before it meets the records.
  func note(_ keyspace: UInt32, oldVersions: UInt32) {
    manifest.withLock { manifest in
      guard let index = manifest.keyspaces.firstIndex(where: { $0.id == keyspace }) else { return }
      manifest.keyspaces[index].oldVersions = max(manifest.keyspaces[index].oldVersions, oldVersions)
    }
  }

  // MARK: Checkpoints

  /// A keyspace has been dropped by a commit. It stays listed until all checkpoints are newer than that.
  func forget(_ keyspace: UInt32, droppedAt sequence: UInt64) {
    manifest.withLock { manifest in
      guard let index = manifest.keyspaces.firstIndex(where: { $0.id == keyspace }) else { return }
      manifest.keyspaces[index].droppedAt = sequence
    }
  }

  /// Lists a checkpoint that is durable in the manifest, beside the one before it if that is of use still. Those before
  /// that are removed, and lists of moves with them.
  func publish(_ checkpoint: Manifest.Checkpoint) throws(StoreError) {
    // What has been compacted since the one before is found by its lists only.
    let hasMoved = moveLists.withLock { $0.hasMoved }
    try replaceCheckpoints { $0.suffix(hasMoved ? 0 : 1) + [checkpoint] }
    let lists = moveLists.withLock { lists in
      defer { lists = MoveLists() }
      return lists.segments
    }
    for segment in lists.sorted() { remove(MoveList.fileName(segment)) }
  }

  private func replaceCheckpoints(
    _ change: ([Manifest.Checkpoint]) -> [Manifest.Checkpoint], segments: ((inout [Manifest.Segment]) -> Void)? = nil
  ) throws(StoreError) {
    let dropped = try manifest.withLock { (manifest) throws(StoreError) in
      var changed = manifest
      changed.checkpoints = change(manifest.checkpoints)
      segments?(&changed.segments)
      // No checkpoint has those that were dropped before the oldest of them.
      let oldest = changed.checkpoints.first?.sequence ?? durableSequence.load(ordering: .acquiring)
      changed.keyspaces.removeAll { $0.droppedAt <= oldest }
      let kept = Set(changed.checkpoints.map(\.id))
      let dropped = manifest.checkpoints.filter { !kept.contains($0.id) }
      try replace(&manifest, changed) { () throws(FileError) in }
      return dropped
    }
    for checkpoint in dropped { removeCheckpoint(checkpoint.id) }
  }

  private func remove(_ name: String) {
    // One that stays is not listed, and no harm.
    do throws(FileError) { try environment.files.remove("\(directory)/\(name)") } catch {}
  }

  func removeCheckpoint(_ id: UInt32) { remove(CheckpointTables.fileName(id)) }

  /// The newest checkpoint that is listed.
  var newestCheckpoint: Manifest.Checkpoint? { manifest.withLock { $0.checkpoints.last } }

  // MARK: Compaction

  /// The segments that compaction may take: durable and complete.
  var compactable: [Segment] {
    let sealed = manifest.withLock { manifest in
      Set(manifest.segments.lazy.filter { $0.end != nil }.map(\.id))
    }
    return segments.withLock { $0 }.filter { segment in
      sealed.contains(segment.id) && !segment.isQuarantined.load(ordering: .relaxed)
    }
  }

  /// Goes on to the next segment, so that the present one can be compacted. `between` calls its body between two
  /// commits.
  func sealActive(_ between: (() throws(StoreError) -> Segment?) throws(StoreError) -> Segment?) throws(StoreError) {
    func filled() -> Segment? {
      guard let active, active.end.load(ordering: .relaxed) > SegmentHeader.size else { return nil }
      return active
    }
    guard try between({ filled() }) != nil else { return }
    try reserve.lend(to: .compaction, prepareNow)
    let full = try between { () throws(StoreError) -> Segment? in
      guard let full = filled() else { return nil }
      _ = try roll(0, schedulesSeal: false)
      return full
    }
    guard let full else { return }
    // Those before it first, whose turn may not have come yet.
    let open = manifest.withLock { manifest in Set(manifest.segments.lazy.filter { $0.end == nil }.map(\.id)) }
    for segment in segments.withLock({ $0 }) where segment.id <= full.id && open.contains(segment.id) { seal(segment) }
    environment.scheduler.schedule { [self] in prepare() }
  }

  /// The epoch that this opening writes in, begun if it hasn't been. For the holder of the commit lock.
  func currentEpoch() throws(StoreError) -> UInt32 {
    if active == nil { try reserve.lend(to: .compaction, activateEpoch) }
    guard let active else { preconditionFailure("an epoch without a segment") }
    return active.epoch
  }

  /// A file for compaction to write, with room for `size` bytes.
  func createCompacted(
    epoch: UInt32, size: Int, baseSequence: UInt64, compactedSequence: UInt64
  ) throws(StoreError) -> (header: SegmentHeader, file: any File, mapping: any Mapping) {
    let id = manifest.withLock { manifest in
      defer { manifest.nextSegment += 1 }
      return manifest.nextSegment
    }
    guard id <= Format.maximumID else { throw Self.usedUp }
    let path = "\(directory)/\(Segment.fileName(id))"
    let header = SegmentHeader(
      kind: .compacted, store: store, id: id, epoch: epoch, baseSequence: baseSequence, created: environment.clock(),
      watermark: watermark, recoveredEnd: Place(segment: 0, offset: 0), compactedSequence: compactedSequence)
    let file = try reserve.lend(to: .compaction) { () throws(StoreError) in
      try attempt { () throws(FileError) in try create(path, size) }
    }
    do throws(FileError) {
      let mapping = try file.map(size)
      try file.writeAll(header.encoded(), at: 0)
      return (header, file, mapping)
    } catch {
      discard(file, path)
      throw StoreError(error)
    }
  }

  /// Gives addresses to a segment that compaction writes; none leads to it yet. For the holder of the commit lock, like
  /// `release`.
  func enterCompacted(_ created: (header: SegmentHeader, file: any File, mapping: any Mapping)) -> Segment {
    let header = created.header
    let slots = table.enter(created.mapping, id: header.id, seed: header.seed, baseSequence: header.baseSequence)
    let segment = Segment(
      id: header.id, epoch: header.epoch, path: "\(directory)/\(Segment.fileName(header.id))", file: created.file,
      mapping: created.mapping, seed: header.seed, baseSequence: header.baseSequence, slots: slots,
      end: SegmentHeader.size, lastSequence: 0, isCompacted: true)
    enter(segment)
    return segment
  }

  /// Removes what compaction has written of a segment that will not be listed.
  func removeFiles(of segment: Segment) {
    remove(Segment.fileName(segment.id))
    remove(MoveList.fileName(segment.id))
  }

  /// Makes a segment that compaction has written durable, and the list of what has moved there.
  func harden(_ segment: Segment, _ list: MoveList?) throws(StoreError) {
    try attempt { () throws(FileError) in
      try segment.file.truncate(segment.end.load(ordering: .relaxed))
      try segment.file.sync()
    }
    try list.map(write)
    try attempt { () throws(FileError) in try environment.files.syncDirectory(directory) }
  }

  private func write(_ list: MoveList) throws(StoreError) {
    let bytes = list.encoded()
    let path = "\(directory)/\(MoveList.fileName(list.segment))"
    let file = try reserve.lend(to: .compaction) { () throws(StoreError) in
      try attempt { () throws(FileError) in try create(path, bytes.count) }
    }
    defer { file.close() }
    try attempt { () throws(FileError) in
      try file.writeAll(bytes, at: 0)
      try file.sync()
    }
  }

  /// Whether the newest checkpoint needs a list to lead to a segment.
  func hasMoves(_ segment: UInt32) -> Bool { moveLists.withLock { $0.segments.contains(segment) } }

  func moveList(_ segment: UInt32) throws(StoreError) -> MoveList {
    let name = MoveList.fileName(segment)
    let bytes = try attempt { () throws(FileError) in
      let file = try environment.files.open("\(directory)/\(name)", .read)
      defer { file.close() }
      return try file.readAll()
    }
    guard let list = unsafe bytes.withUnsafeBytes({ unsafe MoveList($0) }) else {
      throw StoreError(.damaged, "\(name) is damaged")
    }
    return list
  }

  /// Whether the manifest speaks of a keyspace.
  func lists(keyspace: UInt32) -> Bool { manifest.withLock { $0.keyspaces.contains { $0.id == keyspace } } }

  /// The segments with values that may be compressed with a dictionary, by id.
  func segmentsUsing(dictionary: UInt32) -> [UInt32] {
    segments.withLock { $0 }.filter { segment in segment.dictionaries.withLock { $0.contains(dictionary) } }
      .map(\.id).sorted()
  }

  /// No reader has an address any more that leads to a segment.
  func release(_ segment: Segment) {
    enter(nil, segment.slots)
    table.leave(segment.slots)
    segment.file.close()
  }

  /// Puts what compaction has written, which is durable, in the place of what it was written from: in one step.
  func replace(_ inputs: [Segment], by output: Segment?, keepsCheckpoint: Bool) throws(StoreError) {
    let ids = Set(inputs.map(\.id))
    try reserve.lend(to: .compaction) { () throws(StoreError) in
      // A checkpoint before the newest would not find what has gone.
      try replaceCheckpoints({ keepsCheckpoint ? $0.suffix(1) : [] }) { entries in
        entries.removeAll { ids.contains($0.id) }
        guard let output else { return }
        let entry = Manifest.Segment(
          id: output.id, epoch: output.epoch, end: output.end.load(ordering: .relaxed),
          baseSequence: output.baseSequence, lastSequence: output.purgedSequence.load(ordering: .relaxed))
        entries.insert(entry, at: entries.firstIndex { $0.id > output.id } ?? entries.endIndex)
      }
    }
    moveLists.withLock { lists in
      lists.hasMoved = true
      if keepsCheckpoint, let output { lists.segments.insert(output.id) }
    }
    if let output { list(output) }
  }

  private func list(_ segment: Segment) {
    segments.withLock { segments in
      segments.insert(segment, at: segments.firstIndex { $0.id > segment.id } ?? segments.endIndex)
    }
  }

  /// Removes segments from the log that no row leads to any more, and that the manifest does not list. Readers that are
  /// at them go on.
  func retire(_ inputs: [Segment]) {
    let ids = Set(inputs.map(\.id))
    segments.withLock { $0.removeAll { ids.contains($0.id) } }
    tail.withLock { $0.segments.removeAll { ids.contains($0.id) } }
    // Whoever is syncing may have them at hand.
    syncing.wait { $0 ? nil : () }
    for segment in inputs { remove(Segment.fileName(segment.id)) }
    let lists = moveLists.withLock { lists in
      defer { lists.segments.subtract(ids) }
      return lists.segments.intersection(ids)
    }
    for segment in lists.sorted() { remove(MoveList.fileName(segment)) }
    do throws(FileError) { try environment.files.syncDirectory(directory) } catch { _ = poison(error) }
  }

  // MARK: Segments

  /// The first write after opening: what recovery found is sealed as it is and a new segment begins behind a gap in the
  /// sequences, so that nothing of an earlier life can be taken for part of this one.
  private func activateEpoch() throws(StoreError) {
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
    }
    for id in recovered.dropped.sorted() { remove(Segment.fileName(id)) }
    for id in recovered.uselessCheckpoints.sorted() { removeCheckpoint(id) }
    // Not before the manifest that says nothing of them is durable.
    for name in recovered.unlisted where name != Segment.fileName(begun.0.id) { remove(name) }
    return begun
  }

  /// What recovery found and is not known to be durable is written once more before it is synced for the first time:
  /// after a failed sync the kernel takes pages for clean that never reached the disk, and no later sync, of this process
  /// or another, says so.
  private func rewriteTail() throws(FileError) {
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

  private static var usedUp: StoreError { StoreError(.damaged, "the store has used up its numbers") }

  /// Bytes behind the end of the log are kept as they were, under a name of their own.
  private func keepAside(_ discarded: RecoveredLog.Discarded) throws(StoreError) {
    let path = "\(directory)/\(Segment.discardedName(discarded.place.segment, discarded.place.offset))"
    // What an attempt that was cut short left is not all of it; the bytes are still in the log.
    let file = try attempt { () throws(FileError) in try create(path, discarded.length) }
    defer { file.close() }
    do throws(FileError) {
      try unsafe file.write(
        UnsafeRawBufferPointer(start: discarded.mapping.base + discarded.place.offset, count: discarded.length), at: 0)
      try file.sync()
      try environment.files.syncDirectory(directory)
    } catch {
      throw poison(error)
    }
  }

  /// An empty file of a size, in the place of one that may be there. A failure leaves none.
  private func create(_ path: String, _ size: Int) throws(FileError) -> any File {
    do throws(FileError) {
      try environment.files.remove(path)
    } catch {
      guard error.cause == .notFound else { throw error }
    }
    let file = try environment.files.open(path, .create)
    do throws(FileError) {
      try file.reserve(size)
    } catch {
      discard(file, path)
      throw error
    }
    return file
  }

  private func discard(_ file: any File, _ path: String) {
    file.close()
    do throws(FileError) { try environment.files.remove(path) } catch {}
  }

  /// Creates the next segment and replaces the manifest by `changed`, which lists it then.
  private func addSegment(to manifest: inout Manifest, _ changed: Manifest) throws(StoreError) -> PreparedFile {
    let size = reserve.isSpent.load(ordering: .relaxed) ? reserve.step : min(Self.firstReservation, segmentSize)
    let id = manifest.nextSegment
    guard id <= Format.maximumID else { throw Self.usedUp }
    let path = "\(directory)/\(Segment.fileName(id))"
    // One that is there is left over from a crash before the manifest knew it.
    let file = try attempt { () throws(FileError) in try create(path, size) }
    var changed = changed
    changed.segments.append(Manifest.Segment(id: id))
    changed.nextSegment = id + 1
    do throws(StoreError) {
      try replace(&manifest, changed) { () throws(FileError) in
        try file.sync()
        try environment.files.syncDirectory(directory)
      }
    } catch {
      if error.code != .poisoned { discard(file, path) }
      throw error
    }
    return PreparedFile(id: id, file: file, reserved: size)
  }

  /// Replaces the manifest by the next generation. What it is to speak of is made durable by `harden`, once it is sure
  /// that there is space for it. A failure before that changes nothing; one behind it poisons.
  private func replace(
    _ manifest: inout Manifest, _ changed: Manifest, harden: () throws(FileError) -> Void
  ) throws(StoreError) {
    var changed = changed
    changed.generation += 1
    changed.highestSequence = max(changed.highestSequence, durableSequence.load(ordering: .acquiring))
    let written = changed.durable(upTo: changed.highestSequence)
    let staged = try attempt { () throws(FileError) in try manifestFile.stage(written) }
    do throws(FileError) {
      try harden()
      try manifestFile.publish(staged, written)
    } catch {
      throw poison(error)
    }
    manifest = changed
  }

  private func attempt<R>(_ body: () throws(FileError) -> R) throws(StoreError) -> R {
    do throws(FileError) { return try body() } catch { throw StoreError(error) }
  }

  /// Makes a prepared file the active segment.
  @discardableResult
  private func activate(
    _ next: PreparedFile, epoch: UInt32, length: Int, recoveredEnd: Place
  ) throws(StoreError) -> Segment {
    let needed = SegmentHeader.size + length
    if needed > next.reserved { try allocate(next.file, needed) }
    let mapping = try attempt { () throws(FileError) in try next.file.map(max(segmentSize, needed)) }
    reserved = max(needed, next.reserved)
    zeroed = 0
    let header = SegmentHeader(
      store: store, id: next.id, epoch: epoch, baseSequence: lastSequence, created: environment.clock(),
      watermark: watermark, recoveredEnd: recoveredEnd)
    do throws(FileError) { try next.file.writeAll(header.encoded(), at: 0) } catch { throw poison(error) }
    let slots = table.enter(mapping, id: next.id, seed: header.seed, baseSequence: lastSequence)
    let segment = Segment(
      id: next.id, epoch: epoch, path: "\(directory)/\(Segment.fileName(next.id))", file: next.file, mapping: mapping,
      seed: header.seed, baseSequence: lastSequence, slots: slots, end: SegmentHeader.size, lastSequence: lastSequence)
    enter(segment)
    list(segment)
    tail.withLock { $0.segments.append(segment) }
    active = segment
    return segment
  }

  private func roll(_ length: Int, schedulesSeal: Bool = true) throws(StoreError) -> Segment {
    if prepared.withLock({ $0 == nil }) {
      // The background has fallen behind, and so perhaps has the reserve, which a disk that fills up this fast needs.
      if !reserve.isSpent.load(ordering: .relaxed) { keepReserve() }
      try prepareNow()
    }
    guard let next = prepared.withLock({ $0 }), let full = active else { preconditionFailure("no segment to roll to") }
    let segment = try activate(next, epoch: full.epoch, length: length, recoveredEnd: Place(segment: 0, offset: 0))
    prepared.withLock { $0 = nil }
    if schedulesSeal {
      environment.scheduler.schedule { [self] in
        seal(full)
        prepare()
      }
    }
    return segment
  }

  /// In the background: the next segment exists before it is needed. Where there is no space the writer that needs it
  /// will say so.
  private func prepare() {
    do throws(StoreError) {
      try checkHealth()
      try requireReserve()
      try prepareNow()
    } catch {}
    keepReserve()
  }

  private func prepareNow() throws(StoreError) {
    try manifest.withLock { (manifest) throws(StoreError) in
      guard prepared.withLock({ $0 == nil }) else { return }
      let next = try addSegment(to: &manifest, manifest)
      prepared.withLock { $0 = next }
    }
  }

  /// In the background: a full segment is synced, trimmed, and known to the manifest as sealed with the next
  /// replacement.
  private func seal(_ segment: Segment) {
    do throws(StoreError) {
      // A segment without a commit has a header all the same.
      let end = Place(segment: segment.id, offset: segment.end.load(ordering: .acquiring))
      try sync(upTo: segment.lastSequence.load(ordering: .acquiring), through: end)
    } catch {
      return
    }
    // What a failed trim leaves is zeros.
    do throws(FileError) { try segment.file.truncate(segment.end.load(ordering: .acquiring)) } catch {}
    manifest.withLock { $0.seal(segment) }
  }

  // MARK: Durability

  /// Returns once every commit up to `sequence` is durable. One sync serves all who wait: the first in takes along
  /// whatever has been appended by then, and the others find it done.
  ///
  /// - Parameter place: what lies before it is durable then too, whether it belongs to a commit or not.
  func sync(upTo sequence: UInt64, through place: Place? = nil) throws(StoreError) {
    guard !isDurable(sequence, place) else { return }
    let leads = syncing.wait { (isSyncing) -> Bool? in
      if isDurable(sequence, place) { return false }
      if isSyncing { return nil }
      isSyncing = true
      return true
    }
    guard leads else { return }
    defer { syncing.withLock { $0 = false } }
    try syncTail()
  }

  private func isDurable(_ sequence: UInt64, _ place: Place?) -> Bool {
    durableSequence.load(ordering: .acquiring) >= sequence
      && place.map { watermarkPlace.load(ordering: .acquiring) >= $0.packed } ?? true
  }

  /// Makes whatever has been appended by now durable.
  private func syncTail() throws(StoreError) {
    try checkHealth()
    let (segments, ends, last) = tail.withLock { tail in
      (tail.segments, tail.segments.map { $0.end.load(ordering: .acquiring) }, tail.sequence)
    }
    do throws(FileError) {
      try rewriteTail()
      for segment in segments {
        syncCount.add(1, ordering: .relaxed)
        try segment.file.sync()
      }
    } catch {
      throw poison(error)
    }
    if let newest = segments.last, let end = ends.last {
      watermarkPlace.store(Place(segment: newest.id, offset: end).packed, ordering: .releasing)
    }
    durableSequence.store(last, ordering: .releasing)
    tail.withLock { tail in
      for (segment, end) in zip(segments, ends)
      where segment !== tail.segments.last && segment.end.load(ordering: .acquiring) == end {
        tail.segments.removeAll { $0 === segment }
      }
    }
  }

  /// After the committer's last commit. Space for more is given back, but for what deletions need to begin with, should
  /// the disk be full when the store is opened again; that it isn't always does no harm.
  ///
  /// - Parameter isReadOnly: whether all of it belongs to somebody else, who may be writing.
  func close(isReadOnly: Bool) {
    syncing.wait { $0 ? nil : () }
    let next = prepared.withLock { $0?.file }
    if !isReadOnly, !hasFailed.load(ordering: .acquiring) {
      do throws(FileError) { try active?.file.truncate(active?.end.load(ordering: .relaxed) ?? 0) } catch {}
      do throws(FileError) { try next?.truncate(0) } catch {}
      do throws(FileError) { try reserve.shrink(to: leastReserve) } catch {}
    }
    next?.close()
    for segment in segments.withLock({ $0 }) { segment.file.close() }
  }
}

extension Manifest {
  fileprivate mutating func seal(_ segment: Cairn.Segment) {
    guard let index = segments.firstIndex(where: { $0.id == segment.id }) else { return }
    segments[index] = Segment(
      id: segment.id, epoch: segment.epoch, end: segment.end.load(ordering: .acquiring),
      baseSequence: segment.baseSequence, lastSequence: segment.lastSequence.load(ordering: .acquiring))
    // One without a commit names the gap that it begins behind.
    if segment.end.load(ordering: .acquiring) > SegmentHeader.size {
      chainSequence = max(chainSequence, segments[index].lastSequence)
    }
  }

  /// Without the keyspaces whose definitions are not durable: those are known from the log alone.
  fileprivate func durable(upTo sequence: UInt64) -> Manifest {
    var durable = self
    durable.keyspaces.removeAll { $0.definedAt > sequence }
    return durable
  }
}
