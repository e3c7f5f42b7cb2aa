import CCairnPlatform
import Synchronization

/// The log as readers see it: from a log address to a record in mapped memory in two loads.
///
/// A log address counts units of 8 bytes. Its high bits are the number of an extent; a segment takes as many
/// consecutive extents as its mapping needs. An entry is written before any address that refers to it is published, and
/// is not changed while there is one, so reading it needs no lock. The extents of a segment that has been compacted are
/// freed once no reader can have an address in them.
@safe final class SegmentTable: @unchecked Sendable {
  @safe struct Entry: ~Copyable {
    let base: UnsafeRawPointer
    /// How many bytes from `base` on may be read.
    let length: Atomic<Int>
    /// The offset of the entry's first byte in the segment.
    let offset: Int
    let baseSequence: CommitSequence
    let seed: PlaceSeed
    let id: SegmentID
  }

  private static let chunkShift = 12
  private static let chunkCapacity = 1 << chunkShift
  static let addressBits = 39

  /// Base-2 logarithm of the number of units in an extent.
  let extentShift: Int
  private let chunks: UnsafeMutablePointer<UnsafeMutablePointer<Entry>?>
  private let chunkCount: Int
  /// All extents that have been given to segments are below this. Written by the committer alone.
  private(set) var extentCount = 0
  /// Extents below `extentCount` that no segment has.
  private var freeExtents: [Int] = []

  init(segmentSize: Int) {
    var shift = 17  // 1 MiB
    while (8 << shift) < segmentSize { shift += 1 }
    extentShift = shift
    chunkCount = max(1, (1 << (Self.addressBits - shift)) / Self.chunkCapacity)
    unsafe chunks = .allocate(capacity: chunkCount)
    unsafe chunks.initialize(repeating: nil, count: chunkCount)
  }

  deinit {
    for chunk in 0..<chunkCount { unsafe chunks[chunk]?.deallocate() }
    unsafe chunks.deallocate()
  }

  /// Enters a mapping, at the extents from `first` on or, without `first`, wherever there is room; returns its extents.
  /// For the committer, or before the store is shared.
  func enter(
    _ mapping: any Mapping, id: SegmentID, seed: PlaceSeed, baseSequence: CommitSequence, at first: Int? = nil
  ) -> Range<Int> {
    let extentLength = 8 << extentShift
    let count = extentCount(for: mapping.length)
    let first = first ?? (count == 1 ? freeExtents.popLast() : nil) ?? extentCount
    reserve(first + count)
    for number in 0..<count {
      let offset = number * extentLength
      unsafe pointer(first + number).pointee = unsafe Entry(
        base: mapping.base + offset, length: Atomic(mapping.length - offset), offset: offset,
        baseSequence: baseSequence,
        seed: seed, id: id)
    }
    return first..<first + count
  }

  func extentCount(for length: Int) -> Int { max(1, (length + (8 << extentShift) - 1) / (8 << extentShift)) }

  /// Frees the extents of a segment; no index may have an address in them any more.
  func leave(_ extents: Range<Int>) { freeExtents += extents.reversed() }

  /// Makes all extents below `count` known. They have no bytes until a mapping is entered there.
  func reserve(_ count: Int) {
    var number = extentCount / Self.chunkCapacity
    while number * Self.chunkCapacity < count {
      _ = unsafe chunk(number)
      number += 1
    }
    extentCount = max(extentCount, count)
  }

  /// Frees the extents below `extentCount` other than these. Before the store is shared.
  func keepOnly(_ used: [Range<Int>]) {
    var isUsed = [Bool](repeating: false, count: extentCount)
    for extents in used { for extent in extents { isUsed[extent] = true } }
    freeExtents = (0..<extentCount).reversed().filter { !isUsed[$0] }
  }

  private func chunk(_ number: Int) -> UnsafeMutablePointer<Entry> {
    guard number < chunkCount else { fatalError("the log is too large for its addresses") }
    if let known = unsafe chunks[number] { return unsafe known }
    let entries = UnsafeMutablePointer<Entry>.allocate(capacity: Self.chunkCapacity)
    for number in 0..<Self.chunkCapacity {
      unsafe (entries + number).initialize(
        to: Entry(
          base: UnsafeRawPointer(chunks), length: Atomic(0), offset: 0, baseSequence: 0, seed: .none, id: 0))
    }
    unsafe chunks[number] = unsafe entries
    return unsafe entries
  }

