import Cairn

/// Walks the frames of one segment after the other, remembers what later segments depend on, and collects the findings.
struct LogWalk {
  private let depth: Verifier.Depth
  private(set) var frames = 0
  private(set) var records = 0
  private(set) var bytes = 0
  private(set) var lastSequence: CommitSequence = 0
  /// Where the valid frames of the last segment end.
  private(set) var file = ManifestFile.name
  private(set) var end: Int?
  /// Whether a gap is expected, because the segment before could not be read.
  var expectsGap = true

  private var epoch: UInt32 = 0
  private var hasEnded = false
  private var chainSequence: CommitSequence = 0
  private var keyspaces: Set<KeyspaceID> = []
  private var dropped: Set<KeyspaceID> = []
  private var unknown: [KeyspaceID: (file: String, offset: Int, records: Int)] = [:]
  private var findings: [Finding] = []
  /// By id.
  private var dictionaries: [DictionaryID: [UInt8]] = [:]
  private var waiting: [Waiting] = []

  /// A value whose dictionary has not been seen yet: compaction moves records in any order.
  private struct Waiting {
    let record: RecordView
    /// The mapping that contains the record.
    let mapping: any Mapping
    let file: String
    let offset: Int

    func finding(_ words: String) -> Finding {
      Finding(kind: .value, severity: .damage, file: file, offset: offset, words: words)
    }
  }

  init(depth: Verifier.Depth) { self.depth = depth }

  mutating func begin(_ manifest: Manifest?) {
    for keyspace in manifest?.keyspaces ?? [] { keyspaces.insert(keyspace.id) }
    chainSequence = manifest?.chainSequence ?? 0
  }

  /// Whether there is damage among the findings that have not been taken.
  var hasDamage: Bool { findings.contains(where: \.isDamage) }

  mutating func takeFindings() -> [Finding] {
    defer { findings = [] }
    return findings
  }

  private mutating func find(
    _ kind: Finding.Kind, at offset: Int, severity: Finding.Severity = .damage, _ words: String
  ) {
    findings.append(Finding(kind: kind, severity: severity, file: file, offset: offset, words: words))
  }

  /// Ends the log: further segments would follow a gap.
  mutating func endLog() { hasEnded = true }

  // MARK: Frames

  /// - Parameters:
  ///   - durable: The offset below which whatever is invalid is damage; above it, it is a torn tail.
  ///   - content: The offset of the zeros at the end of the file.
  mutating func walk(
    _ mapping: any Mapping, _ origin: SegmentOrigin, limit: Int, durable: Int, content: Int, isSealed: Bool
  ) {
    file = Segment.fileName(origin.id)
    end = SegmentHeader.size
    // Segments before a sealed one, or between the sealed ones and the first that is not, may have been compacted.
    if !isSealed { lastSequence = max(lastSequence, chainSequence) }
    let continues =
      expectsGap || origin.baseSequence == lastSequence
      || (origin.baseSequence > lastSequence && (origin.epoch > epoch || isSealed))
    if hasEnded || !continues {
      guard durable > SegmentHeader.size else {
        if content > SegmentHeader.size {
          find(.tornTail, at: 0, severity: .note, "\(content) bytes after the end of the log")
        }
        hasEnded = true
        return
      }
      find(
        .gap, at: 56,
        "the segment continues commit \(origin.baseSequence), but the one before it ends with \(lastSequence)")
    }
    expectsGap = false
    epoch = origin.epoch
    lastSequence = origin.baseSequence
    bytes += SegmentHeader.size

    var offset = SegmentHeader.size
    while offset < limit {
      if isSealed, depth == .quick, let header = skim(mapping, offset, limit, follows: lastSequence) {
        lastSequence = header.sequence
        offset += header.length
      } else if let frame = origin.frame(in: mapping, at: offset, limit: limit) {
        let sequence = frame.header.sequence
        if sequence != lastSequence.next {
          guard offset < durable else { break }
          find(.gap, at: offset, "commit \(sequence) follows commit \(lastSequence)")
        }
        take(frame, mapping)
        lastSequence = sequence
        offset += frame.header.length
      } else if offset < durable {
        guard let next = skip(mapping, origin, offset, limit: limit, end: min(limit, content)) else { break }
        lastSequence = next.header.sequence.previous
        offset = next.offset
      } else {
        break
      }
    }
    end = offset
    guard !isSealed, offset >= durable, content > offset else { return }
    find(.tornTail, at: offset, severity: .note, "\(content - offset) bytes after the end of the log")
    hasEnded = true
  }

