import Synchronization

/// What the log has that a store opened for reading does not know yet. Finding it changes nothing in the index.
///
/// A record that is newer than the last commit known is a change of its row, wherever it is: in the segments that grow,
/// or in one that compaction has written since. A copy of an older record only has a new place. A row that is known
/// only from a segment that is no longer listed, and that neither is copied nor has a newer record, has been deleted by
/// a tombstone that compaction has dropped, too.
struct Refresh {
  /// A segment that is read, or read on.
  struct Source {
    let entry: Manifest.Segment
    let header: SegmentHeader
    /// nil if the segment is new.
    let known: Segment?
    let file: any File
    /// What readers will see of a new segment.
    let mapping: (any Mapping)?
    /// The bytes to be read, and the offset in the segment at which they begin.
    let bytes: any Mapping
    let start: Int
    /// Where the valid frames end.
    var end: Int
    /// The last commit in it, if it is part of the chain.
    var lastSequence: CommitSequence = 0

    var isCompacted: Bool { header.kind == .compacted }
  }

  /// A new record of a row.
  struct Change {
    let keyspace: KeyspaceID
    let hash: RowHash
    let sequence: CommitSequence
    /// The position of its segment among the sources.
    let source: Int
    let offset: Int
  }

  struct Definition {
    let name: String
    let isOrdered: Bool
    let sequence: CommitSequence
  }

  let known: Manifest
  var manifest: Manifest
  /// The last commit known before.
  let last: CommitSequence
  /// The last commit now.
  var newLast: CommitSequence
  var watermark: Watermark
  var sources: [Source] = []
  var changes: [Change] = []
  var definitions: [KeyspaceID: Definition] = [:]
  var drops: [KeyspaceID: CommitSequence] = [:]
  var retentions: [(keyspace: KeyspaceID, oldVersions: UInt32, since: CommitSequence)] = []
  var dictionaries: [StoredDictionary] = []
  /// Known segments that are no longer listed.
  var departed: [Segment] = []
  /// The extents of these segments.
  private(set) var departedExtents: Set<Int> = []

  private let log: Log
  private let index: Index
  private let segments: [SegmentID: Segment]
  /// The sequence that the next frame of the chain follows.
  private var chain: CommitSequence = 0
  private var lastEpoch: UInt32 = 0
  /// Whether the log ends before the segments that come now.
  private var hasEnded = false
  /// The keyspaces of changes, each with the place of one.
  private var changed: [KeyspaceID: Place] = [:]

  /// nil if there is nothing new.
  static func find(_ log: Log, _ index: Index) throws(StoreError) -> Refresh? {
    // Read before the log, which a writer is extending.
    let recorded = try WatermarkFile.read(log.directory)
    let known = log.manifest.withLock { $0 }
    let file = ManifestFile(directory: log.directory)
    let manifest = try file.generation() == known.generation ? known : try file.read()
    guard manifest.store == known.store, manifest.generation >= known.generation, manifest.timeline == known.timeline
    else {
      throw StoreError(
        .replaced, "the store at \(log.directory.path) has been taken back to an earlier commit, or replaced by another"
      )
    }
    guard !manifest.isBackup || manifest.generation == known.generation else {
      throw StoreError(.replaced, "the backup at \(log.directory.path) has been replaced by a newer one")
    }
    var refresh = Refresh(log, index, known, manifest)
    if let recorded, recorded.store == manifest.store, recorded.epoch == manifest.epoch {
      refresh.note(recorded.watermark)
    }
    try refresh.openSources()
    for entry in manifest.segments { try refresh.read(entry) }
    try refresh.checkEnd()
    try refresh.checkKeyspaces()
    try refresh.checkDictionaries()
    refresh.departed = refresh.segments.values.filter { segment in
      manifest.segments.index(of: segment.id) == nil
        || refresh.sources.element(segment.id).map { $0.known == nil } ?? false
    }.sorted { $0.id < $1.id }
    refresh.departedExtents = Set(refresh.departed.flatMap(\.extents))
    let isUnchanged =
      manifest.generation == known.generation && refresh.newLast == refresh.last
      && refresh.sources.allSatisfy { $0.known != nil && $0.end == $0.start }
    return isUnchanged ? nil : refresh
  }

