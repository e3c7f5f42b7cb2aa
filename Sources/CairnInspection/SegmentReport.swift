package import Cairn

/// The figures of a segment, summed over all of its records, as `kvdump segments` shows them.
package struct SegmentReport: Sendable {
  /// The condition of the segment according to its checksums.
  package enum State: Sendable, Hashable {
    case sound
    /// This many bytes at the end are not a valid frame: a write that a crash cut off, or that was in progress when the
    /// log was read.
    case tornTail(Int)
    /// This many parts of the segment are invalid or missing.
    case damaged(Int)
    case missing
    /// It is not known where the segment's bytes belong.
    case unreadable
  }

  /// The records of one keyspace.
  package struct Rows: Sendable {
    package fileprivate(set) var records = 0
    package fileprivate(set) var tombstones = 0
    /// Bytes of the records with their padding.
    package fileprivate(set) var bytes = 0
  }

  package let id: SegmentID
  package let kind: StoreInfo.Segment.State
  package private(set) var state = State.sound
  package private(set) var epoch: UInt32 = 0
  package private(set) var fileBytes = 0
  /// Bytes of the header and of the valid frames.
  package private(set) var bytes = 0
  package private(set) var frames = 0
  package private(set) var records = 0
  package private(set) var tombstones = 0
  /// The records of each keyspace, by the number of the keyspace.
  package private(set) var rows: [KeyspaceID: Rows] = [:]
  /// The lowest and the highest sequence.
  package private(set) var sequences: ClosedRange<CommitSequence>?
  /// Bytes of the values: uncompressed, and as they are stored.
  package private(set) var valueBytes = 0
  package private(set) var storedBytes = 0
  /// Bytes of the records that are needed; nil if the store cannot be opened, or if a writer has begun the segment
  /// meanwhile.
  package private(set) var liveBytes: Int?

  /// Reads the whole log. If the store cannot be opened, the reports lack live bytes, and `obstacle` is the reason.
  ///
  /// - Throws: what ``LogReader`` throws; `cancelled`.
  package static func all(
    at path: String, progress: InspectionProgress? = nil
  ) throws(StoreError) -> (segments: [SegmentReport], obstacle: StoreError?) {
    var (live, obstacle) = live(at: path)
    var log = try LogReader(at: path)
    // Live bytes are determined before the log is read. Both are of the same segments, unless a writer has changed them
    // meanwhile.
    for _ in 0..<attempts {
      guard let known = live, log.entries.contains(where: { $0.end != nil && known[$0.id] == nil }) else { break }
      (live, obstacle) = self.live(at: path)
      log = try LogReader(at: path)
    }
    let watermark = try log.watermark
    let total = log.entries.reduce(0) { $0 + ($1.end ?? 0) }
    var reports: [SegmentReport] = []
    var done = 0
    for entry in log.entries {
      guard progress?(done, total) ?? true else { throw StoreError(.cancelled, "reading was cancelled") }
      var report = SegmentReport(entry, try log.segment(entry), watermark)
      report.liveBytes = live.flatMap { report.kind == .unused ? 0 : $0[entry.id] }
      done += report.bytes
      reports.append(report)
    }
    return (reports, obstacle)
  }

  private static let attempts = 8

  /// The live bytes of each segment; nil if the store cannot be opened.
  private static func live(at path: String) -> ([SegmentID: Int]?, StoreError?) {
    do throws(StoreError) {
      let store = try Store.openForInspection(at: path)
      defer { try? store.close() }
      return (Dictionary(uniqueKeysWithValues: store.segmentStatistics.map { ($0.id, $0.liveBytes) }), nil)
    } catch {
      return (nil, error)
    }
  }

  private init(_ entry: Manifest.Segment, _ segment: LogSegment?, _ watermark: Watermark) {
    id = entry.id
    guard let segment else {
      kind = entry.end == nil ? .open : .sealed
      state = .missing
      return
    }
    fileBytes = segment.fileBytes
    if case .unused = segment.header, entry.end == nil, segment.content == 0 {
      kind = .unused
      return
    }
    kind = segment.origin?.isCompacted == true ? .compacted : entry.end == nil ? .open : .sealed
    epoch = segment.origin?.epoch ?? entry.epoch
    let durable = segment.durable(watermark, segment.content)
    guard segment.origin != nil else {
      state = segment.isTornWithoutHeader(durable: durable) ? .tornTail(segment.content) : .unreadable
      return
    }
    add(segment, durable: durable)
  }

  private mutating func add(_ segment: LogSegment, durable: Int) {
    bytes = SegmentHeader.size
    var invalid: [Range<Int>] = []
    segment.forEachPiece { piece in
      switch piece {
      case .frame(let frame):
        bytes += frame.header.length
        frames += 1
        frame.forEachRecord { record, _ in add(record) }
      case .invalid(let range): invalid.append(range)
      }
      return true
    }
    var damaged = invalid.count { $0.lowerBound < durable }
    if case .header = segment.header {} else if !segment.isTornWithoutHeader(durable: durable) { damaged += 1 }
    if let end = segment.entry.end, segment.mapping.length < end { damaged += 1 }
    if damaged > 0 {
      state = .damaged(damaged)
    } else if let first = invalid.first {
      // Nothing after the first invalid range is part of the log.
      state = .tornTail(segment.content - first.lowerBound)
    }
  }

  private mutating func add(_ record: RecordView) {
    let header = record.header
    records += 1
    if header.isTombstone { tombstones += 1 }
    rows[header.keyspace, default: Rows()].add(header)
    sequences =
      min(sequences?.lowerBound ?? .max, header.sequence)...max(sequences?.upperBound ?? 0, header.sequence)
    valueBytes += header.rawLength
    storedBytes += header.storedLength
  }
}

extension SegmentReport.Rows {
  fileprivate mutating func add(_ header: RecordHeader) {
    records += 1
    if header.isTombstone { tombstones += 1 }
    bytes += header.paddedLength
  }
}
