import CCairnPlatform

/// The log as readers see it: a log address leads to a record in mapped memory in two loads.
///
/// A log address counts units of 8 bytes. Its high bits are a slot of this table; a segment takes as many slots in a
/// row as its mapping needs. An entry is written before any address that leads to it is published, and never changed,
/// so reading it needs no lock.
@safe final class SegmentTable: @unchecked Sendable {
  @safe struct Entry {
    var base: UnsafeRawPointer
    var length: Int
    /// What the entry's first byte is in the segment.
    var offset: Int
    var baseSequence: UInt64
    var seed: PlaceSeed
    var id: UInt32
  }

  private static let chunkCapacity = 4096
  static let addressBits = 39

  /// Logarithm of the units in a slot.
  let slotShift: Int
  private let chunks: UnsafeMutablePointer<UnsafeMutablePointer<Entry>?>
  private let chunkCount: Int
  /// Written by the committer alone.
  private(set) var nextSlot = 0

  init(segmentSize: Int) {
    var shift = 17  // 1 MiB
    while (8 << shift) < segmentSize { shift += 1 }
    slotShift = shift
    chunkCount = max(1, (1 << (Self.addressBits - shift)) / Self.chunkCapacity)
    unsafe chunks = .allocate(capacity: chunkCount)
    unsafe chunks.initialize(repeating: nil, count: chunkCount)
  }

  deinit {
    for chunk in 0..<chunkCount { unsafe chunks[chunk]?.deallocate() }
    unsafe chunks.deallocate()
  }

  /// Enters a mapping; returns its first slot. For the committer, or before the store is shared.
  func enter(_ mapping: any Mapping, id: UInt32, seed: PlaceSeed, baseSequence: UInt64) -> Int {
    let slotLength = 8 << slotShift
    let first = nextSlot
    var offset = 0
    repeat {
      let entries = unsafe chunk(nextSlot / Self.chunkCapacity)
      unsafe entries[nextSlot % Self.chunkCapacity] = unsafe Entry(
        base: mapping.base + offset, length: mapping.length - offset, offset: offset, baseSequence: baseSequence,
        seed: seed, id: id)
      nextSlot += 1
      offset += slotLength
    } while offset < mapping.length
    return first
  }

  /// The next segment has this slot, or a later one. Those between lead to no bytes.
  func skip(to slot: Int) {
    while nextSlot < slot {
      _ = unsafe chunk(nextSlot / Self.chunkCapacity)
      nextSlot = min(slot, (nextSlot / Self.chunkCapacity + 1) * Self.chunkCapacity)
    }
  }

  private func chunk(_ number: Int) -> UnsafeMutablePointer<Entry> {
    precondition(number < chunkCount, "the log has outgrown its addresses")
    if let known = unsafe chunks[number] { return unsafe known }
    let entries = UnsafeMutablePointer<Entry>.allocate(capacity: Self.chunkCapacity)
    let nothing = unsafe Entry(
      base: UnsafeRawPointer(chunks), length: 0, offset: 0, baseSequence: 0, seed: .none, id: 0)
    unsafe entries.initialize(repeating: nothing, count: Self.chunkCapacity)
    unsafe chunks[number] = unsafe entries
    return unsafe entries
  }

  /// The number of slots there are addresses for.
  var slotLimit: Int { chunkCount * Self.chunkCapacity }

  /// Nothing lies at or behind `end`, whatever the file's length. Before the store is shared.
  func limit(slot first: Int, to end: Int) {
    var slot = first
    while slot < nextSlot, case let entry = unsafe entry(UInt64(slot) << UInt64(slotShift)),
      unsafe entry.pointee.offset < end || slot == first
    {
      unsafe entry.pointee.length = unsafe min(entry.pointee.length, end - entry.pointee.offset)
      slot += 1
    }
  }

  /// The address of a byte of a segment.
  @inline(__always)
  func address(slot: Int, offset: Int) -> UInt64 {
    UInt64(truncatingIfNeeded: (slot << slotShift) &+ (offset >> 3))
  }

  @inline(__always)
  private func entry(_ address: UInt64) -> UnsafeMutablePointer<Entry> {
    let slot = Int(truncatingIfNeeded: address >> UInt64(truncatingIfNeeded: slotShift))
    return unsafe chunks[slot / Self.chunkCapacity].unsafelyUnwrapped + slot % Self.chunkCapacity
  }

  @inline(__always)
  private func offset(_ address: UInt64) -> Int {
    Int(truncatingIfNeeded: address & ((1 << UInt64(truncatingIfNeeded: slotShift)) &- 1)) << 3
  }

  /// The record at an address, its checksum verified; nil if the bytes there are not what was written.
  @inline(__always)
  func record(_ address: UInt64) -> RecordView? {
    let entry = unsafe entry(address)
    let offset = offset(address)
    // Few records end in the line they begin in.
    unsafe cairn_prefetch(entry.pointee.base + (offset &+ 64))
    return unsafe RecordView(
      entry.pointee.base + offset, available: entry.pointee.length &- offset,
      checksumStart: entry.pointee.seed.start(entry.pointee.offset &+ offset),
      baseSequence: entry.pointee.baseSequence)
  }

  /// The key of a record that has been verified since the store was opened.
  @inline(__always)
  func key(_ address: UInt64) -> UnsafeRawBufferPointer {
    let entry = unsafe entry(address)
    let record = unsafe entry.pointee.base + offset(address)
    guard
      let header = unsafe RecordHeader(
        record, available: entry.pointee.length &- offset(address), baseSequence: entry.pointee.baseSequence)
    else { preconditionFailure("a record has changed since it was read") }
    return unsafe UnsafeRawBufferPointer(start: record + header.length, count: header.keyLength)
  }

  func place(_ address: UInt64) -> Place {
    let entry = unsafe entry(address)
    return unsafe Place(segment: entry.pointee.id, offset: entry.pointee.offset + offset(address))
  }

  @inline(__always)
  func slot(_ address: UInt64) -> Int { Int(truncatingIfNeeded: address >> UInt64(truncatingIfNeeded: slotShift)) }

  @inline(__always)
  func prefetch(_ address: UInt64) {
    let record = unsafe entry(address).pointee.base + offset(address)
    unsafe cairn_prefetch(record)
    unsafe cairn_prefetch(record + 64)
  }
}
