/// The header of one batch in the log. FORMAT.md, section 4.
package struct FrameHeader: Hashable, Sendable {
  package static let size = 48
  package static let kind: UInt32 = 0x314D_5246

  /// Bytes, header included.
  package var length: Int
  package var recordCount: Int
  package var sequence: CommitSequence
  /// Nanoseconds since 1970.
  package var time: UInt64
  package var watermark: Watermark

  package init(length: Int, recordCount: Int, sequence: CommitSequence, time: UInt64, watermark: Watermark) {
    self.length = length
    self.recordCount = recordCount
    self.sequence = sequence
    self.time = time
    self.watermark = watermark
  }

  package func write(to frame: UnsafeMutableRawPointer) {
    unsafe frame.storeBytes(of: Self.kind.littleEndian, as: UInt32.self)
    unsafe frame.storeBytes(of: UInt32(length >> 3).littleEndian, toByteOffset: 8, as: UInt32.self)
    unsafe frame.storeBytes(of: UInt32(recordCount).littleEndian, toByteOffset: 12, as: UInt32.self)
    unsafe frame.storeBytes(of: sequence.rawValue.littleEndian, toByteOffset: 16, as: UInt64.self)
    unsafe frame.storeBytes(of: time.littleEndian, toByteOffset: 24, as: UInt64.self)
    unsafe frame.storeBytes(of: watermark.sequence.rawValue.littleEndian, toByteOffset: 32, as: UInt64.self)
    unsafe frame.storeBytes(of: watermark.place.packed.littleEndian, toByteOffset: 40, as: UInt64.self)
  }

  /// Whether four bytes are those with which a frame begins.
  static func begins(_ bytes: UnsafeRawPointer) -> Bool {
    unsafe UInt32(littleEndian: bytes.load(as: UInt32.self)) == kind
  }

  /// Reads a header; nil if the bytes are not one or the frame doesn't fit in `available` bytes. Does not verify the
  /// checksum.
  package init?(_ frame: UnsafeRawPointer, available: Int) {
    guard available >= Self.size, unsafe UInt32(littleEndian: frame.load(as: UInt32.self)) == Self.kind else {
      return nil
    }
    length = unsafe Int(UInt32(littleEndian: frame.load(fromByteOffset: 8, as: UInt32.self))) << 3
    recordCount = unsafe Int(UInt32(littleEndian: frame.load(fromByteOffset: 12, as: UInt32.self)))
    sequence = unsafe CommitSequence(UInt64(littleEndian: frame.load(fromByteOffset: 16, as: UInt64.self)))
    time = unsafe UInt64(littleEndian: frame.load(fromByteOffset: 24, as: UInt64.self))
    watermark = unsafe Watermark(
      sequence: CommitSequence(UInt64(littleEndian: frame.load(fromByteOffset: 32, as: UInt64.self))),
      place: Place(packed: UInt64(littleEndian: frame.load(fromByteOffset: 40, as: UInt64.self))))
    guard length >= Self.size, length <= available, sequence <= Format.maximumSequence,
      watermark.sequence <= Format.maximumSequence
    else { return nil }
  }
}

extension FrameHeader {
  /// The number of records in the frames between two offsets of a segment, according to the frames' headers; never more
  /// than there is room for, however damaged the headers are.
  static func recordCount(_ segment: UnsafeRawPointer, from start: Int, upTo limit: Int) -> Int {
    var offset = start
    var count = 0
    while offset < limit, let frame = unsafe FrameHeader(segment + offset, available: limit - offset) {
      count += min(frame.recordCount, (frame.length - size) / RecordHeader.leastPaddedLength)
      offset += frame.length
    }
    return count
  }
}

/// The place and sequence up to which the log is known to be on stable storage.
package struct Watermark: Hashable, Sendable {
  package var sequence: CommitSequence
  package var place: Place

  package init(sequence: CommitSequence, place: Place) {
    self.sequence = sequence
    self.place = place
  }

  package static let none = Watermark(sequence: 0, place: Place(segment: 0, offset: 0))
}

/// A whole frame in memory, everything in it verified.
@safe package struct FrameView {
  package let header: FrameHeader
  /// The frame's first byte.
  package let base: UnsafeRawPointer
  package let offset: Int
  let seed: PlaceSeed
  let baseSequence: CommitSequence

  /// nil if anything in the frame is invalid. The records of a frame that compaction wrote may be of any commits.
  package init?(
    _ frame: UnsafeRawPointer, available: Int, offset: Int, seed: PlaceSeed, baseSequence: CommitSequence,
    isCompacted: Bool = false
  ) {
    guard let header = unsafe FrameHeader(frame, available: available) else { return nil }
    self.header = header
    unsafe base = unsafe frame
    self.offset = offset
    self.seed = seed
    self.baseSequence = baseSequence

    var checksum = unsafe CRC32C.register(seed.start(offset), frame + 8, FrameHeader.size - 8)
    var position = FrameHeader.size
    for _ in 0..<header.recordCount {
      guard let record = record(at: position), record.header.kind != nil,
        isCompacted || record.header.sequence == header.sequence
      else { return nil }
      checksum = unsafe CRC32C.register(checksum, frame + position, 4)
      for padding in record.header.recordLength..<record.header.paddedLength
      where unsafe frame.load(fromByteOffset: position + padding, as: UInt8.self) != 0 { return nil }
      position += record.header.paddedLength
    }
    guard position == header.length,
      unsafe ~checksum == UInt32(littleEndian: frame.load(fromByteOffset: 4, as: UInt32.self))
    else { return nil }
  }

  @inline(__always)
  private func record(at position: Int) -> RecordView? {
    guard position < header.length else { return nil }
    // The padding has to fit too; frames and records are multiples of 8, so it fits if the record does.
    return unsafe RecordView(
      base + position, available: header.length &- position, checksumStart: seed.start(offset &+ position),
      baseSequence: baseSequence)
  }

  /// Calls `body` with the frame's records in order, and with their offsets in the segment.
  package func forEachRecord<E>(_ body: (RecordView, _ offset: Int) throws(E) -> Void) throws(E) {
    var position = FrameHeader.size
    for _ in 0..<header.recordCount {
      guard
        let header = unsafe RecordHeader(
          base + position, available: header.length - position, baseSequence: baseSequence)
      else { return }
      try unsafe body(RecordView(verified: header, base + position), offset + position)
      position += header.paddedLength
    }
  }
}

extension RecordView {
  init(verified header: RecordHeader, _ base: UnsafeRawPointer) {
    self.header = header
    unsafe self.base = unsafe base
  }
}
