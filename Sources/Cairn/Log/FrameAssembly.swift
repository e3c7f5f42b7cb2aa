import Synchronization

/// Puts a frame together and writes it: a small one with one call, a large one piece by piece and its header last.
///
/// Reused from frame to frame. The committer has one, compaction another.
@safe struct FrameAssembly: ~Copyable {
  /// Values of this many bytes or more are written straight from the caller's memory.
  private static let largeValue = 1 << 16
  private static let pieceLength = 1 << 20

  private var memory: UnsafeMutableRawPointer
  private var capacity: Int
  private var count = 0
  private var recordChecksums: [UInt32] = []
  private var recordCount = 0

  // The current frame.
  private let log: Log
  private var segment: Segment?
  private var extent = 0
  private var seed = PlaceSeed.none
  private var baseSequence: CommitSequence = 0
  private var offset = 0
  /// Bytes of the frame that have already been written to the file; the bytes in `memory` follow them.
  private var written = 0
  private var sequence: CommitSequence = 0
  private var time: UInt64 = 0
  private var watermark = Watermark.none

  init(log: Log) {
    self.log = log
    capacity = 1 << 16
    unsafe memory = .allocate(byteCount: capacity, alignment: 16)
  }

  deinit { unsafe memory.deallocate() }

  /// Begins the frame of a commit. Returns the sequence of the commit.
  mutating func begin(_ needs: FrameNeeds, in writer: inout LogWriter) throws(StoreError) -> CommitSequence {
    let (segment, offset) = try writer.room(for: needs.bound, needs.effect)
    begin(in: segment, at: offset, writer.lastSequence.next)
    return sequence
  }

  /// Begins the next frame of a segment, which has room for it.
  mutating func begin(in segment: Segment, at offset: Int, _ sequence: CommitSequence) {
    self.segment = segment
    extent = segment.extent
    seed = segment.seed
    baseSequence = segment.baseSequence
    self.offset = offset
    self.sequence = sequence
    time = log.environment.clock()
    watermark = log.syncs.durable.watermark
    written = 0
    count = FrameHeader.size
    recordCount = 0
    recordChecksums.removeAll(keepingCapacity: true)
  }

  /// Bytes of the frame so far.
  var length: Int { written + count }

  /// Makes sure that a frame of up to `bound` bytes can be assembled without asking the system for memory.
  mutating func reserve(frame bound: Int) throws(StoreError) {
    let wanted = min(bound, Self.pieceLength + 2 * Self.largeValue)
    guard wanted > capacity else { return }
    let larger = try unsafe allocateMemory(wanted)
    unsafe memory.deallocate()
    unsafe memory = unsafe larger
    capacity = wanted
  }

  private mutating func reserve(_ more: Int) {
    guard count + more > capacity else { return }
    while capacity < count + more { capacity *= 2 }
    let larger = UnsafeMutableRawPointer.allocate(byteCount: capacity, alignment: 16)
    unsafe larger.copyMemory(from: memory, byteCount: count)
    unsafe memory.deallocate()
    unsafe memory = unsafe larger
  }

