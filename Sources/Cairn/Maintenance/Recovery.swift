import Synchronization

/// Rebuilds the index from the log, and finds where the log ends.
///
/// The watermark tells a torn tail, which a crash leaves and which ends the log, from corruption, which is refused.
/// FORMAT.md, section 11. Changes nothing on disk.
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
  /// What the checkpoint needs to lead to what has been compacted since, by segment.
  private var moves: [UInt32: MoveList] = [:]
  /// Segments of which there is no more to know than that.
  private var moved: Set<UInt32> = []
  private var sources: [Source] = []
  /// Keyspaces that have been dropped, and rows of others that are not defined.
  private var dropped: Set<UInt32> = []
  private var undefined: [UInt32: Place] = [:]
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

  /// So much of the log reaches most of a checkpoint's hash pages.
  private static let longTail = 4 << 20

  /// A segment that the manifest lists, as it is found.
  private struct Source {
    let entry: Manifest.Segment
    let path: String
    let file: any File
    let mapping: any Mapping
    let header: SegmentHeader.Reading
  }

  consuming func run() throws(StoreError) -> (RecoveredLog, RecoveryReport) {
    try openSegments()
    try loadCheckpoint()
    for keyspace in manifest.keyspaces where keyspace.definedAt <= lastWanted {
      let image = checkpoint?.keyspaces.first { $0.id == keyspace.id }
      // One that the checkpoint should have and hasn't was dropped before it.
      if let checkpoint, image == nil, keyspace.definedAt <= checkpoint.sequence { continue }
      replay.enter(
        index.restore(
          keyspace.id, keyspace.name, isOrdered: keyspace.isOrdered, definedAt: keyspace.definedAt, from: image),
        mayRetain: keyspace.oldVersions > 0 || image?.oldVersions ?? 0 > 0)
    }
    index.reserveKeyspaceIDs(below: manifest.nextKeyspace)
    let known = checkpoint?.place ?? Place(segment: 0, offset: 0)
    for entry in manifest.segments where entry.id >= known.segment {
      read.totalBytes += max(0, (entry.end ?? 0) - (entry.id == known.segment ? known.offset : 0))
    }
    try followMoves()
    for entry in manifest.segments {
      guard let source = sources.first(where: { $0.entry.id == entry.id }) else {
        try miss(entry)
        continue
      }
      try read(source)
    }
    sources = []
    try replay.end()
    if let (id, place) = undefined.filter({ !dropped.contains($0.key) }).min(by: { $0.key < $1.key }) {
      throw StoreError(.damaged, "a row of keyspace \(id), which is not defined", place: place)
    }
    try checkEnd()
    log.segments.sort { $0.id < $1.id }
    table.keepOnly(log.segments.map(\.slots))
    try lookForLeftovers()

    // The newest commits may have been compacted.
    log.lastSequence = max(log.lastSequence, min(manifest.chainSequence, lastWanted))
    if isCut, let last = log.last {
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
        let moves = try moves(since: image.tables)
        index.arena.adopt(image.memory, length: image.tables.nodesEnd)
        guard image.isSound(index.arena, manifest, table) else {
          index.arena.forget()
          throw CheckpointTables.Problem("its nodes make no sense")
        }
        let behind = sources.reduce(0) { $0 + ($1.entry.id > entry.place.segment ? $1.mapping.length : 0) }
        if behind > max(Self.longTail, entry.length / 8) {
          // Most rows will soon be led elsewhere. The trees, which that leaves alone, can wait.
          for keyspace in image.tables.keyspaces { index.arena.moveToLargePages(HashIndex.range(keyspace.directory)) }
        }
        if image.tables.hasRetention {
          index.versions.adopt(heads: image.tables.versionBuckets, count: image.tables.versionCount)
        }
        replay.begin(behind: entry.sequence)
        checkpoint = image.tables
        self.moves = moves
        table.reserve(image.tables.slotCount)
        for dictionary in image.tables.dictionaries {
          index.dictionaries.add(
            StoredDictionary(id: dictionary.id, keyspace: dictionary.keyspace, content: dictionary.content))
        }
        report.checkpoint = entry.sequence
        log.lastSequence = entry.sequence
        return
      } catch {
        report.ignoredCheckpoints.append("\(CheckpointTables.fileName(entry.id)): \(error.text)")
      }
    }
  }

  /// The lists of all segments that have been compacted since a checkpoint.
  private func moves(since tables: CheckpointTables) throws(CheckpointTables.Problem) -> [UInt32: MoveList] {
    let known = Set(tables.segments.map(\.id))
    var moves: [UInt32: MoveList] = [:]
    for source in sources where !known.contains(source.entry.id) {
      guard case .header(let header) = source.header, header.kind == .compacted else { continue }
      guard let list = moveList(header.id), list.store == manifest.store, list.segment == header.id,
        list.sequence == tables.sequence,
        list.places.count
          == (unsafe FrameHeader.recordCount(
            source.mapping.base, from: SegmentHeader.size, upTo: min(source.entry.end ?? 0, source.mapping.length)))
      else { throw CheckpointTables.Problem("segment \(header.id) does not say what has moved there") }
      moves[header.id] = list
    }
    return moves
  }

  private func moveList(_ segment: UInt32) -> MoveList? {
    do throws(FileError) {
      let file = try files.open("\(directory)/\(MoveList.fileName(segment))", .read)
      defer { file.close() }
      let bytes = try file.readAll()
      return unsafe bytes.withUnsafeBytes { unsafe MoveList($0) }
    } catch {
      return nil
    }
  }

  /// Enters the segments that the checkpoint leads into and those that compaction wrote, before a record of any of them is
  /// looked up, and leads the rows of the checkpoint to where it has moved them. Those whose segments have gone and that have
  /// not been moved had been superseded by a commit behind the checkpoint: they come again with that.
  private mutating func followMoves() throws(StoreError) {
    guard let checkpoint else { return }
    let slots = Dictionary(uniqueKeysWithValues: checkpoint.segments.map { ($0.id, $0.slot) })
    for source in sources {
      guard case .header(let header) = source.header else { continue }
      let known = checkpoint.segments.first { $0.id == source.entry.id }
      guard known != nil || header.kind == .compacted else { continue }
      let segment = enter(header, source, known)
      guard let list = moves[header.id] else { continue }
      var number = 0
      var frameNumber: UInt64 = 0
      var isKnown = true
      var offset = SegmentHeader.size
      let limit = source.entry.end ?? 0
      while offset < limit, let frame = frame(source.mapping, header, at: offset, limit),
        frame.header.sequence == frameNumber + 1
      {
        frameNumber += 1
        frame.forEachRecord { record, offset in
          segment.use(dictionary: record.header.dictionary)
          if record.header.revision > checkpoint.sequence || record.header.isTombstone { isKnown = false }
          let place = Place(packed: list.places[number])
          number += 1
          guard record.header.isPut || record.header.isTombstone, let slot = slots[place.segment],
            case let old = table.address(slot: slot, offset: place.offset)
          else { return }
          replay.addMove(record, from: old, to: table.address(slot: segment.slot, offset: offset), in: segment)
        }
        offset += frame.header.length
      }
      replay.finishMoves(to: segment)
      if isKnown, offset == limit { moved.insert(header.id) }
    }
    let present = Set(manifest.segments.map(\.id))
    let gone = checkpoint.segments.filter { !present.contains($0.id) }
    guard !gone.isEmpty else { return }
    var hasGone = [Bool](repeating: true, count: checkpoint.slotCount)
    for segment in log.segments { for slot in segment.slots where slot < hasGone.count { hasGone[slot] = false } }
    for source in sources {
      guard let known = checkpoint.segments.first(where: { $0.id == source.entry.id }) else { continue }
      for slot in known.slot..<min(hasGone.count, known.slot + table.slotCount(for: source.mapping.length)) {
        hasGone[slot] = false
      }
    }
    func isGone(_ address: UInt64) -> Bool {
      let slot = table.slot(address)
      return slot < hasGone.count && hasGone[slot]
    }
    // Rows whose slots lead to tombstones.
    let deleted = index.versions.versions { version, _ in
      version.isBeforeDeletion && index.versions.version(version.hash, sequence: version.supersededBy) == nil
    }
    for version in index.versions.versions(where: { version, _ in isGone(version.address) }) {
      _ = index.versions.remove(version.hash, sequence: version.sequence)
    }
    for keyspace in index.allKeyspaces {
      let count = keyspace.locator.index.vacate(isGone)
      var vacatedTombstones = 0
      for version in deleted where version.keyspace == keyspace.id {
        if unsafe try keyspace.locator.find(version.hash) == nil { vacatedTombstones += 1 }
      }
      keyspace.rowCount.subtract(count - vacatedTombstones, ordering: .relaxed)
      for segment in gone { keyspace.live.reset(slot: segment.slot) }
      if count > 0 {
        replay.expectAgain(keyspace, rows: count - vacatedTombstones, tombstones: vacatedTombstones)
      }
    }
  }

  private func frame(
    _ mapping: any Mapping, _ header: SegmentHeader, at offset: Int, _ limit: Int
  ) -> FrameView? {
    unsafe FrameView(
      mapping.base + offset, available: limit - offset, offset: offset, seed: header.seed,
      baseSequence: header.baseSequence, isCompacted: header.kind == .compacted)
  }

  // MARK: Segments

  private mutating func openSegments() throws(StoreError) {
    // The newest first: beside a writer, what lies before a segment is whole in whatever is read after it.
    for entry in manifest.segments.reversed() {
      let path = "\(directory)/\(Segment.fileName(entry.id))"
      do throws(FileError) {
        let file = try files.open(path, isReadOnly ? .read : .readWrite)
        let size = try file.size()
        // A writer may trim a segment that isn't sealed while it is being read, so that is copied.
        let mapping =
          size == 0 || (isReadOnly && entry.end == nil) ? try CopiedFile(file, size) : try file.map(size)
        let header = unsafe SegmentHeader.read(UnsafeRawBufferPointer(start: mapping.base, count: mapping.length))
        sources.append(Source(entry: entry, path: path, file: file, mapping: mapping, header: header))
      } catch {
        guard error.cause == .notFound else { throw StoreError(error) }
      }
    }
    sources.reverse()
  }

  private mutating func miss(_ entry: Manifest.Segment) throws(StoreError) {
    guard isCut else {
      throw StoreError(.damaged, "segment \(entry.id) is missing", place: Place(segment: entry.id, offset: 0))
    }
    log.dropped.insert(entry.id)
  }

  private mutating func read(_ source: Source) throws(StoreError) {
    let (entry, mapping) = (source.entry, source.mapping)
    if case .header(let header) = source.header, header.kind == .compacted {
      return try readCompacted(source, header)
    }
    if isCut {
      source.file.close()
      drop(entry.id, mapping, from: 0)
      return
    }
    if let end = entry.end, mapping.length < end {
      throw StoreError(
        .damaged, "segment \(entry.id) has \(mapping.length) bytes of \(end)",
        place: Place(segment: entry.id, offset: mapping.length))
    }

    switch source.header {
    case .header(let header):
      try checkBelongs(header, entry)
      try read(source, header)
    case .newerFormat:
      throw StoreError(.newerFormat, "\(source.path) was written by a newer version")
    case .unused where entry.end == nil:
      source.file.close()
      searchWithoutHeader(mapping, entry)
      drop(entry.id, mapping, from: mapping.length)
      // Also where it would have been the first: what follows it would follow a hole.
      hasEnded = true
    case .unused, .invalid:
      guard entry.end == nil else {
        throw StoreError(.corrupted, "the segment's header is invalid", place: Place(segment: entry.id, offset: 0))
      }
      // The header may have been torn.
      source.file.close()
      searchWithoutHeader(mapping, entry)
      drop(entry.id, mapping, from: 0)
      hasEnded = true
    }
  }

  private func checkBelongs(_ header: SegmentHeader, _ entry: Manifest.Segment) throws(StoreError) {
    guard header.id == entry.id, header.store == manifest.store, entry.epoch == 0 || header.epoch == entry.epoch,
      header.epoch <= manifest.epoch
    else {
      throw StoreError(.damaged, "segment \(entry.id) belongs elsewhere", place: Place(segment: entry.id, offset: 0))
    }
  }

  /// A segment that compaction wrote. All of it was durable before the manifest listed it; what the checkpoint has of it
  /// is not read again.
  private mutating func readCompacted(_ source: Source, _ header: SegmentHeader) throws(StoreError) {
    let entry = source.entry
    try checkBelongs(header, entry)
    guard let end = entry.end, end <= source.mapping.length, header.baseSequence == entry.baseSequence else {
      throw StoreError(
        .damaged, "segment \(entry.id) is not as long as it was", place: Place(segment: entry.id, offset: 0))
    }
    guard header.compactedSequence <= lastWanted else {
      throw StoreError(
        .malformed,
        "commit \(lastWanted) cannot be gone back to: the log has been compacted since, at commit "
          + "\(header.compactedSequence)")
    }
    log.highestSequence = max(log.highestSequence, header.compactedSequence)
    // The log was durable up to there before this was listed.
    note(Watermark(sequence: header.compactedSequence, place: Watermark.none.place))
    let segment = log.segments.first { $0.id == entry.id } ?? enter(header, source)
    let isCovered = checkpoint?.segments.contains { $0.id == entry.id } ?? false
    if moved.contains(entry.id) {
      try note(read: end - SegmentHeader.size)
      report.replayedBytes += end - SegmentHeader.size
    } else if !isCovered {
      try readFrames(segment, source, header, end)
    }
    segment.end.store(end, ordering: .relaxed)
    segment.purgedSequence.store(entry.lastSequence, ordering: .relaxed)
    table.limit(segment.slots, to: end)
  }

  private mutating func readFrames(
    _ segment: Segment, _ source: Source, _ header: SegmentHeader, _ end: Int
  ) throws(StoreError) {
    var offset = SegmentHeader.size
    var number: UInt64 = 0
    while offset < end {
      guard let frame = frame(source.mapping, header, at: offset, end), frame.header.sequence == number + 1
      else {
        throw StoreError(
          .corrupted, "a frame that was durable is invalid", place: Place(segment: segment.id, offset: offset))
      }
      number += 1
      try frame.forEachRecord { (record, offset) throws(StoreError) in
        segment.use(dictionary: record.header.dictionary)
        if record.header.revision > checkpoint?.sequence ?? 0 {
          try apply(record, segment, offset)
        } else if record.header.isTombstone {
          segment.tombstoneBytes.add(record.header.paddedLength, ordering: .relaxed)
        }
      }
      offset += frame.header.length
      try note(read: frame.header.length)
    }
    report.replayedBytes += end - SegmentHeader.size
  }

  private mutating func read(_ source: Source, _ header: SegmentHeader) throws(StoreError) {
    let entry = source.entry
    note(header.watermark)
    log.highestSequence = max(log.highestSequence, header.baseSequence)
    if let covered = checkpoint?.segments.first(where: { $0.id == entry.id }) {
      return try take(covered, source, header)
    }
    // What lay before a sealed segment, or between those and the first that isn't, may have been compacted.
    if entry.end == nil { chain = max(chain, manifest.chainSequence) }
    let isNext =
      header.baseSequence == chain || (header.epoch > log.last?.epoch ?? 0 && header.baseSequence > chain)
      || (entry.end != nil && header.baseSequence >= chain)
    if hasEnded || !isNext {
      guard entry.end == nil else {
        throw StoreError(
          .corrupted, "segment \(entry.id) does not continue the log", place: Place(segment: entry.id, offset: 0))
      }
      hasEnded = true
      searchBehindEnd(source.mapping, header.seed, header.baseSequence, from: SegmentHeader.size)
      source.file.close()
      drop(entry.id, source.mapping, from: 0)
      return
    }

    let segment = enter(header, source)
    chain = header.baseSequence
    try readFrames(segment, entry, from: SegmentHeader.size)
  }

  private mutating func enter(
    _ header: SegmentHeader, _ source: Source, _ known: CheckpointTables.Segment? = nil
  ) -> Segment {
    let slots = table.enter(
      source.mapping, id: header.id, seed: header.seed, baseSequence: header.baseSequence, at: known?.slot)
    let segment = Segment(
      id: header.id, epoch: header.epoch, path: source.path, file: source.file, mapping: source.mapping,
      seed: header.seed, baseSequence: header.baseSequence, slots: slots, end: SegmentHeader.size,
      lastSequence: header.baseSequence, isCompacted: header.kind == .compacted)
    if let known {
      let live = checkpoint?.keyspaces.flatMap(\.live).filter { $0.slot == known.slot } ?? []
      segment.liveBytes.store(live.reduce(0) { $0 + $1.bytes }, ordering: .relaxed)
      segment.tombstoneBytes.store(known.tombstones, ordering: .relaxed)
      for dictionary in checkpoint?.dictionaries ?? [] where dictionary.segments.contains(known.id) {
        segment.use(dictionary: dictionary.id)
      }
    }
    replay.enter(segment)
    log.segments.append(segment)
    if header.kind == .log { log.last = segment }
    return segment
  }

  /// A segment that the checkpoint knows: what it has is not read again.
  private mutating func take(
    _ covered: CheckpointTables.Segment, _ source: Source, _ header: SegmentHeader
  ) throws(StoreError) {
    let entry = source.entry
    guard header.epoch == covered.epoch, source.mapping.length >= covered.end else {
      throw StoreError(
        .damaged, "segment \(entry.id) has \(source.mapping.length) bytes of \(covered.end)",
        place: Place(segment: entry.id, offset: source.mapping.length))
    }
    let segment = log.segments.first { $0.id == entry.id } ?? enter(header, source, covered)
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
    table.limit(segment.slots, to: end)
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
    switch header.kind {
    case .keyspaceDefinition:
      guard let order = unsafe record.stored.first, order <= 1,
        let name = unsafe String(validating: record.key, as: UTF8.self)
      else {
        throw StoreError(
          .damaged, "a keyspace's definition makes no sense", place: Place(segment: segment.id, offset: offset))
      }
      guard !dropped.contains(header.keyspace) else { return }
      replay.enter(index.restore(header.keyspace, name, isOrdered: order == 0, definedAt: header.revision))
    case .keyspaceDropped:
      dropped.insert(header.keyspace)
      try replay.drop(header.keyspace)
    case .put, .tombstone:
      segment.use(dictionary: header.dictionary)
      guard try !replay.add(record, at: table.address(slot: segment.slot, offset: offset), in: segment) else { return }
      // Where it is defined, or dropped, may be read later.
      if undefined[header.keyspace] == nil {
        undefined[header.keyspace] = Place(segment: segment.id, offset: offset)
      }
    case .dictionary:
      // One that makes no sense is an error for the values that need it and for nothing else.
      if let dictionary = StoredDictionary(record) { index.dictionaries.add(dictionary) }
    case .retention:
      guard header.keyLength == 0, let oldVersions = record.oldVersions else {
        throw StoreError(.damaged, "a retention makes no sense", place: Place(segment: segment.id, offset: offset))
      }
      guard try !replay.retain(header.keyspace, oldVersions: oldVersions, since: header.revision),
        undefined[header.keyspace] == nil
      else { return }
      undefined[header.keyspace] = Place(segment: segment.id, offset: offset)
    case nil:
      throw StoreError(.newerFormat, "the log has records of a kind this version does not know")
    }
  }

  /// What compaction left when it was cut short.
  private mutating func lookForLeftovers() throws(StoreError) {
    let usedSequence = checkpoint?.sequence ?? 0
    log.uselessCheckpoints = Set(manifest.checkpoints.filter { $0.sequence > usedSequence }.map(\.id))
    log.moveLists.segments = Set(moves.keys)
    log.moveLists.hasMoved =
      checkpoint.map { checkpoint in
        !moves.isEmpty
          || checkpoint.segments.contains { known in !manifest.segments.contains { $0.id == known.id } }
      } ?? true
    guard !isReadOnly else { return }
    let used = Set(
      manifest.segments.map { Segment.fileName($0.id) } + moves.keys.map { MoveList.fileName($0) })
    do throws(FileError) {
      log.unlisted = try files.list(directory).filter { name in
        (name.hasSuffix(".segment") || name.hasSuffix(".moves")) && !used.contains(name)
      }
    } catch {
      throw StoreError(error)
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
    let end =
      log.last.map { Place(segment: $0.id, offset: $0.end.load(ordering: .relaxed)) }
      ?? Place(segment: manifest.segments.first?.id ?? 0, offset: 0)
    // What has been compacted or sealed is looked after by itself.
    let isOpen = manifest.segments.contains { $0.id == log.watermark.place.segment && $0.end == nil }
    guard !isOpen || log.watermark.place <= end,
      log.watermark.sequence <= max(log.lastSequence, manifest.chainSequence)
    else {
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

  private static let pieceLength = 1 << 18

  package convenience init(_ file: any File, _ size: Int) throws(FileError) { try self.init(file, from: 0, upTo: size) }

  /// Reads from the end to the beginning: a writer only appends, so what lies before a piece is whole when that is read.
  package init(_ file: any File, from start: Int, upTo end: Int) throws(FileError) {
    length = max(0, end - start)
    unsafe memory = .allocate(byteCount: max(length, 8), alignment: 16)
    var unread = length
    while unread > 0 {
      let first = (unread - 1) / Self.pieceLength * Self.pieceLength
      let piece = unsafe UnsafeMutableRawBufferPointer(rebasing: memory[first..<unread])
      // All is initialized, so what is thrown from here on ends in `deinit`.
      let count = try unsafe file.read(into: piece, at: start + first)
      // What has been cut off meanwhile was zeros.
      unsafe UnsafeMutableRawBufferPointer(rebasing: piece[count...]).initializeMemory(as: UInt8.self, repeating: 0)
      unread = first
    }
  }

  deinit { unsafe memory.deallocate() }

  package var base: UnsafeRawPointer { unsafe UnsafeRawPointer(memory.baseAddress.unsafelyUnwrapped) }
}
