import Cairn

/// The state of a store, read from its files alone as Documentation/FORMAT.md describes them. The scan shares the
/// parsers of the format with recovery, but nothing else: it is the oracle for the indexes and for the accounting of
/// space.
struct LogScan {
  struct Record {
    var version: UInt64
    var sequence: CommitSequence
    var isTombstone: Bool
    var isCompressed: Bool
    var rawLength: Int
    var stored: [UInt8]
    /// The dictionary that the value is compressed with; empty if there is none, nil if it is missing.
    var dictionary: [UInt8]? = []
    var dictionaryID: DictionaryID
    /// Bytes in the log, with padding.
    var length: Int
  }

  struct RowKey: Hashable {
    var keyspace: KeyspaceID
    var key: [UInt8]
  }

  /// The versions of each row that are kept, newest first.
  private(set) var histories: [RowKey: [Record]] = [:]
  /// The records of each row by sequence, whatever their order in the log.
  private var records: [RowKey: [CommitSequence: Record]] = [:]
  /// How many versions each keyspace keeps, by the commit that set the number.
  private var retentions: [KeyspaceID: [CommitSequence: Int]] = [:]
  private var names: [KeyspaceID: String] = [:]
  private var dropped: Set<KeyspaceID> = []
  /// By name.
  private(set) var keyspaces: [String: KeyspaceID] = [:]
  private(set) var segments = 0
  private(set) var logBytes = 0
  private(set) var lastSequence: CommitSequence = 0
  var liveBytes: Int { histories.values.reduce(0) { $1.reduce($0) { $0 + $1.length } } }
  var rowCount: Int { histories.values.count { !$0[0].isTombstone } }

  private var chain: CommitSequence = 0
  /// The last commit of the sealed segments, including those that have been compacted since.
  private var last: CommitSequence = 0
  private var epoch: UInt32 = 0
  private var hasEnded = false
  private var dictionaries: [DictionaryID: [UInt8]] = [:]

  private struct Source {
    let entry: Manifest.Segment
    let mapping: any Mapping
  }

  /// Nil if there is no manifest yet.
  init?(_ files: MemoryFileLayer) throws {
    guard let (manifest, sources) = try Self.sources(files) else { return nil }
    for keyspace in manifest.keyspaces where keyspace.definedAt > 0 { names[keyspace.id] = keyspace.name }
    last = manifest.chainSequence
    lastSequence = last
    for source in sources { read(source) }
    for (row, records) in records where !dropped.contains(row.keyspace) {
      let kept = Self.kept(records, retentions[row.keyspace] ?? [:])
      guard !kept.isEmpty else { continue }
      histories[row] = kept.map { record in
        guard record.dictionaryID > 0 else { return record }
        var record = record
        record.dictionary = dictionaries[record.dictionaryID]
        return record
      }
    }
    for (id, name) in names where !dropped.contains(id) { keyspaces[name] = id }
  }

  /// The versions of a row that remain after applying its records and the keyspace's retentions in the order of the
  /// commits.
  private static func kept(_ records: [CommitSequence: Record], _ retentions: [CommitSequence: Int]) -> [Record] {
    var kept: [Record] = []
    var count = 1
    for sequence in Set(records.keys).union(retentions.keys).sorted() {
      if let record = records[sequence] { kept.insert(record, at: 0) }
      count = retentions[sequence] ?? count
      kept.removeLast(max(0, kept.count - count))
      if count == 1, kept.first?.isTombstone ?? false { kept = [] }
    }
    return kept.count == 1 && kept[0].isTombstone ? [] : kept
  }

  private static func sources(_ files: MemoryFileLayer) throws -> (Manifest, [Source])? {
    let directory = SimulatedMachine.path
    let bytes: [UInt8]
    do throws(FileError) {
      let file = try files.open("\(directory)/\(ManifestFile.name)", .read)
      defer { file.close() }
      bytes = try file.readAll(atMost: Manifest.maximumLength)
    } catch {
      return nil
    }
    let manifest = try unsafe bytes.withUnsafeBytes { unsafe try Manifest($0) }
    let sources = try manifest.segments.compactMap { entry -> Source? in
      let file = try files.open("\(directory)/\(Segment.fileName(entry.id))", .read)
      defer { file.close() }
      let size = try file.size()
      return size == 0 ? nil : Source(entry: entry, mapping: try file.map(size))
    }
    return (manifest, sources)
  }

  private mutating func read(_ source: Source) {
    let mapping = source.mapping
    let bytes = unsafe UnsafeRawBufferPointer(start: mapping.base, count: mapping.length)
    let header: SegmentHeader
    switch unsafe SegmentHeader.read(bytes) {
    case .header(let valid): header = valid
    case .unused, .newerFormat, .invalid:
      hasEnded = true
      return
    }
    if header.kind == .compacted { return readCompacted(source, header) }
    if source.entry.end == nil { chain = max(chain, last) }
    let isNext =
      header.baseSequence == chain || (header.epoch > epoch && header.baseSequence > chain)
      || (source.entry.end != nil && header.baseSequence >= chain)
    guard !hasEnded, isNext else {
      hasEnded = true
      return
    }
    segments += 1
    chain = header.baseSequence
    epoch = header.epoch
    let limit = min(source.entry.end ?? mapping.length, mapping.length)
    var offset = SegmentHeader.size
    while offset < limit,
      let frame = unsafe FrameView(
        mapping.base + offset, available: limit - offset, offset: offset, seed: header.seed,
        baseSequence: header.baseSequence), frame.header.sequence == chain.next
    {
      chain = chain.next
      lastSequence = max(lastSequence, chain)
      frame.forEachRecord { record, _ in apply(record) }
      offset += frame.header.length
    }
    logBytes += offset
    if source.entry.end == nil, unsafe bytes[min(offset, bytes.count)...].contains(where: { $0 != 0 }) {
      hasEnded = true
    }
  }

