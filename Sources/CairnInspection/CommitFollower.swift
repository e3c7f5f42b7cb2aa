package import Cairn

/// One commit as it is in the log.
package struct LoggedCommit: Sendable {
  package struct Change: Sendable {
    /// Nil for a keyspace that neither the log nor the manifest names.
    package let keyspace: String?
    package let record: LogRecord
    /// Nil if the value cannot be read, or if the record has none.
    package let value: [UInt8]?
  }

  package let sequence: CommitSequence
  /// Nanoseconds since 1970.
  package let time: UInt64
  package let place: Place
  package let length: Int
  package let changes: [Change]
}

/// Reads the commits of a store while a writer writes them.
///
/// Keeps a place in the log, and reads on from there at each call of ``news(_:)``. Holds open the segments from that
/// place on, so that compaction removes no commit that has not been read, unless a whole segment is written and
/// compacted between two calls. The follower reports such a loss.
package struct CommitFollower {
  package enum News: Sendable {
    case commit(LoggedCommit)
    /// Commits between these two were compacted before they were read, or are damaged.
    case missed(after: CommitSequence, before: CommitSequence)
  }

  private let directory: StoreDirectory
  private var manifest: Manifest?
  /// Segments of the log from the present one on.
  private var files: [SegmentID: any File] = [:]
  /// Segments that compaction wrote; they are not part of the chain of commits.
  private var compacted: Set<SegmentID> = []
  private var present: Chained?
  private var offset = SegmentHeader.size
  /// The last commit that was read, or the base sequence of the present segment.
  private var chain: CommitSequence = 0
  /// Whether commits before the next one may be missing.
  private var hasSkipped = false
  /// The last commit that was given to the caller.
  package private(set) var lastSequence: CommitSequence
  private var names = KeyspaceNames()
  /// Keyspaces that nothing in the log named when their names were needed. A drop precedes the manifest that no longer
  /// lists its keyspace, so no name will come.
  private var unnamed: Set<KeyspaceID> = []
  private var values = ValueReader()
  /// Dictionaries that were not in the log when a value needed them. A dictionary precedes the values that need it, so
  /// they will not come.
  private var lost: Set<DictionaryID> = []

  private struct Chained {
    let origin: SegmentOrigin
    /// The end of the log that this segment continues in a new epoch; nil if it is not known.
    let recoveredEnd: Place?
  }

  /// Begins with the commit after `sequence`.
  package init(at path: String, after sequence: CommitSequence) {
    self.init(at: path, files: SystemFileLayer(), after: sequence)
  }

  package init(at path: String, files: any FileLayer, after sequence: CommitSequence) {
    directory = StoreDirectory(path, files: files)
    lastSequence = sequence
  }

  /// Calls `body` with the commits that have been written since the last one given, oldest first.
  /// - Throws: what ``LogReader`` throws.
  package mutating func news(_ body: (News) throws -> ScanStep) throws {
    try look()
    while true {
      guard try readPresent(body) == .next, let next = try next() else { return }
      // The present segment was complete before the next one was begun: read the rest of it first.
      guard try readPresent(body) == .next, goOn(to: next) else { return }
    }
  }

  // MARK: Segments

  /// Reads the manifest, and opens the segments that it lists from the present one on.
  private mutating func look() throws(StoreError) {
    for _ in 0..<Self.attempts {
      let manifest = try readManifest()
      self.manifest = manifest
      names.learn(manifest)
      var isComplete = true
      for entry in manifest.segments
      where entry.id >= present?.origin.id ?? 0 && files[entry.id] == nil && !compacted.contains(entry.id) {
        // Sealed segments whose commits have all been given are not opened again.
        if entry.end != nil, entry.lastSequence <= lastSequence { continue }
        do throws(FileError) {
          files[entry.id] = try directory.files.open("\(directory.path)/\(Segment.fileName(entry.id))", .read)
        } catch {
          guard error.cause == .notFound else { throw StoreError(error) }
          isComplete = false
        }
      }
      if isComplete { return }
    }
  }

  /// How often the follower looks for a segment that the manifest lists but that is missing.
  private static let attempts = 8

  private func readManifest() throws(StoreError) -> Manifest {
    guard let bytes = try directory.manifestBytes() else {
      throw StoreError(.damaged, "\(directory.path): the manifest is missing")
    }
    do throws(Manifest.Problem) {
      return try unsafe bytes.withRawBytes { (raw) throws(Manifest.Problem) in try unsafe Manifest(raw) }
    } catch {
      switch error {
      case .newerFormat: throw StoreError(.newerFormat, "\(directory.path) was written by a newer version")
      case .foreign: throw StoreError(.notAStore, "\(directory.path) has a MANIFEST that is not Cairn's")
      case .damaged(let what): throw StoreError(.damaged, "the manifest is damaged: \(what)")
      }
    }
  }

  private func entry(_ id: SegmentID) -> Manifest.Segment? { manifest?.segments.first { $0.id == id } }

  /// The first segment in use that follows the present one in the log.
  private mutating func next() throws(StoreError) -> Chained? {
    for id in files.keys.sorted() where id > present?.origin.id ?? 0 {
      guard let file = files[id] else { continue }
      let entry = entry(id) ?? Manifest.Segment(id: id)
      var piece = try LogPiece(file, from: 0, length: SegmentHeader.size)
      let header = unsafe SegmentHeader.read(piece.mapping.bytes)
      // The header should be valid and is not: the frames may show where the segment belongs.
      if case .invalid = header, let end = entry.end { piece = try LogPiece(file, from: 0, length: end) }
      guard let origin = SegmentOrigin(piece.mapping, entry, manifest), origin.id == id else { continue }
      guard origin.isCompacted else {
        guard case .header(let header) = header else { return Chained(origin: origin, recoveredEnd: nil) }
        return Chained(origin: origin, recoveredEnd: header.recoveredEnd)
      }
      compacted.insert(id)
      files[id] = nil
    }
    return nil
  }

  /// Moves on to the next segment; false if the log ends before it.
  private mutating func goOn(to next: Chained) -> Bool {
    if let present {
      let here = Place(segment: present.origin.id, offset: offset)
      if next.origin.baseSequence != chain {
        let entry = entry(here.segment)
        // A segment that is no longer listed was compacted, so it was whole and has been read to its end.
        let isRead = entry.map { $0.end.map { offset >= $0 } ?? false } ?? true
        if next.origin.epoch > present.origin.epoch {
          let end = next.recoveredEnd ?? here
          if end > here, end.segment == here.segment ? !isRead : end.offset > SegmentHeader.size { hasSkipped = true }
        } else {
          // A torn write ends the log, whatever follows it.
          guard entry?.end != nil || isRead else { return false }
          hasSkipped = true
        }
      }
      files[here.segment] = nil
      compacted = compacted.filter { $0 > here.segment }
    }
    present = next
    offset = SegmentHeader.size
    chain = next.origin.baseSequence
    return true
  }

  // MARK: Frames

  private static let pieceLength = 1 << 16

  /// Reads the commits that have been added to the present segment.
  private mutating func readPresent(_ body: (News) throws -> ScanStep) throws -> ScanStep {
    guard let origin = present?.origin, let file = files[origin.id] else { return .next }
    var length = Self.pieceLength
    while entry(origin.id)?.end.map({ offset < $0 }) ?? true {
      let piece = try LogPiece(file, from: offset, length: length)
      let first = offset
      while let frame = piece.frame(at: offset, origin), frame.header.sequence == chain.next {
        offset += frame.header.length
        chain = frame.header.sequence
        guard try give(frame, origin.id, body) == .next else { return .stop }
      }
      if offset > first {
        length = Self.pieceLength
      } else if let needed = piece.lengthOfFrame(at: offset), needed > length, offset + needed <= piece.fileEnd {
        length = needed
      } else if let end = entry(origin.id)?.end {
        try skipDamage(file, origin, end)
        length = Self.pieceLength
      } else {
        break
      }
    }
    return .next
  }

  /// Moves on to the next valid frame of a sealed segment, or to the segment's end.
  private mutating func skipDamage(_ file: any File, _ origin: SegmentOrigin, _ end: Int) throws(StoreError) {
    let whole = try LogPiece(file, from: 0, length: end)
    hasSkipped = true
    offset = origin.nextFrame(in: whole.mapping, from: offset + Format.unit, limit: min(end, whole.fileEnd)) ?? end
    if let frame = whole.frame(at: offset, origin) { chain = frame.header.sequence.previous }
  }

  private mutating func give(
    _ frame: FrameView, _ segment: SegmentID, _ body: (News) throws -> ScanStep
  ) throws -> ScanStep {
    let header = frame.header
    var changes: [LoggedCommit.Change] = []
    frame.forEachRecord { record, offset in
      values.learn(record)
      names.learn(record)
      guard header.sequence > lastSequence else { return }
      let name = name(of: record.header.keyspace)
      changes.append(
        LoggedCommit.Change(
          keyspace: name,
          record: LogRecord(
            record, at: Place(segment: segment, offset: offset), frame: frame.offset, time: header.time,
            keyspaceName: name),
          value: record.header.isPut ? value(of: record) : nil))
    }
    guard header.sequence > lastSequence else { return .next }
    // No commit is missing from the gap in the sequences between two openings for writing.
    let gap = header.sequence - lastSequence
    let isMissing = gap > 1 && (hasSkipped || (lastSequence > 0 && gap < Self.leastEpochGap))
    let last = lastSequence
    lastSequence = header.sequence
    hasSkipped = false
    if isMissing, try body(.missed(after: last, before: header.sequence)) == .stop { return .stop }
    return try body(
      .commit(
        LoggedCommit(
          sequence: header.sequence, time: header.time, place: Place(segment: segment, offset: frame.offset),
          length: header.length, changes: changes)))
  }

  /// The name of a keyspace; nil if nothing names it. Its definition or its drop may be anywhere in the log.
  private mutating func name(of keyspace: KeyspaceID) -> String? {
    if let name = names[keyspace] { return name }
    if !unnamed.contains(keyspace), learnFromWholeLog(), names[keyspace] == nil { unnamed.insert(keyspace) }
    return names[keyspace]
  }

  /// The value of a record; nil if it cannot be read. A dictionary may be anywhere in the log.
  private mutating func value(of record: RecordView) -> [UInt8]? {
    let dictionary = record.header.dictionary
    if dictionary > 0, !values.knows(dictionary), !lost.contains(dictionary), learnFromWholeLog(),
      !values.knows(dictionary)
    {
      lost.insert(dictionary)
    }
    return try? values.value(of: record)
  }

  /// Learns all names and dictionaries in the log; false if the log cannot be read. Then the next record that needs one
  /// of them looks again.
  private mutating func learnFromWholeLog() -> Bool {
    do throws(StoreError) {
      let log = try LogReader(directory)
      for entry in log.entries {
        try log.segment(entry)?.forEachRecord { record, _ in
          names.learn(record)
          values.learn(record)
        }
      }
      return true
    } catch {
      return false
    }
  }

  /// FORMAT.md, section 3.
  private static let leastEpochGap: UInt64 = 16_000_000

  /// The sequences of the last commits in the log, at most `count` of them, oldest first.
  package static func last(_ count: Int, at path: String) throws -> [CommitSequence] {
    let log = try LogReader(at: path)
    guard log.manifest != nil else { throw StoreError(.damaged, log.manifestProblem ?? "the manifest cannot be read") }
    var sequences: [CommitSequence] = []
    for entry in log.entries.reversed() where sequences.count < count {
      guard let segment = try log.segment(entry), let origin = segment.origin, !origin.isCompacted else { continue }
      var earlier: [CommitSequence] = []
      segment.forEachPiece { piece in
        guard case .frame(let frame) = piece else { return entry.end != nil }
        earlier.append(frame.header.sequence)
        return true
      }
      sequences = earlier + sequences
    }
    return sequences.suffix(count)
  }
}

/// Some bytes of a segment.
private struct LogPiece {
  let mapping: CopiedFile
  let fileEnd: Int
  private let start: Int

  init(_ file: any File, from start: Int, length: Int) throws(StoreError) {
    self.start = start
    do throws(FileError) {
      fileEnd = try file.size()
      mapping = try CopiedFile(file, from: min(start, fileEnd), upTo: min(start + length, fileEnd))
    } catch {
      throw StoreError(error)
    }
  }

  private func available(at offset: Int) -> Int { start + mapping.length - offset }

  /// Nil if no whole valid frame begins here.
  func frame(at offset: Int, _ origin: SegmentOrigin) -> FrameView? {
    unsafe FrameView(
      mapping.base + (offset - start), available: available(at: offset), offset: offset, seed: origin.seed,
      baseSequence: origin.baseSequence)
  }

  /// The length in the frame's header, which may be wrong.
  func lengthOfFrame(at offset: Int) -> Int? {
    guard available(at: offset) >= FrameHeader.size else { return nil }
    return unsafe FrameHeader(mapping.base + (offset - start), available: .max)?.length
  }
}
