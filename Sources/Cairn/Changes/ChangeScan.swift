import Synchronization

/// Reads what commits have changed, in the order of the commits, as far as it is still the newest.
///
/// It reads the chain of commits from a position on, and adds the records of these commits that compaction has moved.
/// It works in rounds. Each covers the commits up to a bound, and the segments that had all their records when it
/// began; it is begun again if one of these segments is gone before it was read. Between two calls it holds no segment.
struct ChangeScan: Sendable {
  /// All changes up to this commit have been returned.
  private(set) var position: CommitSequence
  /// All changes up to this commit have been read.
  private var sequence: CommitSequence
  private let index: Index
  private let log: Log
  /// The round covers the commits up to this one.
  private var bound: CommitSequence
  private var moved: MovedRecords
  /// Segments of the chain that the round has not read to their ends, the first one last.
  private var chain: [SegmentID] = []
  /// Where the chain has been read to.
  private var reached = Place(segment: 0, offset: 0)
  /// The commit whose frame has to be there.
  private var expected: CommitSequence = 0
  /// How far the frame at `reached` has been read, in bytes, if part of its commit has been returned.
  private var partRead = 0
  /// The commit of which a part has been returned, and not the last one.
  private var open: CommitSequence?
  /// The next part, found behind the end of a commit of which a part had been returned.
  private var held: Part?

  private static let mostChanges = 1000
  private static let mostBytes = 1 << 20
  private let mostMoved: Int

  /// Some or all changes of one commit.
  struct Part: Sendable {
    let sequence: CommitSequence
    var changes: [RowChange] = []
    var bytes = 0
    var isLast = false

    var isFull: Bool { changes.count >= mostChanges || bytes >= mostBytes }
  }

  /// - Parameter mostMoved: how many moved records to keep in mind.
  init(after sequence: CommitSequence, index: Index, log: Log, mostMoved: Int) {
    position = sequence
    self.sequence = sequence
    self.index = index
    self.log = log
    self.mostMoved = mostMoved
    bound = sequence
    moved = MovedRecords(after: sequence, upTo: sequence, most: mostMoved)
  }

  /// The next changes up to a commit, which has to be published; nil if there are none. After an error, the next call
  /// reads the same changes again.
  mutating func next(upTo last: CommitSequence) throws(StoreError) -> Part? {
    do throws(StoreError) {
      let part = try read(upTo: last)
      position = part.map { $0.isLast ? $0.sequence : position } ?? sequence
      return part
    } catch {
      restart()
      throw error
    }
  }

  private mutating func read(upTo last: CommitSequence) throws(StoreError) -> Part? {
    if let part = held {
      held = nil
      return part
    }
    while true {
      if sequence >= bound {
        guard sequence < last else { return open.map { end($0) } }
        try begin(upTo: last)
      }
      guard let part = try nextPart() else { continue }
      let unfinished = open
      open = part.isLast ? nil : part.sequence
      if let unfinished, unfinished != part.sequence {
        // Nothing is left of the rest of that commit.
        if !part.changes.isEmpty { held = part }
        return Part(sequence: unfinished, isLast: true)
      }
      if !part.changes.isEmpty || unfinished != nil { return part }
    }
  }

  private mutating func end(_ commit: CommitSequence) -> Part {
    open = nil
    return Part(sequence: commit, isLast: true)
  }

  // MARK: Rounds

  private mutating func begin(upTo last: CommitSequence) throws(StoreError) {
    let segments = log.segments.withLock { $0.filter { !$0.isReplaced.load(ordering: .relaxed) } }
    // After the look at the segments: what they lack has been noted before.
    guard sequence >= log.manifest.changes.forgotten.load(ordering: .sequentiallyConsistent) else {
      throw StoreError.positionExpired(sequence)
    }
    moved = MovedRecords(after: sequence, upTo: last, most: mostMoved)
    for segment in segments where segment.isCompacted && segment.mayHaveRecords(after: sequence) {
      try moved.add(segment)
    }
    moved.sort()
    bound = moved.bound
    chain = segments.lazy.filter { [sequence] in
      !$0.isCompacted && $0.lastSequence.load(ordering: .acquiring) > sequence
    }.map(\.id).reversed()
  }

  /// Lets the round begin again where it is: a segment is gone, or could not be read.
  private mutating func restart() {
    bound = sequence
    // A commit of which a part has been returned is read again.
    partRead = 0
  }

  // MARK: One commit

  /// The next part, which may have no changes; nil if the round is over or has to be begun again.
  private mutating func nextPart() throws(StoreError) -> Part? {
    guard let (segment, frame) = try nextFrame() else {
      guard bound > sequence else { return nil }
      if let first = moved.nextSequence { return try movedPart(first) }
      sequence = bound
      return nil
    }
    if let first = moved.nextSequence, first < frame.sequence { return try movedPart(first) }
    return try part(of: frame, in: segment)
  }

