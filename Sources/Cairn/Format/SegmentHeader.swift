/// The first 128 bytes of a segment. FORMAT.md, section 3.
package struct SegmentHeader: Hashable, Sendable {
  package static let size = 128
  private static let magic: UInt64 = 0x4745_534E_5249_4143  // "CAIRNSEG"

  /// Who writes to the segment.
  package enum Kind: UInt32, Sendable {
    /// Commits, one frame each.
    case log = 1
    /// Compaction, once.
    case compacted = 2
  }

  package var kind = Kind.log
  package var store: UInt128
  package var id: SegmentID
  package var epoch: UInt32
  package var baseSequence: CommitSequence
  /// Nanoseconds since 1970.
  package var created: UInt64
  package var watermark: Watermark
  /// The place where the log that this epoch continues ended.
  package var recoveredEnd: Place
  /// Compaction looked at the rows as of this commit or later: it may have left out what this commit and earlier ones
  /// superseded. 0 unless compaction wrote the segment.
  package var compactedSequence: CommitSequence = 0

  package init(
    kind: Kind = .log, store: UInt128, id: SegmentID, epoch: UInt32, baseSequence: CommitSequence, created: UInt64,
    watermark: Watermark, recoveredEnd: Place, compactedSequence: CommitSequence = 0
  ) {
    self.kind = kind
    self.store = store
    self.id = id
    self.epoch = epoch
    self.baseSequence = baseSequence
    self.created = created
    self.watermark = watermark
    self.recoveredEnd = recoveredEnd
    self.compactedSequence = compactedSequence
  }

  package var seed: PlaceSeed { PlaceSeed(store: store, segment: id, epoch: epoch) }

  package func encoded() -> [UInt8] {
    var writer = ByteWriter()
    writer.append(Self.magic)
    writer.append(Format.majorVersion)
    writer.append(Format.minorVersion)
    writer.append(kind.rawValue)
    writer.append(zeros: 16)
    writer.append(store)
    writer.append(id)
    writer.append(epoch)
    writer.append(baseSequence)
    writer.append(created)
    writer.append(watermark.sequence)
    writer.append(watermark.place.packed)
    writer.append(recoveredEnd.packed)
    writer.append(compactedSequence)
    writer.append(zeros: 20)
    writer.append(CRC32C.checksum(writer.bytes))
    return writer.bytes
  }

  /// What the first bytes of a segment can be.
  package enum Reading {
    case header(SegmentHeader)
    /// All zero: the segment was prepared and never used.
    case unused
    case newerFormat
    case invalid
  }

  package static func read(_ bytes: UnsafeRawBufferPointer) -> Reading {
    let head = unsafe UnsafeRawBufferPointer(rebasing: bytes.prefix(size))
    if unsafe head.allSatisfy({ $0 == 0 }) { return .unused }
    guard head.count == size else { return .invalid }
    var end = unsafe ByteReader(UnsafeRawBufferPointer(rebasing: head.suffix(4)))
    var reader = unsafe ByteReader(head)
    guard reader.next(UInt64.self) == magic,
      unsafe end.next(UInt32.self) == CRC32C.checksum(UnsafeRawBufferPointer(rebasing: head.prefix(size - 4)))
    else { return .invalid }
    guard let major = reader.next(UInt16.self), reader.next(UInt16.self) != nil, let kind = reader.next(UInt32.self),
      let incompatible = reader.next(UInt64.self), reader.next(UInt64.self) != nil
    else { return .invalid }
    // A newer version may use the following fields differently, so they are read only if the version is known.
    guard major == Format.majorVersion, incompatible & ~Format.knownFeatures == 0, let kind = Kind(rawValue: kind)
    else {
      return .newerFormat
    }
    guard let store = reader.next(UInt128.self), let id = reader.next(SegmentID.self),
      let epoch = reader.next(UInt32.self),
      let base = reader.next(CommitSequence.self), let created = reader.next(UInt64.self),
      let sequence = reader.next(CommitSequence.self), let place = reader.next(UInt64.self),
      let recoveredEnd = reader.next(UInt64.self), let compacted = reader.next(CommitSequence.self), reader.zeros(20),
      epoch <= Format.maximumID, base <= Format.maximumBaseSequence, sequence <= Format.maximumSequence,
      compacted <= Format.maximumSequence, kind == .compacted || compacted == 0
    else { return .invalid }
    return .header(
      SegmentHeader(
        kind: kind, store: store, id: id, epoch: epoch, baseSequence: base, created: created,
        watermark: Watermark(sequence: sequence, place: Place(packed: place)),
        recoveredEnd: Place(packed: recoveredEnd), compactedSequence: compacted))
  }
}
