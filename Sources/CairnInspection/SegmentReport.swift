package import Cairn

/// A segment as `kvdump segments` shows it: what all of its records add up to.
package struct SegmentReport: Sendable {
  /// What its checksums say.
  package enum State: Sendable, Hashable {
    case sound
    /// So many bytes at its end are no valid frame; a crash, or the moment of looking, cut them off.
    case tornTail(Int)
    /// So many stretches of it are invalid.
    case damaged(Int)
    case missing
    /// Nothing tells where its bytes belong.
    case unreadable
  }

  package let id: UInt32
  package let kind: StoreInfo.Segment.State
  package private(set) var state = State.sound
  package private(set) var epoch: UInt32 = 0
  package private(set) var fileBytes = 0
  /// Header and valid frames.
  package private(set) var bytes = 0
  package private(set) var frames = 0
  package private(set) var records = 0
  package private(set) var tombstones = 0
  /// The lowest and the highest revision.
  package private(set) var revisions: ClosedRange<UInt64>?
  /// Of the values, as they were given and as they are stored.
  package private(set) var valueBytes = 0
  package private(set) var storedBytes = 0
  /// Bytes of what is needed of it; nil if the store does not open, or a writer has begun the segment meanwhile.
  package private(set) var liveBytes: Int?

  /// Reads the whole log. The figures of a store that does not open lack what is live; the error says why it doesn't.
  ///
  /// - Throws: what ``LogReader`` throws; `cancelled`.
  package static func all(
    at path: String, progress: InspectionProgress? = nil
  ) throws(StoreError) -> (segments: [SegmentReport], obstacle: StoreError?) {
    var (live, obstacle) = live(at: path)
    var log = try LogReader(at: path)
    // What is live is counted before what there is, and of the same segments unless a writer has changed them meanwhile.
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

  /// By segment; nil if the store does not open.
  private static func live(at path: String) -> ([UInt32: Int]?, StoreError?) {
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
      // Whatever comes behind that is no part of the log.
      state = .tornTail(segment.content - first.lowerBound)
    }
  }

  private mutating func add(_ record: RecordView) {
    let header = record.header
    records += 1
    if header.isTombstone { tombstones += 1 }
    revisions =
      min(revisions?.lowerBound ?? .max, header.revision)...max(revisions?.upperBound ?? 0, header.revision)
    valueBytes += header.rawLength
    storedBytes += header.storedLength
  }
}