  /// Adds a record of the frame's commit, or of an earlier one if `sequence` says so. Returns its log address and
  /// its length with padding.
  @inline(__always)
  mutating func add(
    _ kind: RecordKind, keyspace: KeyspaceID, key: UnsafeRawBufferPointer, value: UnsafeRawBufferPointer,
    compressedFrom rawLength: Int?, dictionary: DictionaryID = 0, version: UInt64, sequence: CommitSequence? = nil
  ) throws(StoreError) -> (address: LogAddress, length: Int) {
    let header = RecordHeader(
      kind: kind, compressed: rawLength != nil, dictionary: dictionary, keyspace: keyspace, keyLength: key.count,
      storedLength: value.count, rawLength: rawLength ?? value.count, sequence: sequence ?? self.sequence,
      version: version,
      baseSequence: baseSequence)
    unsafe segment.unsafelyUnwrapped.use(dictionary: dictionary)
    let isLarge = value.count >= Self.largeValue
    let length = header.paddedLength
    let inMemory = isLarge ? header.length + key.count : length
    reserve(inMemory)
    let record = unsafe memory + count
    unsafe header.write(to: record, baseSequence: baseSequence)
    if let base = key.baseAddress { unsafe (record + header.length).copyMemory(from: base, byteCount: key.count) }
    let start = offset &+ written &+ count
    var register = seed.start(start)
    if isLarge {
      register = unsafe CRC32C.register(register, record + 4, inMemory - 4)
      register = unsafe CRC32C.register(register, value.baseAddress.unsafelyUnwrapped, value.count)
      unsafe record.storeBytes(of: (~register).littleEndian, as: UInt32.self)
      count += inMemory
      try flush()
      try unsafe write(value, at: offset + written)
      written += value.count
      let padding = length - header.recordLength
      unsafe memory.storeBytes(of: 0, as: UInt64.self)
      count = padding
    } else {
      if let base = value.baseAddress {
        unsafe (record + header.length + key.count).copyMemory(from: base, byteCount: value.count)
      }
      for padding in header.recordLength..<length {
        unsafe record.storeBytes(of: 0, toByteOffset: padding, as: UInt8.self)
      }
      register = unsafe CRC32C.register(register, record + 4, header.recordLength &- 4)
      unsafe record.storeBytes(of: (~register).littleEndian, as: UInt32.self)
      count += length
      if count >= Self.pieceLength { try flush() }
    }
    recordChecksums.append((~register).littleEndian)
    recordCount += 1
    return (log.table.address(extent: extent, offset: start), length)
  }

  /// Counts bytes of records that are the newest of their rows once the frame is published, and bytes of tombstones.
  func count(live: Int, tombstones: Int) {
    unsafe segment.unsafelyUnwrapped.liveBytes.add(live, ordering: .relaxed)
    if tombstones > 0 { unsafe segment.unsafelyUnwrapped.tombstoneBytes.add(tombstones, ordering: .relaxed) }
  }

  /// The extent of the segment the frame goes to.
  var segmentExtent: Int { extent }

  /// Writes the bytes in memory, except the room for the header.
  private mutating func flush() throws(StoreError) {
    let skipped = written == 0 ? FrameHeader.size : 0
    try unsafe write(
      UnsafeRawBufferPointer(start: memory + skipped, count: count - skipped), at: offset + written + skipped)
    written += count
    count = 0
  }

  private func write(_ bytes: UnsafeRawBufferPointer, at offset: Int) throws(StoreError) {
    try unsafe log.write(segment.unsafelyUnwrapped, bytes, at: offset)
  }

  /// Writes the remaining bytes and the header of a commit's frame. After that the commit is in the log.
  mutating func finish(isSynced: Bool, in writer: inout LogWriter) throws(StoreError) {
    let segment = unsafe segment.unsafelyUnwrapped
    if isSynced, written == 0 { try writer.zeroAhead(segment, from: offset, count) }
    writer.appended(segment, end: try writeRest(), sequence: sequence)
  }

  /// Writes the remaining bytes and the header of a frame that compaction copies.
  mutating func finish() throws(StoreError) {
    unsafe segment.unsafelyUnwrapped.end.store(try writeRest(), ordering: .releasing)
  }

  /// Writes the remaining bytes and the header; returns the offset at which the frame ends.
  private mutating func writeRest() throws(StoreError) -> Int {
    let segment = unsafe segment.unsafelyUnwrapped
    let length = written + count
    let header = FrameHeader(
      length: length, recordCount: recordCount, sequence: sequence, time: time, watermark: watermark)
    if written > 0 {
      // The earlier bytes are in the file already; the header is written last.
      if count > 0 { try flush() }
      count = FrameHeader.size
    }
    unsafe header.write(to: memory)
    var register = unsafe CRC32C.register(segment.seed.start(offset), memory + 8, FrameHeader.size - 8)
    register = unsafe recordChecksums.withUnsafeBytes {
      unsafe CRC32C.register(register, $0.baseAddress.unsafelyUnwrapped, $0.count)
    }
    unsafe memory.storeBytes(of: (~register).littleEndian, toByteOffset: 4, as: UInt32.self)
    try unsafe write(UnsafeRawBufferPointer(start: memory, count: count), at: offset)
    written = 0
    count = 0
    if capacity > 4 * Self.pieceLength {
      unsafe memory.deallocate()
      capacity = 1 << 16
      unsafe memory = .allocate(byteCount: capacity, alignment: 16)
    }
    return offset + length
  }
}