  /// Walks a segment that compaction wrote: it was durable as a whole, and its frames are numbered from 1.
  mutating func walkCompacted(_ mapping: any Mapping, _ origin: SegmentOrigin, limit: Int) {
    file = Segment.fileName(origin.id)
    bytes += SegmentHeader.size
    var offset = SegmentHeader.size
    var number: CommitSequence = 0
    while offset < limit {
      if depth == .quick, let header = skim(mapping, offset, limit, follows: number) {
        number = header.sequence
        offset += header.length
      } else if let frame = origin.frame(in: mapping, at: offset, limit: limit) {
        if frame.header.sequence != number.next {
          find(.gap, at: offset, "frame \(frame.header.sequence) follows frame \(number)")
        }
        number = frame.header.sequence
        take(frame, mapping)
        offset += frame.header.length
      } else {
        guard let next = skip(mapping, origin, offset, limit: limit, end: limit) else { break }
        number = next.header.sequence.previous
        offset = next.offset
      }
    }
  }

  /// Reports the problems of the invalid frame at an offset, and checks its valid records, on which other records may
  /// depend. Returns the next valid frame; nil if there is none up to `limit`.
  private mutating func skip(
    _ mapping: any Mapping, _ origin: SegmentOrigin, _ offset: Int, limit: Int, end: Int
  ) -> FrameView? {
    for problem in FrameDiagnosis(mapping, origin, offset: offset, limit: limit).problems {
      find(problem.kind, at: problem.offset, problem.words)
    }
    let next = origin.nextFrame(in: mapping, from: offset + Format.unit, limit: limit)
    for (record, place) in origin.validRecords(in: mapping, offset..<max(offset, next ?? end)) {
      check(record, place, mapping)
    }
    return next.flatMap { origin.frame(in: mapping, at: $0, limit: limit) }
  }

  /// Counts a frame by its header, if that is valid and follows `sequence`. Does not read the records.
  private mutating func skim(
    _ mapping: any Mapping, _ offset: Int, _ limit: Int, follows sequence: CommitSequence
  ) -> FrameHeader? {
    guard let header = unsafe FrameHeader(mapping.base + offset, available: limit - offset),
      header.sequence == sequence.next
    else { return nil }
    frames += 1
    records += header.recordCount
    bytes += header.length
    return header
  }

  private mutating func take(_ frame: FrameView, _ mapping: any Mapping) {
    frames += 1
    bytes += frame.header.length
    frame.forEachRecord { record, offset in
      records += 1
      check(record, offset, mapping)
    }
  }

  // MARK: Records