  private init(_ log: Log, _ index: Index, _ known: Manifest, _ manifest: Manifest) {
    self.log = log
    self.index = index
    self.known = known
    self.manifest = manifest
    last = index.published.load(ordering: .acquiring)
    newLast = max(last, manifest.chainSequence)
    watermark = log.syncs.durable.watermark
    segments = Dictionary(uniqueKeysWithValues: log.segments.withLock { $0 }.map { ($0.id, $0) })
  }

  private mutating func note(_ watermark: Watermark) {
    self.watermark.sequence = max(self.watermark.sequence, watermark.sequence)
    self.watermark.place = max(self.watermark.place, watermark.place)
  }

  // MARK: Opening files

  /// The newest segment first: all that precedes a segment is complete in the segments that are read after it.
  private mutating func openSources() throws(StoreError) {
    for entry in manifest.segments.reversed() {
      do throws(FileError) {
        if let source = try source(entry) { sources.append(source) }
      } catch {
        guard error.cause == .notFound else { throw StoreError(error) }
        // If it has been compacted meanwhile, the next attempt finds another manifest.
        throw StoreError(
          .damaged, "segment \(entry.id) is missing", place: Place(segment: entry.id, offset: 0))
      }
    }
    sources.reverse()
  }

  /// nil if nothing of a segment can be new.
  private func source(_ entry: Manifest.Segment) throws(FileError) -> Source? {
    guard let known = segments[entry.id] else { return try newSource(entry) }
    let start = known.end.load(ordering: .relaxed)
    guard !known.isCompacted, self.known.segments.element(entry.id)?.end == nil, entry.end != start else { return nil }
    let file = try log.directory.open(Segment.fileName(entry.id), .read)
    defer { file.close() }
    let bytes =
      if let end = entry.end { try CopiedFile(file, from: start, upTo: end) } else { try appended(file, from: start) }
    // Its first frame was not complete, and is longer than other segments.
    if start + bytes.length > known.mapping.length, start == SegmentHeader.size { return try newSource(entry) }
    return Source(
      entry: entry, header: known.header(store: log.store), known: known, file: file, mapping: nil, bytes: bytes,
      start: start, end: start)
  }

  /// The bytes of a growing segment from an offset on, up to the last frame and some more. Most of what follows are
  /// zeros that are written ahead, and need not be read.
  private func appended(_ file: any File, from start: Int) throws(FileError) -> CopiedFile {
    var bytes = try CopiedFile(file, from: start, upTo: min(start + FrameHeader.size, try file.size()))
    guard bytes.mayGoOn else { return bytes }
    let end = try file.contentEnd()
    var length = Self.pieceLength
    while bytes.mayGoOn, start + bytes.length < end {
      bytes = try CopiedFile(file, from: start, upTo: min(start + length, end))
      length *= 8
    }
    return bytes
  }

  private static let pieceLength = 1 << 16

  private func newSource(_ entry: Manifest.Segment) throws(FileError) -> Source? {
    let file = try log.directory.open(Segment.fileName(entry.id), .read)
    defer { file.close() }
    // Only a segment that is not sealed may still change after its last frame.
    let length = if let end = entry.end { min(end, try file.size()) } else { try file.contentEnd() }
    guard length > 0 else { return nil }
    let bytes: any Mapping = entry.end == nil ? try CopiedFile(file, length) : try file.map(length)
    guard
      case .header(let header) = unsafe SegmentHeader.read(
        UnsafeRawBufferPointer(start: bytes.base, count: bytes.length))
    else { return nil }
    return Source(
      entry: entry, header: header, known: nil, file: file,
      mapping: entry.end == nil ? try file.map(max(log.segmentSize, length)) : bytes, bytes: bytes, start: 0,
      end: SegmentHeader.size)
  }

  // MARK: Reading frames

  private mutating func read(_ entry: Manifest.Segment) throws(StoreError) {
    guard let position = sources.firstIndex(where: { $0.id == entry.id }) else { return try pass(entry) }
    let source = sources[position]
    guard source.header.id == entry.id, source.header.store == manifest.store,
      entry.epoch == 0 || source.header.epoch == entry.epoch, source.header.epoch <= manifest.epoch,
      entry.end.map({ $0 == source.start + source.bytes.length }) ?? true
    else {
      throw StoreError(
        .damaged, "segment \(entry.id) does not match the manifest", place: Place(segment: entry.id, offset: 0))
    }
    if source.isCompacted { return try readCompacted(position) }
    if let known = source.known {
      guard source.start + source.bytes.length <= known.mapping.length else {
        throw StoreError(
          .damaged, "segment \(entry.id) is longer than it can be",
          place: Place(segment: entry.id, offset: source.start))
      }
      chain = known.lastSequence.load(ordering: .relaxed)
    } else {
      note(source.header.watermark)
      guard try continues(source) else {
        // A later refresh finds it again. Changes name only sources before this one.
        sources.remove(at: position)
        return
      }
      chain = source.header.baseSequence
    }
    lastEpoch = source.header.epoch
    try readCommits(position)
  }

