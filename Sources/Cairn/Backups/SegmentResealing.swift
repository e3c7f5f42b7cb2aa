/// The bytes of a segment with the checksums that they have in another store. FORMAT.md, section 3.
struct SegmentResealing {
  private let segment: Segment
  private let end: Int
  private let header: SegmentHeader
  private var offset = 0
  /// The number that the next frame follows: a commit in the chain, else the number of a frame.
  private var last: CommitSequence
  /// Records that have been verified.
  private(set) var records = 0

  /// - Throws: `corrupted` if the segment's header is damaged.
  init(_ segment: Segment, upTo end: Int, as store: UInt128) throws(StoreError) {
    guard var header = segment.header else {
      throw StoreError(.corrupted, "the segment's header is invalid", place: Place(segment: segment.id, offset: 0))
    }
    header.store = store
    self.segment = segment
    self.end = end
    self.header = header
    last = segment.isCompacted ? 0 : segment.baseSequence
  }

  /// The next bytes: whole frames, until there are at least `length` bytes; empty at the end of the segment.
  ///
  /// - Throws: `corrupted` if a frame is damaged.
  mutating func next(_ length: Int) throws(StoreError) -> [UInt8] {
    var bytes = offset == 0 ? header.encoded() : []
    offset += bytes.count
    while offset < end, bytes.count < length { try appendFrame(to: &bytes) }
    return bytes
  }

  /// The frame is copied before it is verified: what gets a valid checksum is exactly what had one.
  private mutating func appendFrame(to bytes: inout [UInt8]) throws(StoreError) {
    let damage = StoreError(
      .corrupted, "a frame that was durable is invalid", place: Place(segment: segment.id, offset: offset))
    guard let length = unsafe FrameHeader(segment.mapping.base + offset, available: end - offset)?.length else {
      throw damage
    }
    let start = bytes.count
    unsafe bytes.append(contentsOf: UnsafeRawBufferPointer(start: segment.mapping.base + offset, count: length))
    let (segment, header, place, expected) = (segment, header, offset, last.next)
    let count: Int? = unsafe bytes.withUnsafeMutableBytes { bytes in
      let copy = unsafe UnsafeMutableRawBufferPointer(rebasing: bytes[start...])
      let frame = unsafe FrameView(
        UnsafeRawPointer(copy.baseAddress.unsafelyUnwrapped), available: length, offset: place, seed: segment.seed,
        baseSequence: segment.baseSequence, isCompacted: segment.isCompacted)
      guard let frame, frame.header.length == length, frame.header.sequence == expected else { return nil }
      unsafe frame.seal(copy.baseAddress.unsafelyUnwrapped, with: header.seed)
      return frame.header.recordCount
    }
    guard let count else { throw damage }
    records += count
    last = expected
    offset += length
  }
}

extension FrameView {
  /// Writes the checksums that the frame has with another seed into its own bytes.
  fileprivate func seal(_ bytes: UnsafeMutableRawPointer, with seed: PlaceSeed) {
    var register = unsafe CRC32C.register(seed.start(offset), bytes + 8, FrameHeader.size - 8)
    forEachRecord { record, place in
      let copy = unsafe bytes + (place - offset)
      let checksum = unsafe ~CRC32C.register(seed.start(place), copy + 4, record.header.recordLength - 4)
      unsafe copy.storeBytes(of: checksum.littleEndian, as: UInt32.self)
      register = unsafe CRC32C.register(register, copy, 4)
    }
    unsafe bytes.storeBytes(of: (~register).littleEndian, toByteOffset: 4, as: UInt32.self)
  }
}
