import Synchronization

/// Rebuilds the index from the log, and finds where the log ends.
///
/// The watermark tells a torn tail, which a crash leaves and which ends the log, from corruption, which is refused.
/// FORMAT.md, section 10. Changes nothing on disk.
struct Recovery: ~Copyable {
  private let files: any FileLayer
  private let directory: String
  private let manifest: Manifest
  private let isReadOnly: Bool
  /// The last commit to be read.
  private let lastWanted: UInt64
  private let progress: (@Sendable (RecoveryProgress) -> Bool)?
  private let table: SegmentTable
  private let index: Index

  private var log = RecoveredLog()
  /// What the next frame's sequence follows: the last commit, or the base of a segment that begins behind a gap.
  private var chain: UInt64 = 0
  private var report = RecoveryReport()
  private var replay: Replay
  private var hasEnded = false
  /// There are commits behind the last one to be read.
  private var isCut = false
  private var checkpoint: CheckpointTables?
  private var read = RecoveryProgress()
  private var nextReport = 0

  init(
    files: any FileLayer, directory: String, manifest: Manifest, options: StoreOptions, table: SegmentTable,
    index: Index
  ) {
    self.files = files
    self.directory = directory
    self.manifest = manifest
    isReadOnly = options.access == .readOnly
    lastWanted = options.upTo ?? .max
    progress = options.recoveryProgress
    self.table = table
    self.index = index
    replay = Replay(index: index)
  }

  consuming func run() throws(StoreError) -> (RecoveredLog, RecoveryReport) {
    try loadCheckpoint()
    for keyspace in manifest.keyspaces where keyspace.definedAt <= lastWanted {
      let image = checkpoint?.keyspaces.first { $0.id == keyspace.id }
      // One that the checkpoint should have and hasn't was dropped before it.
      if let checkpoint, image == nil, keyspace.definedAt <= checkpoint.sequence { continue }
      replay.enter(
        index.restore(
          keyspace.id, keyspace.name, isOrdered: keyspace.isOrdered, definedAt: keyspace.definedAt, from: image))
    }
    index.reserveKeyspaceIDs(below: manifest.nextKeyspace)
    let known = checkpoint?.place ?? Place(segment: 0, offset: 0)
    for entry in manifest.segments where entry.id >= known.segment {
      read.totalBytes += max(0, (entry.end ?? 0) - (entry.id == known.segment ? known.offset : 0))
    }
    for entry in manifest.segments { try read(entry) }
    try replay.finish()
    try checkEnd()
    enterDictionaries()

    if isCut, let last = log.segments.last {
      // What is behind the cut is durable and none of this log.
      log.watermark.sequence = min(log.watermark.sequence, log.lastSequence)
      log.watermark.place = min(
        log.watermark.place, Place(segment: last.id, offset: last.end.load(ordering: .relaxed)))
    }
    log.highestSequence = max(log.highestSequence, log.lastSequence, manifest.highestSequence)
    report.segments = log.segments.count
    report.rows = index.allKeyspaces.reduce(0) { $0 + $1.rowCount.load(ordering: .relaxed) }
    report.lastSequence = log.lastSequence
    report.watermark = log.watermark.sequence
    index.applying.store(log.lastSequence, ordering: .relaxed)
    index.published.store(log.lastSequence, ordering: .sequentiallyConsistent)
    return (log, report)
  }

  // MARK: Checkpoints

  /// Takes the newest checkpoint that is of use. Any mismatch, and it is ignored as a whole: the log is the truth.
  private mutating func loadCheckpoint() throws(StoreError) {
    for entry in manifest.checkpoints.reversed() where entry.sequence <= lastWanted {
      // Of no use or not, it was written when the log was durable up to there.
      note(Watermark(sequence: entry.sequence, place: entry.place))
      do throws(CheckpointTables.Problem) {
        let image = try CheckpointImage(entry, manifest, files: files, directory: directory, table: table)
        index.arena.adopt(image.memory, length: image.tables.nodesEnd)
        guard image.isSound(index.arena, manifest, table) else {
          index.arena.forget()
          throw CheckpointTables.Problem("its nodes make no sense")
        }
        checkpoint = image.tables
        report.checkpoint = entry.sequence
        log.lastSequence = entry.sequence
        return
      } catch {
        report.ignoredCheckpoints.append("\(CheckpointTables.fileName(entry.id)): \(error.text)")
      }
    }
  }

  // MARK: Segments

