/// How far the log is durable, recorded outside the log. FORMAT.md, section 13.
package struct WatermarkRecord: Hashable, Sendable {
  package static let fileName = "WATERMARK"
  package static let size = 64
  /// The offsets of the two records, each in a block of its own. They are written in turns, so that one of them is
  /// whole at any time.
  package static let offsets = [0, 512]
  package static let fileLength = 1024
  private static let magic: UInt64 = 0x4B4D_574E_5249_4143  // "CAIRNWMK"

  package var store: UInt128
  /// The epoch of the opening that wrote the record. The manifest says how far the segments of earlier epochs are
  /// durable, because it has sealed them.
  package var epoch: UInt32
  package var watermark: Watermark
  /// The offset in its segment of the last frame before the watermark; 0 if there is none.
  package var frame: Int

  package init(store: UInt128, epoch: UInt32, watermark: Watermark, frame: Int) {
    self.store = store
    self.epoch = epoch
    self.watermark = watermark
    self.frame = frame
  }

  func encoded() -> [UInt8] {
    var writer = ByteWriter()
    writer.append(Self.magic)
    writer.append(Format.majorVersion)
    writer.append(Format.minorVersion)
    writer.append(epoch)
    writer.append(store)
    writer.append(watermark.sequence)
    writer.append(watermark.place.packed)
    writer.append(UInt64(frame))
    writer.append(zeros: 4)
    writer.append(CRC32C.checksum(writer.bytes))
    return writer.bytes
  }

  /// nil if the bytes are not a valid record.
  package init?(_ bytes: UnsafeRawBufferPointer) {
    guard bytes.count >= Self.size else { return nil }
    let body = unsafe UnsafeRawBufferPointer(rebasing: bytes[..<(Self.size - 4)])
    var reader = unsafe ByteReader(body)
    var end = unsafe ByteReader(UnsafeRawBufferPointer(rebasing: bytes[(Self.size - 4)..<Self.size]))
    guard reader.next(UInt64.self) == Self.magic, unsafe end.next(UInt32.self) == CRC32C.checksum(body),
      reader.next(UInt16.self) == Format.majorVersion, reader.next(UInt16.self) != nil,
      let epoch = reader.next(UInt32.self), epoch <= Format.maximumID, let store = reader.next(UInt128.self),
      let sequence = reader.next(CommitSequence.self), sequence <= Format.maximumSequence,
      let place = reader.next(UInt64.self), let frame = reader.next(UInt64.self), frame < 1 << 40, reader.zeros(4)
    else { return nil }
    self.init(
      store: store, epoch: epoch, watermark: Watermark(sequence: sequence, place: Place(packed: place)),
      frame: Int(frame))
  }

  /// The newer of the records in a file's bytes, and its number.
  package static func newest(in file: UnsafeRawBufferPointer) -> (record: WatermarkRecord, number: Int)? {
    var newest: (record: WatermarkRecord, number: Int)?
    for (number, offset) in offsets.enumerated() where offset + size <= file.count {
      guard let record = unsafe WatermarkRecord(UnsafeRawBufferPointer(rebasing: file[offset..<offset + size])) else {
        continue
      }
      if let known = newest?.record,
        (known.epoch, known.watermark.sequence) >= (record.epoch, record.watermark.sequence)
      {
        continue
      }
      newest = (record, number)
    }
    return newest
  }
}
