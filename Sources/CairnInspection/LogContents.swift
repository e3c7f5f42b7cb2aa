package import Cairn

/// Everything in a log, in the order of its segments, damage included: what `kvdump records` shows.
package struct LogContents: Sendable {
  package enum Item {
    case segment(SegmentStart)
    case frame(FrameStart)
    case record(LogRecord, RecordView)
    /// A range of bytes that is not a valid frame. The valid records in it follow.
    case invalid(Invalid)
    /// A segment whose file is missing.
    case missing(SegmentID)
  }

  package struct SegmentStart: Sendable {
    package let id: SegmentID
    /// nil if it cannot be read.
    package let header: SegmentHeader?
    /// Whether it is known where the segment's frames belong, so that they can be read.
    package let isReadable: Bool
    package let isSealed: Bool
    /// Whether the segment contains only zeros: it was prepared and never used.
    package let isEmpty: Bool
    /// Whether a header that was durable is missing.
    package let isDamaged: Bool
  }

  package struct FrameStart: Sendable {
    package let place: Place
    package let header: FrameHeader
    package let isCompacted: Bool

    /// The time of the commit, in nanoseconds since 1970; nil if compaction wrote the frame.
    package var time: UInt64? { isCompacted ? nil : header.time }
  }

  package struct Invalid: Sendable {
    package let segment: SegmentID
    package let range: Range<Int>
    /// Whether these bytes may be a write that a crash cut off, or that was in progress when the log was read.
    package let isTornTail: Bool
    package let words: [String]
  }

  private let log: LogReader
  private let watermark: Watermark

  /// - Throws: what ``LogReader`` throws.
  package init(at path: String) throws(StoreError) { try self.init(LogReader(at: path)) }

  package init(_ log: LogReader) throws(StoreError) {
    self.log = log
    watermark = try log.watermark
  }

  /// Why the manifest cannot be read; nil if it can.
  package var manifestProblem: String? { log.manifestProblem }

  /// The ids of the segments.
  package var segments: [SegmentID] { log.entries.map(\.id) }

  /// Calls `body` with one item after the other until it returns `.stop`; only with the items of one segment if `only`
  /// is given.
  package func forEach(
    in only: SegmentID? = nil, _ body: (Item) throws -> ScanStep
  ) throws {
    var names = KeyspaceNames()
    if let manifest = log.manifest { names.learn(manifest) }
    for entry in log.entries where only == nil || entry.id == only {
      guard let segment = try log.segment(entry) else {
        guard try body(.missing(entry.id)) == .next else { return }
        continue
      }
      guard try walk(segment, &names, body) else { return }
    }
  }

  private func walk(
    _ segment: LogSegment, _ names: inout KeyspaceNames, _ body: (Item) throws -> ScanStep
  ) throws -> Bool {
    let id = segment.entry.id
    var header: SegmentHeader?
    if case .header(let found) = segment.header { header = found }
    let content = segment.content
    let isSealed = segment.entry.end != nil
    let durable = segment.durable(watermark, content)
    let start = SegmentStart(
      id: id, header: header, isReadable: segment.origin != nil, isSealed: isSealed, isEmpty: content == 0 && !isSealed,
      isDamaged: header == nil && !segment.isTornWithoutHeader(durable: durable))
    guard try body(.segment(start)) == .next else { return false }
    var goesOn = true

    func take(_ record: RecordView, at offset: Int, frame: FrameStart?) throws {
      names.learn(record)
      let described = LogRecord(
        record, at: Place(segment: id, offset: offset), frame: frame?.place.offset, time: frame?.time,
        keyspaceName: try names.name(of: record.header.keyspace, in: log))
      goesOn = try body(.record(described, record)) == .next
    }

    try segment.forEachPiece { piece in
      switch piece {
      case .frame(let frame):
        let start = FrameStart(
          place: Place(segment: id, offset: frame.offset), header: frame.header,
          isCompacted: segment.origin?.isCompacted ?? false)
        goesOn = try body(.frame(start)) == .next
        try frame.forEachRecord { record, offset in
          if goesOn { try take(record, at: offset, frame: start) }
        }
      case .invalid(let range):
        let isTornTail = range.lowerBound >= durable
        let words = isTornTail ? [] : segment.problems(at: range.lowerBound).map { "at \($0.offset): \($0.words)" }
        goesOn = try body(.invalid(Invalid(segment: id, range: range, isTornTail: isTornTail, words: words))) == .next
        for (record, offset) in segment.validRecords(in: range) where goesOn {
          try take(record, at: offset, frame: nil)
        }
      }
      return goesOn
    }
    return goesOn
  }
}
