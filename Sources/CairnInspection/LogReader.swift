package import Cairn

/// Reads the log of a store from disk, whether the store can be opened or not: decodes what can be decoded, and reports
/// what cannot. Takes no lock and changes nothing.
package struct LogReader: Sendable {
  package let directory: StoreDirectory
  /// The names in the directory, sorted.
  package let names: [String]
  /// nil if it cannot be read.
  package let manifest: Manifest?
  /// Why the manifest cannot be read; nil if it can.
  package let manifestProblem: String?
  /// The segments that the manifest lists; without a manifest, those in the directory.
  package let entries: [Manifest.Segment]
  /// The files of the segments that the manifest lists and that exist.
  private var files: [SegmentID: SegmentFile] = [:]
  /// Copies of the segments that are not sealed, as far as they have been read.
  private var copies: [SegmentID: (mapping: any Mapping, fileBytes: Int)] = [:]
  private var earlyWatermark = Watermark.none
  /// The watermark that is recorded outside of the log.
  private let recorded: WatermarkRecord?

  /// How often to look for a manifest whose segments all exist.
  private static let attempts = 32

  /// Opens all segments at once, so that a writer's compaction can no longer remove any. Copies the segments that may
  /// still grow, newest first: the segments before a copied one are then complete.
  ///
  /// - Throws: `notFound`, `notAStore`, `newerFormat`, `noPermission` or `inputOutput` if the log cannot be examined.
  package init(_ directory: StoreDirectory) throws(StoreError) {
    var log = try LogReader(looking: directory)
    // A missing segment may have been compacted since the manifest was read; then there is a newer manifest.
    for _ in 0..<Self.attempts where log.manifest != nil && log.files.count < log.entries.count {
      let again = try LogReader(looking: directory)
      let isSame = again.manifest == log.manifest
      log = again
      if isSame { break }
    }
    // The watermark is determined before the log is copied for reading: that copy cannot be torn below the watermark.
    try log.copyGrowing()
    log.earlyWatermark = try log.highestWatermark()
    try log.copyGrowing()
    self = log
  }

  private init(looking directory: StoreDirectory) throws(StoreError) {
    self.directory = directory
    names = try directory.names()
    let recorded = try directory.watermarkRecord()
    let segments = names.compactMap(StoreDirectory.segment(named:))
    var problem: String?
    let bytes = try directory.manifestBytes()
    if bytes == nil {
      guard !segments.isEmpty else { throw StoreError(.notAStore, "there is no manifest at \(directory.path)") }
      problem = "the manifest is missing"
    }
    var manifest: Manifest?
    do throws(Manifest.Problem) {
      manifest = try unsafe bytes?.withRawBytes { (raw) throws(Manifest.Problem) in try unsafe Manifest(raw) }
    } catch {
      switch error {
      case .newerFormat: throw StoreError(.newerFormat, "\(directory.path) was written by a newer version")
      case .foreign:
        guard !segments.isEmpty else {
          throw StoreError(.notAStore, "\(directory.path) has a MANIFEST that is not Cairn's")
        }
        problem = "the manifest's first bytes are wrong"
      case .damaged(let what): problem = "the manifest is damaged: \(what)"
      }
    }
    self.manifest = manifest
    manifestProblem = problem
    self.recorded =
      manifest.map { recorded?.store == $0.store && recorded?.epoch == $0.epoch } ?? true ? recorded : nil
    entries = manifest?.segments ?? segments.map { Manifest.Segment(id: $0) }
    guard manifest != nil else { return }
    for entry in entries { files[entry.id] = try directory.segment(entry) }
  }

  private mutating func copyGrowing() throws(StoreError) {
    for entry in entries.reversed() where entry.end == nil { copies[entry.id] = try files[entry.id]?.contents() }
  }

  package init(at path: String) throws(StoreError) { try self.init(StoreDirectory(path, files: SystemFileLayer())) }

  /// A segment's bytes and where they belong; nil if the file is missing. A segment that is not sealed has the bytes
  /// that it had when the log was opened.
  package func segment(_ entry: Manifest.Segment) throws(StoreError) -> LogSegment? {
    guard let (mapping, fileBytes) = try contents(entry) else { return nil }
    return LogSegment(entry: entry, mapping: mapping, fileBytes: fileBytes, origin: try origin(mapping, entry))
  }

  private func contents(_ entry: Manifest.Segment) throws(StoreError) -> (mapping: any Mapping, fileBytes: Int)? {
    if let copy = copies[entry.id] { return copy }
    if manifest != nil, entries.contains(where: { $0.id == entry.id }) { return try files[entry.id]?.contents() }
    return try directory.segment(entry)?.contents()
  }

  /// Where a segment belongs. Without a manifest and with a damaged header, other segments show which store it belongs
  /// to.
  private func origin(_ mapping: any Mapping, _ entry: Manifest.Segment) throws(StoreError) -> SegmentOrigin? {
    if let origin = SegmentOrigin(mapping, entry, manifest) { return origin }
    guard manifest == nil else { return nil }
    for other in entries where other.id != entry.id {
      guard let (neighbour, _) = try contents(other),
        case .header(let header) = unsafe SegmentHeader.read(neighbour.bytes)
      else { continue }
      var guess = Manifest(store: header.store, hashSeed: 0, segmentSize: 0)
      guess.epoch = header.epoch
      if let origin = SegmentOrigin(mapping, entry, guess),
        origin.frame(in: mapping, at: SegmentHeader.size, limit: mapping.length) != nil
      {
        return origin
      }
    }
    return nil
  }

  /// The highest watermark in any valid structure of the segments that are not sealed, in the headers of the sealed
  /// ones, and in the record outside of the log. Frames of sealed segments have no higher one.
  package var watermark: Watermark {
    get throws(StoreError) { manifest == nil ? try highestWatermark() : earlyWatermark }
  }

  private func highestWatermark() throws(StoreError) -> Watermark {
    var highest = recorded?.watermark ?? Watermark.none
    for entry in entries {
      guard let segment = try segment(entry) else { continue }
      if case .header(let header) = segment.header {
        highest.raise(to: header.watermark)
        highest.raise(to: Watermark(sequence: header.compactedSequence, place: Watermark.none.place))
      }
      guard entry.end == nil, let origin = segment.origin else { continue }
      origin.forEachFrame(in: segment.mapping, from: SegmentHeader.size) { highest.raise(to: $0.header.watermark) }
    }
    return highest
  }
}