  private mutating func readCompacted(_ source: Source, _ header: SegmentHeader) {
    segments += 1
    let limit = min(source.entry.end ?? 0, source.mapping.length)
    var offset = SegmentHeader.size
    var number: CommitSequence = 0
    while offset < limit,
      let frame = unsafe FrameView(
        source.mapping.base + offset, available: limit - offset, offset: offset, seed: header.seed,
        baseSequence: header.baseSequence, isCompacted: true), frame.header.sequence == number.next
    {
      number = number.next
      frame.forEachRecord { record, _ in apply(record) }
      offset += frame.header.length
    }
    logBytes += offset
  }

  private mutating func apply(_ record: RecordView) {
    let header = record.header
    let key = unsafe Array(record.key)
    switch header.kind {
    case .keyspaceDefinition: names[header.keyspace] = String(decoding: key, as: UTF8.self)
    case .put, .tombstone:
      let row = RowKey(keyspace: header.keyspace, key: key)
      records[row, default: [:]][header.sequence] = Record(
        version: header.version, sequence: header.sequence, isTombstone: header.isTombstone,
        isCompressed: header.isCompressed, rawLength: header.rawLength, stored: unsafe Array(record.stored),
        dictionaryID: header.dictionary, length: header.paddedLength)
    case .dictionary:
      if let dictionary = record.dictionary { dictionaries[dictionary.id] = dictionary.content }
    case .keyspaceDropped: dropped.insert(header.keyspace)
    case .retention:
      let oldVersions = unsafe record.stored.reversed().reduce(0) { $0 << 8 | Int($1) }
      retentions[header.keyspace, default: [:]][header.sequence] = oldVersions + 1
    default: break
    }
  }

  /// The highest watermark in any valid structure, wherever it is; 0 if the manifest cannot be read. The log must not
  /// end below it, whatever has been damaged.
  static func watermark(_ files: MemoryFileLayer) -> CommitSequence {
    guard let (manifest, sources) = try? sources(files) else { return 0 }
    var highest = manifest.checkpoints.reduce(0) { max($0, $1.sequence) }
    if let bytes = files.contents["\(SimulatedMachine.path)/\(WatermarkRecord.fileName)"],
      let record = unsafe bytes.withUnsafeBytes({ unsafe WatermarkRecord.newest(in: $0)?.record }),
      record.store == manifest.store, record.epoch == manifest.epoch
    {
      highest = max(highest, record.watermark.sequence)
    }
    for source in sources {
      // In a segment without a commit, `lastSequence` is the base sequence, which after a gap is not that of a commit.
      if let end = source.entry.end, end > SegmentHeader.size { highest = max(highest, source.entry.lastSequence) }
      let mapping = source.mapping
      let bytes = unsafe UnsafeRawBufferPointer(start: mapping.base, count: mapping.length)
      guard case .header(let header) = unsafe SegmentHeader.read(bytes), header.id == source.entry.id else { continue }
      highest = max(highest, header.watermark.sequence)
      // After the end of a sealed segment there may be commits that the store has discarded by going back.
      let limit = min(source.entry.end ?? mapping.length, mapping.length)
      var offset = SegmentHeader.size
      while offset + FrameHeader.size <= limit {
        let frame = unsafe FrameView(
          mapping.base + offset, available: limit - offset, offset: offset, seed: header.seed,
          baseSequence: header.baseSequence, isCompacted: header.kind == .compacted)
        if let frame { highest = max(highest, frame.header.watermark.sequence) }
        offset += frame?.header.length ?? 8
      }
    }
    return highest
  }

  /// The newest commit that one of the present segments names as its compacted sequence; 0 if no segment is compacted.
  static func compactedSequence(_ files: MemoryFileLayer) -> CommitSequence {
    guard let (_, sources) = try? sources(files) else { return 0 }
    return sources.reduce(0) { highest, source in
      let bytes = unsafe UnsafeRawBufferPointer(start: source.mapping.base, count: source.mapping.length)
      guard case .header(let header) = unsafe SegmentHeader.read(bytes), header.kind == .compacted else {
        return highest
      }
      return max(highest, header.compactedSequence)
    }
  }
}

extension LogScan.Record {
  /// The value as it was put; nil if it cannot be decompressed.
  var value: [UInt8]? {
    guard isCompressed else { return stored }
    guard let dictionary, LZ4.isPlausible(stored: stored.count, raw: rawLength) else { return nil }
    var value = [UInt8](repeating: 0, count: rawLength)
    let isValid = unsafe stored.withUnsafeBytes { source in
      unsafe value.withUnsafeMutableBytes { target in
        unsafe dictionary.withUnsafeBytes { unsafe LZ4.decompress(source, with: $0, into: target) }
      }
    }
    return isValid ? value : nil
  }
}