  /// The next frame of the round; nil if the chain has none, or the round has to be begun again.
  private mutating func nextFrame() throws(StoreError) -> (Segment, FrameHeader)? {
    while let id = chain.last {
      guard let segment = log.segment(id) else {
        restart()
        return nil
      }
      let end = segment.end.load(ordering: .acquiring)
      if reached.segment != id {
        reached = Place(segment: id, offset: SegmentHeader.size)
        expected = segment.baseSequence.next
      }
      var offset = reached.offset
      while offset < end {
        guard let frame = unsafe FrameHeader(segment.mapping.base + offset, available: end - offset),
          frame.sequence == expected
        else { throw segment.corruption(at: offset) }
        if frame.sequence > sequence {
          reached = Place(segment: id, offset: offset)
          return frame.sequence <= bound ? (segment, frame) : nil
        }
        offset += frame.length
        reached = Place(segment: id, offset: offset)
        expected = expected.next
      }
      chain.removeLast()
    }
    return nil
  }

  private mutating func part(of frame: FrameHeader, in segment: Segment) throws(StoreError) -> Part {
    var part = Part(sequence: frame.sequence)
    var reader = CommitReader(index, log, bound: bound)
    let end = reached.offset + frame.length
    var offset = reached.offset + max(partRead, FrameHeader.size)
    while offset < end, !part.isFull {
      let record = try segment.record(at: offset, before: end)
      try reader.add(record, to: &part)
      offset += record.header.paddedLength
    }
    guard offset >= end else {
      partRead = offset - reached.offset
      return part
    }
    finish(&part)
    partRead = 0
    reached = Place(segment: segment.id, offset: end)
    expected = frame.sequence.next
    return part
  }

  private mutating func movedPart(_ first: CommitSequence) throws(StoreError) -> Part? {
    var part = Part(sequence: first)
    var reader = CommitReader(index, log, bound: bound)
    while moved.nextSequence == first, !part.isFull, let entry = moved.popLast() {
      guard let segment = log.segment(entry.segment) else {
        restart()
        return nil
      }
      let end = segment.end.load(ordering: .acquiring)
      try reader.add(try segment.record(at: Int(entry.offset) * Format.unit, before: end), to: &part)
    }
    if moved.nextSequence != first { finish(&part) }
    return part
  }

  private mutating func finish(_ part: inout Part) {
    part.isLast = true
    sequence = part.sequence
  }
}

/// Decides which records of a commit are still the newest of their rows, as far as a reader is to know.
private struct CommitReader {
  private let index: Index
  private let log: Log
  private let bound: CommitSequence
  private var keyspace: KeyspaceIndex?

  init(_ index: Index, _ log: Log, bound: CommitSequence) {
    self.index = index
    self.log = log
    self.bound = bound
  }

  mutating func add(_ record: RecordView, to part: inout ChangeScan.Part) throws(StoreError) {
    let header = record.header
    switch header.kind {
    case .put, .tombstone:
      if keyspace?.id != header.keyspace { keyspace = index.keyspace(id: header.keyspace) }
      guard let name = try nameIfNewest(record) else { return }
      if header.isPut {
        part.changes.append(.put(try record.row(index.dictionaries), in: name))
        part.bytes += header.keyLength + header.rawLength
      } else {
        part.changes.append(.deleted(unsafe try Key(stored: record.key), in: name))
        part.bytes += header.keyLength
      }
    case .keyspaceDropped:
      // Earlier versions did not write the name.
      guard let name = unsafe String(validating: record.key, as: UTF8.self), !name.isEmpty else {
        throw StoreError.positionExpired(header.sequence.previous)
      }
      part.changes.append(.dropped(keyspace: name))
    case .keyspaceDefinition, .dictionary, .retention, nil: break
    }
  }

  /// The name of a record's keyspace if the record is the newest of its row, not counting those that the reader will
  /// see later, or that a loss of power may undo.
  private func nameIfNewest(_ record: RecordView) throws(StoreError) -> String? {
    guard let keyspace else {
      // The record of the drop tells that the rows are gone, once it is durable.
      return allIsDurable ? nil : log.manifest.name(ofUndurablyDropped: record.header.keyspace)
    }
    return try isNewest(record, in: keyspace) ? keyspace.name : nil
  }

  private func isNewest(_ record: RecordView, in keyspace: KeyspaceIndex) throws(StoreError) -> Bool {
    let pin = index.eras.pin()
    defer { index.eras.unpin(pin) }
    let hash = unsafe keyspace.hash(record.key)
    guard let found = try unsafe keyspace.locator.find(hash, record.key) else {
      // A row that has been deleted since has a later tombstone, which the reader sees once it is durable.
      return record.header.isTombstone || !allIsDurable
    }
    let newest = unsafe found.record.header.sequence
    return newest <= record.header.sequence || newest > bound
  }

  /// Whether everything that the index has now is durable.
  private var allIsDurable: Bool {
    index.applying.load(ordering: .sequentiallyConsistent) <= log.syncs.durable.sequence
  }
}

extension Segment {
  fileprivate func mayHaveRecords(after sequence: CommitSequence) -> Bool {
    min(lastSequence.load(ordering: .relaxed), newestRecord.load(ordering: .relaxed)) > sequence
  }

  /// The record at an offset, verified.
  func record(at offset: Int, before end: Int) throws(StoreError) -> RecordView {
    guard offset < end,
      let record = unsafe RecordView(
        mapping.base + offset, available: end - offset, checksumStart: seed.start(offset), baseSequence: baseSequence)
    else { throw corruption(at: offset) }
    return record
  }
}

extension Log {
  /// A segment that has not been removed.
  fileprivate func segment(_ id: SegmentID) -> Segment? { segments.withLock { $0.element(id) } }
}