  private mutating func read(_ entry: Manifest.Segment) throws(StoreError) {
    let path = "\(directory)/\(Segment.fileName(entry.id))"
    let file: any File
    let mapping: any Mapping
    do throws(FileError) {
      file = try files.open(path, isReadOnly ? .read : .readWrite)
      let size = try file.size()
      // A writer may trim a segment that isn't sealed while it is being read, so that is copied.
      mapping =
        size == 0 || (isReadOnly && entry.end == nil) ? try CopiedFile(file, size) : try file.map(size)
    } catch {
      guard error.cause == .notFound else { throw StoreError(error) }
      if isCut {
        log.dropped.insert(entry.id)
        return
      }
      throw StoreError(.damaged, "segment \(entry.id) is missing", place: Place(segment: entry.id, offset: 0))
    }
    if isCut {
      file.close()
      drop(entry.id, mapping, from: 0)
      return
    }
    if let end = entry.end, mapping.length < end {
      throw StoreError(
        .damaged, "segment \(entry.id) has \(mapping.length) bytes of \(end)",
        place: Place(segment: entry.id, offset: mapping.length))
    }

    let bytes = unsafe UnsafeRawBufferPointer(start: mapping.base, count: mapping.length)
    switch unsafe SegmentHeader.read(bytes) {
    case .header(let header):
      guard header.id == entry.id, header.store == manifest.store, entry.epoch == 0 || header.epoch == entry.epoch,
        header.epoch <= manifest.epoch
      else {
        throw StoreError(
          .damaged, "segment \(entry.id) belongs elsewhere", place: Place(segment: entry.id, offset: 0))
      }
      try read(entry, header, file, mapping, path)
    case .newerFormat:
      throw StoreError(.newerFormat, "\(path) was written by a newer version")
    case .unused where entry.end == nil:
      file.close()
      searchWithoutHeader(mapping, entry)
      drop(entry.id, mapping, from: mapping.length)
      // Also where it would have been the first: what follows it would follow a hole.
      hasEnded = true
    case .unused, .invalid:
      guard entry.end == nil else {
        throw StoreError(.corrupted, "the segment's header is invalid", place: Place(segment: entry.id, offset: 0))
      }
      // The header may have been torn.
      file.close()
      searchWithoutHeader(mapping, entry)
      drop(entry.id, mapping, from: 0)
      hasEnded = true
    }
  }

  private mutating func read(
    _ entry: Manifest.Segment, _ header: SegmentHeader, _ file: any File, _ mapping: any Mapping, _ path: String
  ) throws(StoreError) {
    note(header.watermark)
    log.highestSequence = max(log.highestSequence, header.baseSequence)
    if let covered = checkpoint?.segments.first(where: { $0.id == entry.id }) {
      return try take(covered, entry, header, file, mapping, path)
    }
    let isNext =
      log.segments.isEmpty || header.baseSequence == chain
      || (header.epoch > (log.segments.last?.epoch ?? 0) && header.baseSequence > chain)
    if hasEnded || !isNext {
      guard entry.end == nil else {
        throw StoreError(
          .corrupted, "segment \(entry.id) does not continue the log", place: Place(segment: entry.id, offset: 0))
      }
      hasEnded = true
      searchBehindEnd(mapping, header.seed, header.baseSequence, from: SegmentHeader.size)
      file.close()
      drop(entry.id, mapping, from: 0)
      return
    }

    if let checkpoint { table.skip(to: checkpoint.slotCount) }
    let segment = enter(header, file, mapping, path)
    chain = header.baseSequence
    try readFrames(segment, entry, from: SegmentHeader.size)
  }

  private mutating func enter(
    _ header: SegmentHeader, _ file: any File, _ mapping: any Mapping, _ path: String
  ) -> Segment {
    let slot = table.enter(mapping, id: header.id, seed: header.seed, baseSequence: header.baseSequence)
    let segment = Segment(
      id: header.id, epoch: header.epoch, path: path, file: file, mapping: mapping, seed: header.seed,
      baseSequence: header.baseSequence, slot: slot, end: SegmentHeader.size, lastSequence: header.baseSequence)
    replay.enter(segment)
    log.segments.append(segment)
    return segment
  }

  /// A segment that the checkpoint knows: what it has is not read again.
  private mutating func take(
    _ covered: CheckpointTables.Segment, _ entry: Manifest.Segment, _ header: SegmentHeader, _ file: any File,
    _ mapping: any Mapping, _ path: String
  ) throws(StoreError) {
    guard header.epoch == covered.epoch, mapping.length >= covered.end else {
      throw StoreError(
        .damaged, "segment \(entry.id) has \(mapping.length) bytes of \(covered.end)",
        place: Place(segment: entry.id, offset: mapping.length))
    }
    table.skip(to: covered.slot)
    let segment = enter(header, file, mapping, path)
    let live = checkpoint?.keyspaces.flatMap(\.live).filter { $0.slot == covered.slot } ?? []
    segment.liveBytes.store(live.reduce(0) { $0 + $1.bytes }, ordering: .relaxed)
    chain = covered.lastSequence
    if checkpoint?.place.segment == entry.id {
      try readFrames(segment, entry, from: covered.end)
    } else {
      close(segment, at: covered.end)
      if entry.end == nil { log.unsealed.insert(segment.id) }
    }
  }