  /// Passes a segment of which nothing is new.
  private mutating func pass(_ entry: Manifest.Segment) throws(StoreError) {
    if let known = segments[entry.id] {
      guard !known.isCompacted else { return }
      chain = known.lastSequence.load(ordering: .relaxed)
      lastEpoch = known.epoch
    } else {
      guard entry.end == nil else {
        throw StoreError(.corrupted, "the segment's header is invalid", place: Place(segment: entry.id, offset: 0))
      }
      // It has not been used yet, so a segment after it would follow a hole.
      hasEnded = true
    }
  }

  /// Whether a new segment continues the log. FORMAT.md, section 11.
  private mutating func continues(_ source: Source) throws(StoreError) -> Bool {
    if source.entry.end == nil { chain = max(chain, manifest.chainSequence) }
    let base = source.header.baseSequence
    let isNext =
      base == chain || (source.header.epoch > lastEpoch && base > chain) || (source.entry.end != nil && base >= chain)
    guard hasEnded || !isNext else { return true }
    guard source.entry.end == nil else {
      throw StoreError(
        .corrupted, "segment \(source.entry.id) does not continue the log",
        place: Place(segment: source.entry.id, offset: 0))
    }
    hasEnded = true
    return false
  }

  private func frame(_ source: Source, at offset: Int) -> FrameView? {
    let available = source.start + source.bytes.length - offset
    return unsafe FrameView(
      source.bytes.base + (offset - source.start), available: available, offset: offset, seed: source.header.seed,
      baseSequence: source.header.baseSequence, isCompacted: source.isCompacted)
  }

  private mutating func readCommits(_ position: Int) throws(StoreError) {
    let source = sources[position]
    var end = source.known == nil ? SegmentHeader.size : source.start
    let limit = source.start + source.bytes.length
    while !hasEnded, end < limit, let frame = frame(source, at: end), frame.header.sequence == chain.next {
      chain = frame.header.sequence
      newLast = max(newLast, chain)
      note(frame.header.watermark)
      try frame.forEachRecord { (record, offset) throws(StoreError) in try take(record, position, offset) }
      end += frame.header.length
    }
    guard source.entry.end == nil || end == limit else {
      throw StoreError(
        .corrupted, "a frame that was durable is invalid", place: Place(segment: source.entry.id, offset: end))
    }
    sources[position].end = end
    sources[position].lastSequence = chain
    let rest = unsafe UnsafeRawBufferPointer(start: source.bytes.base + (end - source.start), count: limit - end)
    // A frame that is being written.
    if unsafe rest.contains(where: { $0 != 0 }) { hasEnded = true }
  }

  /// Reads a segment that compaction has written. All of it was durable before the manifest listed it.
  private mutating func readCompacted(_ position: Int) throws(StoreError) {
    let source = sources[position]
    guard let end = source.entry.end, source.header.baseSequence == source.entry.baseSequence else {
      throw StoreError(
        .damaged, "segment \(source.entry.id) does not match the manifest",
        place: Place(segment: source.entry.id, offset: 0))
    }
    note(Watermark(sequence: source.header.compactedSequence, place: Watermark.none.place))
    try forEachCompactedRecord(source, upTo: end) { (record, offset) throws(StoreError) in
      try take(record, position, offset)
    }
    sources[position].end = end
    sources[position].lastSequence = source.header.compactedSequence
  }

  /// Calls `body` with all records of a segment that compaction has written, and their offsets.
  func forEachCompactedRecord(
    _ source: Source, upTo end: Int, _ body: (RecordView, Int) throws(StoreError) -> Void
  ) throws(StoreError) {
    var offset = SegmentHeader.size
    var number: CommitSequence = 0
    while offset < end {
      guard let frame = frame(source, at: offset), frame.header.sequence == number.next else {
        throw StoreError(
          .corrupted, "a frame that was durable is invalid", place: Place(segment: source.entry.id, offset: offset))
      }
      number = number.next
      try frame.forEachRecord(body)
      offset += frame.header.length
    }
  }

