/// The former places of the records in a segment that compaction wrote, as the newest checkpoint has them. FORMAT.md,
/// section 9.
package struct MoveList: Hashable, Sendable {
  private static let headerSize = 64
  private static let magic: UInt64 = 0x564F_4D4E_5249_4143  // "CAIRNMOV"

  package var store: UInt128
  package var segment: SegmentID
  /// The sequence of the checkpoint.
  package var sequence: CommitSequence
  /// A packed place for each record, in order; 0 for those that the checkpoint does not refer to.
  package var places: [UInt64] = []

  package init(store: UInt128, segment: SegmentID, sequence: CommitSequence) {
    self.store = store
    self.segment = segment
    self.sequence = sequence
  }

  /// The most bytes that the list of a segment of `end` bytes takes: no record takes fewer than 16.
  package static func maximumLength(segment end: Int) -> Int { headerSize + end / 16 * 8 }

  func encoded() -> [UInt8] {
    var list = ByteWriter()
    for place in places { list.append(place) }
    var writer = ByteWriter()
    writer.append(Self.magic)
    writer.append(Format.majorVersion)
    writer.append(Format.minorVersion)
    writer.append(segment)
    writer.append(store)
    writer.append(sequence)
    writer.append(UInt64(places.count))
    writer.append(zeros: 8)
    writer.append(CRC32C.checksum(list.bytes))
    writer.append(CRC32C.checksum(writer.bytes))
    return writer.bytes + list.bytes
  }

  /// nil unless the bytes are a whole, valid list.
  package init?(_ file: UnsafeRawBufferPointer) {
    guard file.count >= Self.headerSize else { return nil }
    let head = unsafe UnsafeRawBufferPointer(rebasing: file[..<Self.headerSize])
    let list = unsafe UnsafeRawBufferPointer(rebasing: file[Self.headerSize...])
    var reader = unsafe ByteReader(head)
    var end = unsafe ByteReader(UnsafeRawBufferPointer(rebasing: head.suffix(4)))
    guard reader.next(UInt64.self) == Self.magic,
      unsafe end.next(UInt32.self) == CRC32C.checksum(UnsafeRawBufferPointer(rebasing: head.dropLast(4))),
      reader.next(UInt16.self) == Format.majorVersion, reader.next(UInt16.self) != nil,
      let segment = reader.next(SegmentID.self), let store = reader.next(UInt128.self),
      let sequence = reader.next(CommitSequence.self), let count = reader.next(UInt64.self), reader.zeros(8),
      let checksum = reader.next(UInt32.self), count == UInt64(list.count / 8), list.count % 8 == 0,
      unsafe CRC32C.checksum(list) == checksum
    else { return nil }
    self.init(store: store, segment: segment, sequence: sequence)
    var places = unsafe ByteReader(list)
    self.places.reserveCapacity(Int(count))
    for _ in 0..<count { self.places.append(places.next(UInt64.self) ?? 0) }
  }

  package static func fileName(_ segment: SegmentID) -> String { "\(Format.fileNumber(segment)).moves" }
}