/// One segment of a log, as found on disk.
package struct LogSegment: Sendable {
  package let entry: Manifest.Segment
  package let mapping: any Mapping
  package let fileBytes: Int
  /// Nil if it is not known where its bytes belong.
  package let origin: SegmentOrigin?

  package var name: String { Segment.fileName(entry.id) }

  package var header: SegmentHeader.Reading { unsafe SegmentHeader.read(mapping.bytes) }

  /// Whether the header is missing or invalid and may be: a crash cut it off, or it was being written when the log was
  /// read.
  package func isTornWithoutHeader(durable: Int) -> Bool {
    guard entry.end == nil, durable == 0 else { return false }
    return switch header {
    case .unused, .invalid: true
    case .header, .newerFormat: false
    }
  }

  /// The end of the bytes that may contain frames.
  package var limit: Int { min(entry.end ?? mapping.length, mapping.length) }

  /// The offset of the zeros at the end of the file.
  package var content: Int { mapping.endOfContent(from: 0) }

  /// The offset up to which everything was valid once, so that anything invalid there is damaged.
  package func durable(_ watermark: Watermark, _ content: Int) -> Int {
    if let end = entry.end { return min(end, mapping.length) }
    if entry.id == watermark.place.segment { return watermark.place.offset }
    return entry.id < watermark.place.segment ? content : 0
  }

  /// A part of a segment after its header.
  package enum Piece {
    case frame(FrameView)
    /// Bytes that are not a valid frame, up to the next valid frame or to the zeros at the end.
    case invalid(Range<Int>)
  }

  /// Calls `body` with one piece after the other until it returns false.
  package func forEachPiece<E>(_ body: (Piece) throws(E) -> Bool) throws(E) {
    guard let origin else { return }
    let end = min(limit, content)
    var offset = SegmentHeader.size
    while offset < end {
      if let frame = origin.frame(in: mapping, at: offset, limit: limit) {
        guard try body(.frame(frame)) else { return }
        offset += frame.header.length
      } else {
        let next = origin.nextFrame(in: mapping, from: offset + Format.unit, limit: limit) ?? end
        guard try body(.invalid(offset..<next)) else { return }
        offset = next
      }
    }
  }

  /// The valid records in a range that is not a valid frame.
  package func validRecords(in range: Range<Int>) -> [(record: RecordView, offset: Int)] {
    origin?.validRecords(in: mapping, range) ?? []
  }

  /// Calls `body` with all valid records and their offsets, including those in invalid frames.
  package func forEachRecord<E>(_ body: (RecordView, _ offset: Int) throws(E) -> Void) throws(E) {
    try forEachPiece { (piece) throws(E) in
      switch piece {
      case .frame(let frame): try frame.forEachRecord(body)
      case .invalid(let range): for (record, offset) in validRecords(in: range) { try body(record, offset) }
      }
      return true
    }
  }

  /// The problems at an offset where a valid frame should begin.
  package func problems(at offset: Int) -> [FrameDiagnosis.Problem] {
    guard let origin else { return [] }
    return FrameDiagnosis(mapping, origin, offset: offset, limit: limit).problems
  }
}

extension Watermark {
  fileprivate mutating func raise(to other: Watermark) {
    sequence = max(sequence, other.sequence)
    place = max(place, other.place)
  }
}
