import Cairn

/// Builds a new store from every record that can be read in a damaged one, and lists what could not be read.
///
/// Keeps the newest readable version of each row, and older ones as the keyspace retains them. Copies a record if its
/// own checksum is right, even if its frame is damaged; copies nothing else.
package struct Salvage {
  /// Something that could not be read, or that is not as it was.
  package struct Loss: Sendable, Hashable {
    package let file: String
    package let offset: Int?
    /// What was lost.
    package let words: String
    /// The rows that are lost, or the rows between which they were, as far as known.
    package var keys: [String] = []
    /// Whether the loss may never have been acknowledged.
    package var isTornTail = false
  }

  package struct Report: Sendable {
    package internal(set) var losses: [Loss] = []
    package internal(set) var contents = NewStore.Contents()
    /// Remarks about the whole store.
    package internal(set) var remarks: [String] = []
  }

  private struct Row: Hashable {
    let keyspace: KeyspaceID
    let key: [UInt8]
  }

  /// The place of a version of a row.
  private struct Version {
    let segment: Int
    let offset: Int
    let sequence: CommitSequence
    let isTombstone: Bool
  }

  private let log: LogReader
  private let watermark: Watermark
  private let progress: InspectionProgress?
  private var report = Report()
  private var segments: [LogSegment] = []
  private var keyspaces: [KeyspaceID: Manifest.Keyspace] = [:]
  private var dropped: Set<KeyspaceID> = []
  /// The keyspaces that the manifest lists; nil without a manifest.
  private let listed: Set<KeyspaceID>?
  private var retentions: [KeyspaceID: RetentionSchedule] = [:]
  private var dictionaries: [DictionaryID: (keyspace: KeyspaceID, content: [UInt8])] = [:]
  private var values = ValueReader()
  private var rows: [Row: [Version]] = [:]
  private var lastSequence: CommitSequence = 1
  /// The rows that losses name, and the newest sequence that was kept of each, if any.
  private var named: [(loss: Int, key: Int, row: Row)] = []
  private var kept: [Row: CommitSequence] = [:]

  /// - Throws: what ``LogReader`` throws; what making a store throws; `cancelled`.
  package static func run(
    from path: String, to newPath: String, progress: InspectionProgress? = nil
  ) throws -> Report {
    var salvage = try Salvage(LogReader(at: path), progress)
    try salvage.gather()
    try salvage.write(to: newPath)
    salvage.tellWhatWasKept()
    return salvage.report
  }

  private init(_ log: LogReader, _ progress: InspectionProgress?) throws(StoreError) {
    self.log = log
    self.progress = progress
    watermark = try log.watermark
    listed = log.manifest.map { Set($0.keyspaces.map(\.id)) }
    for keyspace in log.manifest?.keyspaces ?? [] {
      keyspaces[keyspace.id] = keyspace
    }
    lastSequence = max(
      lastSequence, watermark.sequence, log.manifest?.highestSequence ?? 0, log.manifest?.chainSequence ?? 0)
    if let problem = log.manifestProblem {
      report.losses.append(Loss(file: ManifestFile.name, offset: nil, words: problem))
      report.remarks.append("without a manifest, rows that were deleted long ago may reappear")
    }
  }

  private mutating func lose(
    _ file: String, _ offset: Int?, _ words: String, keys: [String] = [], isTornTail: Bool = false
  ) {
    report.losses.append(Loss(file: file, offset: offset, words: words, keys: keys, isTornTail: isTornTail))
  }

  // MARK: Reading

  private mutating func gather() throws {
    let total = log.entries.reduce(0) { $0 + ($1.end ?? 0) }
    var done = 0
    for entry in log.entries {
      guard progress?(done, total) ?? true else { throw StoreError(.cancelled, "salvaging was cancelled") }
      guard let segment = try log.segment(entry) else {
        let commits = entry.end == nil || entry.lastSequence == 0 ? "" : ", commits up to \(entry.lastSequence)"
        lose(Segment.fileName(entry.id), nil, "the segment is missing\(commits)")
        continue
      }
      done += segment.limit
      gather(segment)
    }
  }

  private mutating func gather(_ segment: LogSegment) {
    let content = segment.content
    if let end = segment.entry.end, segment.mapping.length < end {
      lose(segment.name, segment.mapping.length, "the last \(end - segment.mapping.length) bytes are missing")
    }
    guard segment.origin != nil else {
      guard content > 0 else { return }
      return lose(segment.name, 0, "\(content) bytes; neither the manifest nor the header says where they belong")
    }
    if case .header = segment.header {
    } else {
      lose(segment.name, 0, "the header is damaged; the rest was read with the help of the manifest")
    }
    segments.append(segment)
    let number = segments.count - 1
    let durable = segment.durable(watermark, content)
    var before: RecordView?
    // The invalid range since the last valid frame, until the next valid frame is known.
    var open: Range<Int>?
    segment.forEachPiece { piece in
      switch piece {
      case .frame(let frame):
        var first: RecordView?
        frame.forEachRecord { record, offset in
          first = first ?? record
          take(record, offset, number)
          before = open == nil ? record : before
        }
        if let range = open {
          note(range, in: segment, after: before, before: first, isTornTail: false)
          open = nil
          frame.forEachRecord { record, _ in before = record }
        }
      case .invalid(let range):
        for (record, offset) in segment.validRecords(in: range) { take(record, offset, number) }
        open = range
      }
      return true
    }
    if let range = open {
      note(range, in: segment, after: before, before: nil, isTornTail: range.lowerBound >= durable)
    }
  }

  private mutating func take(_ record: RecordView, _ offset: Int, _ segment: Int) {
    let header = record.header
    lastSequence = max(lastSequence, header.sequence)
    values.learn(record)
    if let manifest = log.manifest, let listed, header.sequence <= manifest.highestSequence,
      !listed.contains(header.keyspace)
    {
      // The manifest was written after this commit. It lists all keyspaces of that time except dropped ones.
      dropped.insert(header.keyspace)
    }
    switch header.kind {
    case .put, .tombstone:
      let row = unsafe Row(keyspace: header.keyspace, key: Array(record.key))
      rows[row, default: []].append(
        Version(segment: segment, offset: offset, sequence: header.sequence, isTombstone: header.isTombstone))
    case .keyspaceDefinition:
      guard let definition = record.definition else { return }
      let oldVersions = keyspaces[header.keyspace]?.oldVersions ?? 0
      keyspaces[header.keyspace] = Manifest.Keyspace(
        id: header.keyspace, isOrdered: definition.isOrdered, definedAt: header.sequence, name: definition.name,
        oldVersions: oldVersions)
    case .keyspaceDropped: dropped.insert(header.keyspace)
    case .dictionary:
      if let dictionary = record.dictionary { dictionaries[dictionary.id] = (header.keyspace, dictionary.content) }
    case .retention:
      guard let oldVersions = record.oldVersions else { return }
      retentions[header.keyspace, default: RetentionSchedule(oldVersions: 0)]
        .add(oldVersions: oldVersions, since: header.sequence)
    case nil: break
    }
  }

  /// Notes a range that is not a valid frame, with its keys as far as they can be determined.
  private mutating func note(
    _ range: Range<Int>, in segment: LogSegment, after: RecordView?, before: RecordView?, isTornTail: Bool
  ) {
    guard let origin = segment.origin else { return }
    let kept = segment.validRecords(in: range)
    let frame = unsafe FrameHeader(segment.mapping.base + range.lowerBound, available: range.count)
    let isFrame = frame != nil || kept.first?.offset == range.lowerBound + FrameHeader.size
    let gaps = Self.gaps(in: range.lowerBound + (isFrame ? FrameHeader.size : 0)..<range.upperBound, between: kept)
    var words = gaps.isEmpty ? "the header of a frame" : "\(gaps.reduce(0) { $0 + $1.range.count }) bytes"
    if let frame, !origin.isCompacted { words += " of commit \(frame.sequence)" }
    if kept.count == 1 { words += "; 1 record in the damaged range was kept" }
    if kept.count > 1 { words += "; \(kept.count) records in the damaged range were kept" }
    var keys: [String] = []
    for gap in gaps {
      let readable = damagedRows(in: segment, gap.range)
      for (row, key) in readable {
        named.append((report.losses.count, keys.count, row))
        keys.append("\(name(row.keyspace)) \(key.literal)")
      }
      if readable.isEmpty, origin.isCompacted {
        // Compaction has sorted the rows.
        let first = name(gap.after ?? after) ?? "the first row"
        keys.append("between \(first) and \(name(gap.before ?? before) ?? "the last row")")
      }
    }
    lose(segment.name, gaps.first?.range.lowerBound ?? range.lowerBound, words, keys: keys, isTornTail: isTornTail)
  }

  /// Bytes between records that could be read, with the records around them.
  private typealias Gap = (range: Range<Int>, after: RecordView?, before: RecordView?)

  private static func gaps(in range: Range<Int>, between kept: [(record: RecordView, offset: Int)]) -> [Gap] {
    var gaps: [Gap] = []
    var start = range.lowerBound
    var after: RecordView?
    for (record, offset) in kept {
      if offset > start { gaps.append((start..<offset, after, record)) }
      start = offset + record.header.paddedLength
      after = record
    }
    if start < range.upperBound { gaps.append((start..<range.upperBound, after, nil)) }
    return gaps
  }

  /// The rows of records whose checksum is wrong but whose header and key can be decoded.
  private func damagedRows(in segment: LogSegment, _ range: Range<Int>) -> [(row: Row, key: Key)] {
    guard let origin = segment.origin else { return [] }
    var rows: [(row: Row, key: Key)] = []
    var offset = range.lowerBound
    while offset < range.upperBound,
      let header = unsafe RecordHeader(
        segment.mapping.base + offset, available: range.upperBound - offset, baseSequence: origin.baseSequence)
    {
      if header.isPut || header.isTombstone {
        let encoded = unsafe UnsafeRawBufferPointer(
          start: segment.mapping.base + offset + header.length, count: header.keyLength)
        if let key = try? Key(validating: unsafe encoded.bytes) {
          rows.append((unsafe Row(keyspace: header.keyspace, key: Array(encoded)), key))
        }
      }
      offset += header.paddedLength
    }
    return rows
  }

  /// Adds to each lost row that a loss names which sequence of it was kept, if any.
  private mutating func tellWhatWasKept() {
    for (loss, key, row) in named {
      if let sequence = kept[row] { report.losses[loss].keys[key] += ", of which sequence \(sequence) was kept" }
    }
  }

  private func name(_ keyspace: KeyspaceID) -> String {
    keyspaces[keyspace].map { Key.string($0.name).literal } ?? "keyspace \(keyspace)"
  }

  private func name(_ record: RecordView?) -> String? {
    guard let record, record.header.isPut || record.header.isTombstone,
      let key = try? Key(validating: unsafe record.key.bytes)
    else { return nil }
    return "\(name(record.header.keyspace)) \(key.literal)"
  }

  // MARK: Writing

  private mutating func write(to path: String) throws {
    nameKeyspaces()
    let sorted = rows.keys.filter { !dropped.contains($0.keyspace) }.sorted {
      $0.keyspace != $1.keyspace ? $0.keyspace < $1.keyspace : $0.key.lexicographicallyPrecedes($1.key)
    }
    let segmentSize = log.manifest?.segmentSize ?? 0
    let size = (1 << 16...1 << 30).contains(segmentSize) ? segmentSize : StoreOptions().segmentSize
    var losses: [Loss] = []
    let namedRows = Set(named.map(\.row))
    let contents = try NewStore.make(at: path, lastSequence: lastSequence, segmentSize: size) { new in
      for keyspace in keyspaces.values.sorted(by: { $0.id < $1.id }) where !dropped.contains(keyspace.id) {
        var keyspace = keyspace
        keyspace.oldVersions = retention(of: keyspace.id).current.oldVersions
        try new.add(keyspace)
        for (id, dictionary) in dictionaries.sorted(by: { $0.key < $1.key })
        where dictionary.keyspace == keyspace.id {
          try new.add(dictionary: id, dictionary.content, keyspace: keyspace.id)
        }
      }
      for (number, row) in sorted.enumerated() {
        if number % 1024 == 0, progress?(number, sorted.count) == false {
          throw StoreError(.cancelled, "salvaging was cancelled")
        }
        let sequence = try write(row, to: &new, &losses)
        if namedRows.contains(row) { kept[row] = sequence }
      }
    }
    report.losses += losses
    report.contents = contents
  }

  /// Makes all keyspaces have different names: renames those whose name a newer keyspace has, and defines those whose
  /// definition is lost.
  private mutating func nameKeyspaces() {
    let found = keyspaces.values.filter { !dropped.contains($0.id) }.sorted { $0.id > $1.id }
    var names = Set(found.map(\.name))
    func unused(_ name: String) -> String {
      var name = name
      while !names.insert(name).inserted { name += "'" }
      return name
    }
    var newest: [String: KeyspaceID] = [:]
    for keyspace in found {
      guard let newer = newest[keyspace.name] else {
        newest[keyspace.name] = keyspace.id
        continue
      }
      let name = unused("keyspace \(keyspace.id), its name was used again")
      keyspaces[keyspace.id]?.name = name
      report.remarks.append(
        "the record that dropped keyspace \(keyspace.id) is lost: its name \(Key.string(keyspace.name).literal) "
          + "is that of keyspace \(newer) now, and its rows are in \(Key.string(name).literal)")
    }
    let known = Set(keyspaces.keys).union(dropped)
    for id in Set(rows.keys.map(\.keyspace)).subtracting(known).sorted() {
      let name = unused("keyspace \(id), its name is lost")
      keyspaces[id] = Manifest.Keyspace(id: id, isOrdered: true, definedAt: 1, name: name)
      report.remarks.append("rows of keyspace \(id), which has no definition, are in \(Key.string(name).literal)")
    }
  }

  /// Writes the versions of a row that are kept. Returns the newest sequence written; nil if none was.
  private func write(
    _ row: Row, to new: inout NewStore, _ losses: inout [Loss]
  ) throws(StoreError) -> CommitSequence? {
    guard let key = try? Key(encoded: row.key) else {
      if let first = rows[row]?.first {
        losses.append(
          Loss(
            file: segments[first.segment].name, offset: first.offset,
            words: "the key \(Key.bytes(row.key).literal) of \(name(row.keyspace)) is not encoded correctly"))
      }
      return nil
    }
    var versions: [Version] = []
    for version in (rows[row] ?? []).sorted(by: { $0.sequence > $1.sequence })
    where version.sequence != versions.last?.sequence {
      if let loss = problem(version, key, row.keyspace) {
        losses.append(loss)
      } else {
        versions.append(version)
      }
    }
    let schedule = retention(of: row.keyspace)
    let count = schedule.keptCount(versions.map { ($0.sequence, $0.isTombstone) })
    for (number, version) in versions.prefix(count).enumerated() {
      if let record = record(version) { try new.add(copyOf: record, isOld: number > 0) }
    }
    return count > 0 ? versions[0].sequence : nil
  }

  /// The retention according to the log or, if the log no longer has one, to the manifest.
  private func retention(of keyspace: KeyspaceID) -> RetentionSchedule {
    retentions[keyspace] ?? RetentionSchedule(oldVersions: keyspaces[keyspace]?.oldVersions ?? 0)
  }

  private func record(_ version: Version) -> RecordView? {
    let segment = segments[version.segment]
    return segment.origin?.record(in: segment.mapping, at: version.offset, limit: segment.limit)
  }

  /// Why a version cannot be kept; nil if it can.
  private func problem(_ version: Version, _ key: Key, _ keyspace: KeyspaceID) -> Loss? {
    guard let record = record(version), !version.isTombstone, record.header.isCompressed else { return nil }
    do throws(StoreError) {
      _ = try values.value(of: record)
      return nil
    } catch {
      return Loss(
        file: segments[version.segment].name, offset: version.offset,
        words: "the value of sequence \(version.sequence) cannot be decompressed",
        keys: ["\(name(keyspace)) \(key.literal)"])
    }
  }
}
