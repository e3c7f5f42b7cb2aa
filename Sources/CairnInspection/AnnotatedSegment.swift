package import Cairn

/// Annotates the bytes of a segment with the names of their fields. Decodes damaged parts as far as possible.
package struct AnnotatedSegment {
  private let segment: LogSegment
  private let shownBytes: Int

  package init(_ segment: LogSegment, shownBytes: Int) {
    self.segment = segment
    self.shownBytes = shownBytes
  }

  /// Calls `body` with the fields of the header, if `range` begins within it, and of the frames that overlap `range`.
  package func forEach(in range: Range<Int>, _ body: ([Annotation]) throws -> ScanStep) throws {
    if range.lowerBound < SegmentHeader.size, try body(header()) == .stop { return }
    let end = min(segment.limit, segment.content)
    try segment.forEachPiece { piece in
      switch piece {
      case .frame(let frame):
        guard frame.offset < range.upperBound else { return false }
        // A frame that ends after the beginning of `range` contains that beginning.
        guard frame.offset + frame.header.length > range.lowerBound else { return true }
        return try body(annotate(frame.offset, limit: frame.offset + frame.header.length)) == .next
      case .invalid(let invalid):
        guard invalid.lowerBound < range.upperBound else { return false }
        guard invalid.upperBound > range.lowerBound else { return true }
        return try body(annotate(invalid.lowerBound, limit: min(end, invalid.upperBound))) == .next
      }
    }
  }

  private func reader(_ range: Range<Int>) -> FieldReader {
    unsafe FieldReader(
      UnsafeRawBufferPointer(rebasing: segment.mapping.bytes[range]), at: range.lowerBound, shownBytes: shownBytes)
  }

  private func header() -> [Annotation] {
    let length = min(SegmentHeader.size, segment.mapping.length)
    var fields = reader(0..<length)
    fields.magic("CAIRNSEG")
    fields.version()
    fields.number(UInt32.self, "kind", { $0 == 1 ? "log" : $0 == 2 ? "written by compaction" : "\($0)" })
    fields.features()
    fields.uuid()
    fields.number(UInt32.self, "segment id", isWrong: { $0 != segment.entry.id.rawValue })
    fields.number(UInt32.self, "epoch of the open that wrote it")
    fields.number(UInt64.self, "base sequence")
    fields.time("time of creation")
    fields.number(UInt64.self, "watermark sequence when it was created")
    fields.place("watermark place when it was created")
    fields.place("packed place where the log this epoch continues ended")
    fields.number(UInt64.self, "kind 2: a commit; what it and those before it superseded may have been left out")
    fields.reserved(20)
    if length == SegmentHeader.size { fields.checksum(of: 0..<SegmentHeader.size - 4) }
    return fields.takeAnnotations()
  }

  /// The fields of a frame, or of the bytes where a frame should begin.
  private func annotate(_ offset: Int, limit: Int) -> [Annotation] {
    var fields = reader(offset..<limit)
    let kind = fields.number(
      UInt32.self, "kind", { $0 == FrameHeader.kind ? "FRM1" : "no frame begins here" },
      isWrong: { $0 != FrameHeader.kind })
    guard kind == FrameHeader.kind else {
      unsafe fields.bytes(fields.remaining, "unknown", isWrong: true) { "\($0.count) bytes" }
      return fields.takeAnnotations()
    }
    fields.checksum(checksum(offset, limit: limit))
    let units = fields.number(UInt32.self, "length in units", { "\(Int($0) * Format.unit) bytes" })
    let count = fields.number(UInt32.self, "number of records")
    fields.number(UInt64.self, "sequence of the commit")
    fields.time("time of the commit")
    fields.number(UInt64.self, "watermark sequence")
    fields.place("watermark place")
    var left = Int(count ?? 0)
    while left > 0, fields.remaining >= 16, annotateRecord(&fields, offset, limit) { left -= 1 }
    if fields.remaining > 0 {
      let declared = units.map { Int($0) * Format.unit } ?? 0
      unsafe fields.bytes(fields.remaining, "unknown", isWrong: true) {
        "\($0.count) bytes, \(left) records missing in a frame of \(declared) bytes"
      }
    }
    return fields.takeAnnotations()
  }

  /// The checksum that the frame should have with its records as they are; nil if they cannot be decoded.
  private func checksum(_ offset: Int, limit: Int) -> UInt32? {
    let frame = unsafe segment.mapping.base + offset
    guard let origin = segment.origin, let header = unsafe FrameHeader(frame, available: limit - offset) else {
      return nil
    }
    var register = unsafe CRC32C.register(origin.seed.start(offset), frame + 8, FrameHeader.size - 8)
    var position = FrameHeader.size
    for _ in 0..<header.recordCount {
      guard position < header.length,
        let record = unsafe RecordHeader(
          frame + position, available: header.length - position, baseSequence: origin.baseSequence)
      else { return nil }
      register = unsafe CRC32C.register(register, frame + position, 4)
      position += record.paddedLength
    }
    return ~register
  }

  /// False if no record can be decoded here.
  private func annotateRecord(_ fields: inout FieldReader, _ frame: Int, _ limit: Int) -> Bool {
    guard let origin = segment.origin else { return false }
    let offset = frame + fields.position
    let base = unsafe segment.mapping.base + offset
    guard let record = unsafe RecordHeader(base, available: limit - offset, baseSequence: origin.baseSequence) else {
      return false
    }
    fields.checksum(unsafe ~CRC32C.register(origin.seed.start(offset), base + 4, record.recordLength - 4))
    fields.number(
      UInt8.self, "kind",
      { _ in
        let flags = (record.isCompressed ? ", LZ4" : "") + (record.dictionary > 0 ? " with a dictionary" : "")
        return (record.kind?.name ?? "unknown") + flags
      }, isWrong: { _ in record.kind == nil })
    fields.varint("keyspace id")
    fields.varint("length of the key")
    fields.varint("length of the value as stored")
    if record.isCompressed { fields.varint("length of the value once decompressed") }
    if record.dictionary > 0 { fields.varint("dictionary id") }
    fields.varint("sequence − base sequence") { "\($0): sequence \(record.sequence)" }
    fields.varint("version")
    let isRow = record.isPut || record.isTombstone
    unsafe fields.bytes(record.keyLength, "the key") { bytes in
      let key: Key? = isRow ? try? Key(validating: unsafe bytes.bytes) : nil
      return unsafe key?.literal ?? Self.text(bytes)
    }
    unsafe fields.bytes(record.storedLength, "the value as stored") { unsafe Self.text($0) }
    fields.reserved(record.paddedLength - record.recordLength, "padding")
    return true
  }

  private static func text(_ bytes: UnsafeRawBufferPointer) -> String {
    guard bytes.count <= 256, unsafe [UInt8].isText(bytes) else { return "\(bytes.count) bytes" }
    return unsafe Key.string(String(decoding: bytes, as: UTF8.self)).literal
  }
}
