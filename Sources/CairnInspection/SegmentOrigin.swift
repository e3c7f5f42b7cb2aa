package import Cairn

/// Where a segment belongs, on which its checksums depend. Comes from the header or, if that is damaged, from the
/// manifest and the first frame.
package struct SegmentOrigin: Sendable {
  package let id: SegmentID
  package let epoch: UInt32
  package let seed: PlaceSeed
  package let baseSequence: CommitSequence
  /// Whether compaction wrote the segment: its frames are numbered from 1, and their records are of any commits.
  package let isCompacted: Bool

  init?(_ mapping: any Mapping, _ entry: Manifest.Segment, _ manifest: Manifest?) {
    id = entry.id
    if case .header(let header) = unsafe SegmentHeader.read(mapping.bytes) {
      epoch = header.epoch
      seed = header.seed
      baseSequence = header.baseSequence
      isCompacted = header.kind == .compacted
      return
    }
    // A segment that is not sealed belongs to the last epoch, and its first frame follows the base sequence.
    guard let manifest, mapping.length >= SegmentHeader.size + FrameHeader.size else { return nil }
    epoch = entry.epoch == 0 ? manifest.epoch : entry.epoch
    seed = PlaceSeed(store: manifest.store, segment: entry.id, epoch: epoch)
    let first = unsafe FrameHeader(mapping.base + SegmentHeader.size, available: mapping.length - SegmentHeader.size)
    guard let sequence = entry.end != nil ? entry.baseSequence : first.map({ $0.sequence.previous }) else { return nil }
    baseSequence = sequence
    // Only the header says whether compaction wrote the segment. Without a header, it did if the first frame is valid
    // only when the frame may contain records of other commits.
    let seed = seed
    func isValid(isCompacted: Bool) -> Bool {
      unsafe FrameView(
        mapping.base + SegmentHeader.size, available: mapping.length - SegmentHeader.size, offset: SegmentHeader.size,
        seed: seed, baseSequence: sequence, isCompacted: isCompacted) != nil
    }
    isCompacted = entry.end != nil && !isValid(isCompacted: false) && isValid(isCompacted: true)
  }

  /// The frame at an offset; nil if anything in it is invalid.
  func frame(in mapping: any Mapping, at offset: Int, limit: Int) -> FrameView? {
    unsafe FrameView(
      mapping.base + offset, available: limit - offset, offset: offset, seed: seed, baseSequence: baseSequence,
      isCompacted: isCompacted)
  }

  /// The record at an offset; nil if anything in it is invalid.
  func record(in mapping: any Mapping, at offset: Int, limit: Int) -> RecordView? {
    let record = unsafe mapping.base + offset
    // Most bytes that are not a record can be told by their header, before the checksum is computed.
    guard
      let header = unsafe RecordHeader(record, available: limit - offset, baseSequence: baseSequence),
      header.kind != nil, header.sequence <= Format.maximumSequence
    else { return nil }
    return unsafe RecordView(
      record, available: limit - offset, checksumStart: seed.start(offset), baseSequence: baseSequence)
  }

  /// The valid records in a range that is not a valid frame. Their checksums depend on their places, so that no bytes
  /// pass for a record by chance.
  func validRecords(in mapping: any Mapping, _ range: Range<Int>) -> [(record: RecordView, offset: Int)] {
    var records: [(record: RecordView, offset: Int)] = []
    var offset = range.lowerBound
    while offset < range.upperBound {
      if let record = record(in: mapping, at: offset, limit: range.upperBound) {
        records.append((record, offset))
        offset += record.header.paddedLength
      } else {
        offset += Format.unit
      }
    }
    return records
  }

  /// The offset of the first valid frame at or after `start`; nil if there is none. Checksums depend on the place, so
  /// that no bytes pass for a frame by chance.
  func nextFrame(in mapping: any Mapping, from start: Int, limit: Int) -> Int? {
    var offset = start
    while offset + FrameHeader.size <= limit {
      if frame(in: mapping, at: offset, limit: limit) != nil { return offset }
      offset += Format.unit
    }
    return nil
  }

  func forEachFrame(in mapping: any Mapping, from start: Int, _ body: (FrameView) -> Void) {
    var offset = start
    while offset + FrameHeader.size <= mapping.length {
      if let frame = frame(in: mapping, at: offset, limit: mapping.length) {
        body(frame)
        offset += frame.header.length
      } else {
        offset += Format.unit
      }
    }
  }

  /// Why the first bytes are not a valid header.
  static func problem(_ mapping: any Mapping) -> String {
    guard mapping.length >= SegmentHeader.size else { return "the file ends within the header" }
    let bytes = unsafe mapping.bytes
    let checksum = unsafe bytes.loadUnaligned(fromByteOffset: SegmentHeader.size - 4, as: UInt32.self)
    let body = unsafe UnsafeRawBufferPointer(rebasing: bytes[..<(SegmentHeader.size - 4)])
    guard unsafe UInt32(littleEndian: checksum) == CRC32C.checksum(body) else {
      return "the header's checksum is wrong"
    }
    return "the header's first bytes are wrong, or a reserved byte in it is not zero"
  }
}