  private mutating func check(_ record: RecordView, _ offset: Int, _ mapping: any Mapping) {
    let header = record.header
    switch header.kind {
    case .put, .tombstone:
      if !keyspaces.contains(header.keyspace) {
        unknown[header.keyspace, default: (file, offset, 0)].records += 1
      }
      if header.isTombstone, header.storedLength > 0 {
        find(.record, at: offset, "a tombstone carries a value")
      }
      if header.isPut, header.version == 0 { find(.record, at: offset, "a row has version 0") }
      guard depth == .full else { return }
      do throws(MalformedKey) {
        _ = try unsafe Key(validating: record.key.bytes)
      } catch {
        find(.key, at: offset, "a key of keyspace \(header.keyspace) is not encoded correctly")
      }
      if header.dictionary > 0, dictionaries[header.dictionary] == nil {
        waiting.append(Waiting(record: record, mapping: mapping, file: file, offset: offset))
      } else if header.isCompressed, !decompresses(record) {
        find(.value, at: offset, "a value of keyspace \(header.keyspace) cannot be decompressed")
      }
    case .keyspaceDefinition:
      keyspaces.insert(header.keyspace)
      let order = unsafe record.stored
      let name = unsafe String(validating: record.key, as: UTF8.self) ?? ""
      guard order.count == 1, unsafe order[0] <= 1, !name.isEmpty else {
        find(.record, at: offset, "the definition of keyspace \(header.keyspace) is invalid")
        return
      }
    case .keyspaceDropped:
      dropped.insert(header.keyspace)
      guard header.storedLength == 0, unsafe String(validating: record.key, as: UTF8.self) != nil else {
        find(.record, at: offset, "the drop of keyspace \(header.keyspace) is invalid")
        return
      }
    case .dictionary:
      if !keyspaces.contains(header.keyspace) {
        unknown[header.keyspace, default: (file, offset, 0)].records += 1
      }
      guard let dictionary = record.dictionary, dictionaries[dictionary.id] == nil else {
        find(.record, at: offset, "a dictionary of keyspace \(header.keyspace) is invalid")
        return
      }
      dictionaries[dictionary.id] = dictionary.content
    case .retention:
      if !keyspaces.contains(header.keyspace) {
        unknown[header.keyspace, default: (file, offset, 0)].records += 1
      }
      guard header.keyLength == 0, record.oldVersions != nil else {
        find(.record, at: offset, "a retention of keyspace \(header.keyspace) is invalid")
        return
      }
    case nil:
      find(.record, at: offset, "a record has the kind \(header.tag & 15), which this version does not know")
    }
  }

  private func decompresses(_ record: RecordView) -> Bool {
    let length = record.header.rawLength
    guard LZ4.isPlausible(stored: record.header.storedLength, raw: length) else { return false }
    return unsafe withUnsafeTemporaryAllocation(byteCount: length, alignment: 8) { target in
      guard record.header.dictionary > 0 else { return unsafe LZ4.decompress(record.stored, into: target) }
      guard let dictionary = dictionaries[record.header.dictionary] else { return false }
      return unsafe dictionary.withUnsafeBytes { unsafe LZ4.decompress(record.stored, with: $0, into: target) }
    }
  }

  /// Checks the values that were seen before their dictionaries: one finding for each value that cannot be
  /// decompressed, and one for each dictionary that is missing.
  mutating func checkWaiting() -> [Finding] {
    defer { waiting.removeAll() }
    var found: [Finding] = []
    var missing: [DictionaryID: (first: Waiting, values: Int)] = [:]
    // A dropped keyspace loses its dictionaries before the last of its values.
    for value in waiting where !dropped.contains(value.record.header.keyspace) {
      let header = value.record.header
      if dictionaries[header.dictionary] == nil {
        missing[header.dictionary, default: (value, 0)].values += 1
      } else if !decompresses(value.record) {
        found.append(
          value.finding(
            "a value of keyspace \(header.keyspace) cannot be decompressed with dictionary \(header.dictionary)"))
      }
    }
    for (id, (first, values)) in missing.sorted(by: { $0.key < $1.key }) {
      let what = values == 1 ? "a value needs" : "\(values) values, of which this is the first, need"
      found.append(
        first.finding("\(what) dictionary \(id) of keyspace \(first.record.header.keyspace), which is missing"))
    }
    return found
  }

  /// One finding for each keyspace that has records and no definition.
  func unknownKeyspaces() -> [Finding] {
    // The records of skimmed frames, and with them the definitions, have not been read.
    guard depth != .quick else { return [] }
    // Compaction writes the records that define or drop a keyspace after the keyspace's rows.
    let undefined = unknown.filter { !keyspaces.contains($0.key) && !dropped.contains($0.key) }
    return undefined.sorted { $0.key < $1.key }.map { id, first in
      Finding(
        kind: .unknownKeyspace, severity: .damage, file: first.file, offset: first.offset,
        words: "\(first.records) records, of which this is the first, belong to keyspace \(id), which is not defined")
    }
  }
}