  /// The number of extents there are addresses for.
  var extentLimit: Int { chunkCount * Self.chunkCapacity }

  /// Ends the extents of a segment at `end`, whatever the mapping's length. Once the store is shared, the end may only
  /// move forward.
  func limit(_ extents: Range<Int>, to end: Int) {
    for extent in extents {
      let entry = unsafe pointer(extent)
      unsafe entry.pointee.length.store(max(0, end - entry.pointee.offset), ordering: .relaxed)
    }
  }

  @inline(__always)
  private func pointer(_ extent: Int) -> UnsafeMutablePointer<Entry> {
    let chunk = unsafe chunks[extent &>> Self.chunkShift].unsafelyUnwrapped
    return unsafe chunk + extent & (Self.chunkCapacity &- 1)
  }

  /// The address of a byte of a segment.
  @inline(__always)
  func address(extent: Int, offset: Int) -> LogAddress {
    LogAddress(UInt64(truncatingIfNeeded: (extent << extentShift) &+ (offset >> 3)))
  }

  @inline(__always)
  fileprivate func entry(_ address: LogAddress) -> UnsafeMutablePointer<Entry> { unsafe pointer(extent(address)) }

  /// The offset of an address in its extent, in bytes.
  @inline(__always)
  func offset(_ address: LogAddress) -> Int {
    Int(truncatingIfNeeded: address.rawValue & ((1 &<< UInt64(truncatingIfNeeded: extentShift)) &- 1)) &<< 3
  }

  /// The record at an address, with its checksum verified; nil if the bytes there are not those that were written.
  @inline(__always)
  func record(_ address: LogAddress) -> RecordView? { RecordView(at: address, in: self) }

  /// The key of a record that has been verified since the store was opened.
  @inline(__always)
  func key(_ address: LogAddress) -> UnsafeRawBufferPointer { unsafe verified(address).key }

  /// The sequence of the commit that wrote a record that has been verified since the store was opened.
  @inline(__always)
  func sequence(_ address: LogAddress) -> CommitSequence { verified(address).header.sequence }

  /// A record that has been verified since the store was opened.
  @inline(__always)
  func verified(_ address: LogAddress) -> RecordView {
    let entry = unsafe entry(address)
    let record = unsafe entry.pointee.base + offset(address)
    guard
      let header = unsafe RecordHeader(
        record, available: entry.pointee.length.load(ordering: .relaxed) &- offset(address),
        baseSequence: entry.pointee.baseSequence)
    else { fatalError("a record has changed since it was read") }
    return unsafe RecordView(verified: header, record)
  }

  func place(_ address: LogAddress) -> Place {
    let entry = unsafe entry(address)
    return unsafe Place(segment: entry.pointee.id, offset: entry.pointee.offset + offset(address))
  }

  @inline(__always)
  func extent(_ address: LogAddress) -> Int {
    Int(truncatingIfNeeded: address.rawValue &>> UInt64(truncatingIfNeeded: extentShift))
  }

  @inline(__always)
  func prefetch(_ address: LogAddress) {
    let record = unsafe entry(address).pointee.base + offset(address)
    unsafe cairn_prefetch(record)
    unsafe cairn_prefetch(record + 64)
    unsafe cairn_prefetch(record + 128)
  }
}

extension RecordView {
  /// As ``SegmentTable/record(_:)``. Transparent because looking up a row must not call it: the optimizer inlines it
  /// there or not depending on the order of the files.
  @_transparent
  init?(at address: LogAddress, in table: SegmentTable) {
    let entry = unsafe table.entry(address)
    let offset = table.offset(address)
    // Few records end in the cache line they begin in.
    unsafe cairn_prefetch(entry.pointee.base + (offset &+ 64))
    unsafe self.init(
      entry.pointee.base + offset, available: entry.pointee.length.load(ordering: .relaxed) &- offset,
      checksumStart: entry.pointee.seed.start(entry.pointee.offset &+ offset),
      baseSequence: entry.pointee.baseSequence)
  }
}