  private mutating func take(_ record: RecordView, _ source: Int, _ offset: Int) throws(StoreError) {
    let header = record.header
    let place = Place(segment: sources[source].entry.id, offset: offset)
    guard header.sequence > last || header.kind == .dictionary else { return }
    switch header.kind {
    case .put, .tombstone:
      let hash = unsafe index.hash(header.keyspace, record.base + header.length, header.keyLength)
      changes.append(
        Change(keyspace: header.keyspace, hash: hash, sequence: header.sequence, source: source, offset: offset))
      if changes.count < 2 || changes[changes.count - 2].keyspace != header.keyspace {
        changed[header.keyspace] = place
      }
    case .keyspaceDefinition:
      guard let order = unsafe record.stored.first, order <= 1,
        let name = unsafe String(validating: record.key, as: UTF8.self)
      else { throw StoreError(.damaged, "a keyspace's definition is invalid", place: place) }
      definitions[header.keyspace] = Definition(name: name, isOrdered: order == 0, sequence: header.sequence)
    case .keyspaceDropped:
      drops[header.keyspace] = header.sequence
    case .dictionary:
      // An invalid dictionary is an error only for the values that need it.
      if let dictionary = StoredDictionary(record) { dictionaries.append(dictionary) }
    case .retention:
      guard header.keyLength == 0, let oldVersions = record.oldVersions else {
        throw StoreError(.damaged, "a retention is invalid", place: place)
      }
      retentions.append((header.keyspace, oldVersions, header.sequence))
      changed[header.keyspace] = place
    case nil:
      throw StoreError(.newerFormat, "the log has records of a kind that this version does not know")
    }
  }

  // MARK: Checking

  /// Throws if the log ends before a commit that was durable.
  private func checkEnd() throws(StoreError) {
    guard watermark.sequence <= newLast else {
      throw StoreError(
        .corrupted, "the log ends with commit \(newLast), but was durable up to commit \(watermark.sequence)",
        place: watermark.place)
    }
  }

  /// Adds the keyspaces that only the manifest defines, and notes those that have been dropped although the record that
  /// says so has been compacted.
  private mutating func checkKeyspaces() throws(StoreError) {
    for keyspace in manifest.keyspaces
    where keyspace.definedAt > last && keyspace.definedAt <= newLast && definitions[keyspace.id] == nil {
      definitions[keyspace.id] = Definition(
        name: keyspace.name, isOrdered: keyspace.isOrdered, sequence: keyspace.definedAt)
    }
    let present = index.allKeyspaces
    if manifest.generation != known.generation {
      for keyspace in present
      where keyspace.definedAt.load(ordering: .relaxed) <= manifest.chainSequence && drops[keyspace.id] == nil
        && manifest.keyspaces.index(of: keyspace.id) == nil
      {
        drops[keyspace.id] = newLast
      }
    }
    for (id, place) in changed
    where definitions[id] == nil && drops[id] == nil && present.index(of: id) == nil
      && known.keyspaces.index(of: id) == nil
    {
      throw StoreError(.damaged, "a record belongs to keyspace \(id), which is not defined", place: place)
    }
  }

  /// The numbers of dictionaries that nothing needed any more are used again. Snapshots may need them here.
  private func checkDictionaries() throws(StoreError) {
    for dictionary in dictionaries {
      guard let known = unsafe index.dictionaries.find(dictionary.id)?.takeUnretainedValue() else { continue }
      guard unsafe known.content.bytes.elementsEqual(dictionary.content.bytes) else {
        throw StoreError(.replaced, "the number of dictionary \(dictionary.id) has been used again")
      }
    }
  }
}

extension Refresh.Source: Numbered {
  var id: SegmentID { entry.id }
}

extension Segment {
  fileprivate func header(store: UInt128) -> SegmentHeader {
    SegmentHeader(
      store: store, id: id, epoch: epoch, baseSequence: baseSequence, created: 0, watermark: .none,
      recoveredEnd: Place(segment: 0, offset: 0))
  }
}

extension CopiedFile {
  /// Whether a frame that begins in these bytes, which begin with a frame, may end after them.
  fileprivate var mayGoOn: Bool {
    var offset = 0
    while length - offset >= 4, unsafe FrameHeader.begins(base + offset) {
      guard let frame = unsafe FrameHeader(base + offset, available: length - offset) else { return true }
      offset += frame.length
    }
    return length - offset < 4
  }
}
