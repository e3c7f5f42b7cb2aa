@testable import Cairn

/// Corrects checksums, magic numbers and lengths, and leaves all else as it is, so that fuzzing gets past them.
enum Mending {
  static func manifest(_ bytes: inout [UInt8]) {
    guard bytes.count >= 24 else { return }
    bytes.replace(at: 0, Array("CAIRNMAN".utf8))
    bytes.replace(at: 12, UInt32(truncatingIfNeeded: bytes.count))
    bytes.replace(at: bytes.count - 8, CRC32C.checksum(Array(bytes.dropLast(8))))
    bytes.replace(at: bytes.count - 4, UInt32(0))
  }

  static func checkpoint(_ bytes: inout [UInt8]) {
    let size = 128
    guard bytes.count >= CheckpointTables.nodesStart + 4 else { return }
    let end = bytes[80..<88].reversed().reduce(0) { $0 << 8 | UInt64($1) }
    if end >= UInt64(CheckpointTables.nodesStart), end <= UInt64(bytes.count) {
      var checksum = Int(end)
      for start in stride(from: CheckpointTables.nodesStart, to: Int(end), by: CheckpointTables.chunkSize)
      where checksum + 4 <= bytes.count {
        let chunk = bytes[start..<min(start + CheckpointTables.chunkSize, Int(end))]
        bytes.replace(at: checksum, CRC32C.checksum(Array(chunk)))
        checksum += 4
      }
      bytes.replace(at: size - 8, CRC32C.checksum(Array(bytes[Int(end)...])))
    }
    bytes.replace(at: size - 4, CRC32C.checksum(Array(bytes.prefix(size - 4))))
  }

  /// Makes a segment's header name a certain store, id and epoch.
  static func belongs(_ bytes: inout [UInt8], to store: UInt128, id: UInt32, epoch: UInt32) {
    guard bytes.count >= SegmentHeader.size else { return }
    bytes.replace(at: 32, store)
    bytes.replace(at: 48, id)
    bytes.replace(at: 52, epoch)
  }

  static func segment(_ bytes: inout [UInt8]) {
    guard bytes.count >= SegmentHeader.size else { return }
    bytes.replace(at: 0, Array("CAIRNSEG".utf8))
    bytes.replace(at: 124, CRC32C.checksum(Array(bytes.prefix(124))))
    guard case .header(let header) = unsafe bytes.withUnsafeBytes({ unsafe SegmentHeader.read($0) }) else { return }
    var offset = SegmentHeader.size
    while let frame = unsafe bytes.withUnsafeBytes({ (raw) -> FrameHeader? in
      guard raw.count >= offset + FrameHeader.size, let base = raw.baseAddress else { return nil }
      return unsafe FrameHeader(base + offset, available: raw.count - offset)
    }) {
      Self.frame(&bytes, at: offset, frame, header)
      offset += frame.length
    }
  }

  private static func frame(_ bytes: inout [UInt8], at offset: Int, _ frame: FrameHeader, _ segment: SegmentHeader) {
    var checksums = Array(bytes[offset + 8..<offset + FrameHeader.size])
    var position = offset + FrameHeader.size
    let end = offset + frame.length
    for _ in 0..<frame.recordCount {
      let record = unsafe bytes.withUnsafeBytes { (raw) -> RecordHeader? in
        guard let base = raw.baseAddress else { return nil }
        return unsafe RecordHeader(base + position, available: end - position, baseSequence: segment.baseSequence)
      }
      guard let record else { break }
      let content = Array(bytes[position + 4..<position + record.recordLength])
      bytes.replace(at: position, checksum(content, start: segment.seed.start(position)))
      checksums += bytes[position..<position + 4]
      position += record.paddedLength
    }
    bytes.replace(at: offset + 4, checksum(checksums, start: segment.seed.start(offset)))
  }

  private static func checksum(_ bytes: [UInt8], start: UInt32) -> UInt32 {
    unsafe bytes.withUnsafeBytes { bytes in
      guard let base = bytes.baseAddress else { return ~start }
      return unsafe ~CRC32C.register(start, base, bytes.count)
    }
  }
}

extension [UInt8] {
  fileprivate mutating func replace(at offset: Int, _ bytes: [UInt8]) {
    replaceSubrange(offset..<offset + bytes.count, with: bytes)
  }

  fileprivate mutating func replace(at offset: Int, _ value: some FixedWidthInteger & BitwiseCopyable) {
    replace(at: offset, unsafe Swift.withUnsafeBytes(of: value.littleEndian) { unsafe Array($0) })
  }
}