  private func close(_ segment: Segment, at end: Int) {
    segment.end.store(end, ordering: .relaxed)
    segment.lastSequence.store(chain, ordering: .relaxed)
    table.limit(slot: segment.slot, to: end)
  }

  /// Reads the frames of a segment and, if it isn't sealed, looks at what is behind them.
  private mutating func readFrames(
    _ segment: Segment, _ entry: Manifest.Segment, from start: Int
  ) throws(StoreError) {
    let mapping = segment.mapping
    let end = try readFrames(segment, from: start, upTo: entry.end ?? mapping.length)
    report.replayedBytes += end - start
    close(segment, at: end)
    guard entry.end == nil || isCut else { return }

    log.unsealed.insert(segment.id)
    let rest = lastNonzero(mapping, from: end)
    if rest > end {
      hasEnded = true
      searchBehindEnd(mapping, segment.seed, segment.baseSequence, from: end + 8)
      discard(Place(segment: segment.id, offset: end), rest - end, mapping)
    }
  }

  /// Applies the frames of a segment; returns where they end.
  private mutating func readFrames(_ segment: Segment, from start: Int, upTo limit: Int) throws(StoreError) -> Int {
    var offset = start
    while offset < limit {
      let frame = unsafe FrameView(
        segment.mapping.base + offset, available: limit - offset, offset: offset, seed: segment.seed,
        baseSequence: segment.baseSequence)
      guard let frame, frame.header.sequence == chain + 1 else { break }
      guard frame.header.sequence <= lastWanted else {
        isCut = true
        break
      }
      chain = frame.header.sequence
      log.lastSequence = chain
      note(frame.header.watermark)
      report.commits += 1
      try frame.forEachRecord { (record, offset) throws(StoreError) in try apply(record, segment, offset) }
      offset += frame.header.length
      try note(read: frame.header.length)
    }
    let isSealed = manifest.segments.contains { $0.id == segment.id && $0.end != nil }
    if isSealed, !isCut, offset != limit {
      throw StoreError(
        .corrupted, "a frame that was durable is invalid", place: Place(segment: segment.id, offset: offset))
    }
    return offset
  }

  private mutating func note(read bytes: Int) throws(StoreError) {
    read.bytes += bytes
    read.totalBytes = max(read.totalBytes, read.bytes)
    guard let progress, read.bytes >= nextReport else { return }
    nextReport = read.bytes + 8 << 20
    guard progress(read) else { throw StoreError(.cancelled, "opening was cancelled") }
  }

  // MARK: Rows

  private mutating func apply(_ record: RecordView, _ segment: Segment, _ offset: Int) throws(StoreError) {
    report.records += 1
    let header = record.header
    if header.kind == .keyspaceDefinition {
      guard let order = unsafe record.stored.first, order <= 1,
        let name = unsafe String(validating: record.key, as: UTF8.self)
      else {
        throw StoreError(
          .damaged, "a keyspace's definition makes no sense", place: Place(segment: segment.id, offset: offset))
      }
      replay.enter(index.restore(header.keyspace, name, isOrdered: order == 0, definedAt: header.revision))
      return
    }
    if header.kind == .keyspaceDropped { return try replay.drop(header.keyspace) }
    if header.kind == .dictionary {
      return enterDictionary(record, at: table.address(slot: segment.slot, offset: offset))
    }
    guard header.isPut || header.isTombstone else {
      throw StoreError(.newerFormat, "the log has records of a kind this version does not know")
    }
    guard try replay.add(record, at: table.address(slot: segment.slot, offset: offset), in: segment) else {
      throw StoreError(
        .damaged, "a row of keyspace \(header.keyspace), which is not defined",
        place: Place(segment: segment.id, offset: offset))
    }
  }

  // MARK: Dictionaries

  /// One that makes no sense is left out: it is an error for the values that need it and for nothing else.
  private func enterDictionary(_ record: RecordView, at address: UInt64) {
    guard let dictionary = StoredDictionary(record, at: address) else { return }
    index.dictionaries.add(dictionary)
  }

  /// Those that the checkpoint has, where the log has been read behind it only.
  private func enterDictionaries() {
    for entry in checkpoint?.dictionaries ?? [] {
      index.dictionaries.reserve(entry.id)
      guard let segment = log.segments.first(where: { $0.id == entry.place.segment }),
        entry.place.offset < segment.end.load(ordering: .relaxed),
        case let address = table.address(slot: segment.slot, offset: entry.place.offset),
        let record = table.record(address), record.header.keyspace == entry.keyspace
      else { continue }
      enterDictionary(record, at: address)
    }
  }

  // MARK: The end of the log

  private mutating func note(_ watermark: Watermark) {
    log.watermark.sequence = max(log.watermark.sequence, watermark.sequence)
    log.watermark.place = max(log.watermark.place, watermark.place)
  }

  /// What lies behind the end is no part of the log, but it knows how far the log was durable, and which sequences are
  /// used up.
  private mutating func searchBehindEnd(
    _ mapping: any Mapping, _ seed: PlaceSeed, _ baseSequence: UInt64, from start: Int
  ) {
    var offset = start
    while offset + FrameHeader.size <= mapping.length {
      if let frame = unsafe FrameView(
        mapping.base + offset, available: mapping.length - offset, offset: offset, seed: seed,
        baseSequence: baseSequence)
      {
        note(frame.header.watermark)
        log.highestSequence = max(log.highestSequence, frame.header.sequence)
        offset += frame.header.length
      } else {
        offset += Format.unit
      }
    }
  }

  /// The same for a segment without a valid header. One that isn't sealed is of the newest epoch, and its first frame
  /// follows the base sequence: that is all a frame's checksums need.
  private mutating func searchWithoutHeader(_ mapping: any Mapping, _ entry: Manifest.Segment) {
    let start = SegmentHeader.size
    guard mapping.length > start,
      let first = unsafe FrameHeader(mapping.base + start, available: mapping.length - start)
    else { return }
    let header = SegmentHeader(
      store: manifest.store, id: entry.id, epoch: manifest.epoch, baseSequence: first.sequence &- 1, created: 0,
      watermark: .none, recoveredEnd: Place(segment: 0, offset: 0))
    searchBehindEnd(mapping, header.seed, header.baseSequence, from: start)
  }

  /// A log that ends before its watermark has not been torn.
  private func checkEnd() throws(StoreError) {
    guard !isCut else { return }
    guard let last = log.segments.last else {
      guard log.watermark.sequence == 0 else {
        throw StoreError(
          .corrupted, "the log is gone", place: Place(segment: manifest.segments.first?.id ?? 0, offset: 0))
      }
      return
    }
    let end = Place(segment: last.id, offset: last.end.load(ordering: .relaxed))
    guard log.watermark.place <= end else {
      throw StoreError(
        .corrupted, "the log is invalid here, and was durable up to \(log.watermark.place)", place: end)
    }
  }

  private mutating func discard(_ place: Place, _ length: Int, _ mapping: any Mapping) {
    log.discarded.append(RecoveredLog.Discarded(place: place, length: length, mapping: mapping))
    report.discarded.append(
      RecoveryReport.Discarded(
        place: place, length: length, keptAs: Segment.discardedName(place.segment, place.offset)))
  }

  /// A segment that is no part of the log.
  private mutating func drop(_ id: UInt32, _ mapping: any Mapping, from start: Int) {
    log.dropped.insert(id)
    let end = lastNonzero(mapping, from: start)
    if end > start { discard(Place(segment: id, offset: start), end - start, mapping) }
  }

  /// Where the zeros begin that a file ends with; at least `start`.
  private func lastNonzero(_ mapping: any Mapping, from start: Int) -> Int {
    var end = mapping.length
    while end >= start + 8, (end & 7) == 0, unsafe mapping.base.load(fromByteOffset: end - 8, as: UInt64.self) == 0 {
      end -= 8
    }
    while end > start, unsafe mapping.base.load(fromByteOffset: end - 1, as: UInt8.self) == 0 { end -= 1 }
    return end
  }
}

/// A file's bytes in memory of our own.
@safe package final class CopiedFile: Mapping, @unchecked Sendable {
  private let memory: UnsafeMutableRawBufferPointer
  package let length: Int

  package init(_ file: any File, _ size: Int) throws(FileError) {
    unsafe memory = .allocate(byteCount: max(size, 8), alignment: 16)
    do throws(FileError) {
      length = try unsafe file.read(into: UnsafeMutableRawBufferPointer(rebasing: memory[..<size]), at: 0)
    } catch {
      unsafe memory.deallocate()
      throw error
    }
  }

  deinit { unsafe memory.deallocate() }

  package var base: UnsafeRawPointer { unsafe UnsafeRawPointer(memory.baseAddress.unsafelyUnwrapped) }
}
