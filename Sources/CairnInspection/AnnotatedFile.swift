package import Cairn

/// Annotates the bytes of a store's files, other than segments, with the names of their fields.
package enum AnnotatedFile {
  /// The fields of a manifest.
  package static func manifest(_ bytes: [UInt8]) -> [Annotation] {
    unsafe bytes.withUnsafeBytes { bytes in
      var fields = unsafe FieldReader(bytes)
      let length = bytes.count
      fields.magic("CAIRNMAN")
      fields.version()
      fields.number(UInt32.self, "length of the whole file", isWrong: { Int($0) != length })
      fields.features()
      fields.uuid()
      fields.number(UInt64.self, "generation")
      fields.number(UInt64.self, "hash seed", { $0.hexadecimal })
      fields.number(UInt64.self, "full size of a segment")
      fields.number(UInt32.self, "epoch")
      fields.number(UInt32.self, "next segment id")
      fields.number(UInt32.self, "next keyspace id")
      let segments = fields.number(UInt32.self, "number of segment entries") ?? 0
      let keyspaces = fields.number(UInt32.self, "number of keyspace entries") ?? 0
      let checkpoints = fields.number(UInt32.self, "number of checkpoint entries") ?? 0
      fields.number(UInt64.self, "timeline")
      fields.number(UInt64.self, "highest sequence known to be used when this manifest was written")
      fields.number(UInt64.self, "sequence of the last commit of all sealed segments of kind 1")
      fields.reserved(8)
      let end = max(0, length - 8)
      entries(segments, of: 32, upTo: end, in: &fields, segment)
      entries(keyspaces, of: 24, upTo: end, in: &fields, keyspace)
      entries(checkpoints, of: 32, upTo: end, in: &fields, checkpoint)
      if fields.position + 16 <= end { changeReaders(upTo: end, &fields) }
      if fields.position < end {
        unsafe fields.bytes(end - fields.position, "unknown", isWrong: true) { "\($0.count) bytes" }
      }
      fields.checksum(of: 0..<min(end, length), "CRC-32C of all bytes before")
      fields.reserved(fields.remaining)
      return fields.takeAnnotations()
    }
  }

  /// Reads as many entries of at least `length` bytes as there should be, or as many as fit.
  private static func entries(
    _ count: UInt32, of length: Int, upTo end: Int, in fields: inout FieldReader, _ read: (inout FieldReader) -> Void
  ) {
    var left = count
    while left > 0, fields.position + length <= end {
      read(&fields)
      left -= 1
    }
  }

  private static func changeReaders(upTo end: Int, _ fields: inout FieldReader) {
    fields.number(UInt64.self, "the commit up to which deletions may be missing")
    let count = fields.number(UInt32.self, "number of change readers") ?? 0
    fields.reserved(4)
    entries(count, of: 40, upTo: end, in: &fields, changeReader)
  }

  private static func segment(_ fields: inout FieldReader) {
    fields.number(UInt32.self, "segment entry: id")
    fields.number(UInt32.self, "epoch", { $0 == 0 ? "may not have been used yet" : "\($0)" })
    fields.number(UInt64.self, "end", { $0 == 0 ? "not sealed" : "\($0)" })
    fields.number(UInt64.self, "base sequence")
    fields.number(UInt64.self, "last sequence")
  }

  private static func keyspace(_ fields: inout FieldReader) {
    fields.number(UInt32.self, "keyspace entry: id")
    fields.number(UInt8.self, "order", { $0 == 0 ? "ordered" : $0 == 1 ? "unordered" : "\($0)" })
    fields.number(UInt8.self, "state", { $0 == 1 ? "in use" : $0 == 2 ? "dropped" : "\($0)" })
    let length = Int(fields.number(UInt16.self, "length of the name") ?? 0)
    fields.number(UInt64.self, "sequence of the commit that defined it")
    fields.number(UInt32.self, "number of old versions")
    fields.reserved(4)
    unsafe fields.bytes(length, "the name in UTF-8") { name in
      unsafe Key.string(String(decoding: name, as: UTF8.self)).literal
    }
    fields.reserved(Format.padded(length) - length, "padding")
  }

  private static func checkpoint(_ fields: inout FieldReader) {
    fields.number(UInt32.self, "checkpoint entry: id")
    fields.reserved(4)
    fields.number(UInt64.self, "sequence")
    fields.place("packed place where the log continues after it")
    fields.number(UInt64.self, "length of the file")
  }

  private static func changeReader(_ fields: inout FieldReader) {
    fields.number(UInt64.self, "sequence of the commit up to which it knows all changes")
    fields.number(UInt64.self, "time it was last heard of, nanoseconds since 1970")
    fields.number(UInt64.self, "most bytes")
    fields.number(UInt64.self, "longest time in nanoseconds")
    let length = Int(fields.number(UInt16.self, "length of the name") ?? 0)
    fields.number(UInt8.self, "state", { $0 == 1 ? "held for" : $0 == 0 ? "too far behind" : "\($0)" })
    fields.reserved(5)
    unsafe fields.bytes(length, "the name in UTF-8") { name in
      unsafe Key.string(String(decoding: name, as: UTF8.self)).literal
    }
    fields.reserved(Format.padded(length) - length, "padding")
  }

  /// The fields of a checkpoint's header; the nodes and the tables are not decoded.
  package static func checkpoint(_ bytes: UnsafeRawBufferPointer) -> [Annotation] {
    var fields = unsafe FieldReader(bytes, shownBytes: 16)
    fields.magic("CAIRNCHK")
    fields.version()
    fields.number(UInt32.self, "checkpoint id")
    fields.features()
    fields.uuid()
    fields.number(UInt64.self, "sequence of the last commit in it")
    fields.place("packed place where the log continues")
    fields.number(UInt64.self, "hash seed", { $0.hexadecimal })
    fields.number(UInt32.self, "logarithm of the units in an extent")
    fields.number(UInt32.self, "number of extents given to segments so far")
    let end = fields.number(UInt64.self, "end of the nodes")
    let tables = fields.number(UInt64.self, "length of the tables, which follow the nodes and end the file")
    fields.number(UInt32.self, "number of chunk checksums")
    fields.number(UInt32.self, "number of segment entries")
    fields.number(UInt32.self, "number of keyspace entries")
    fields.number(UInt32.self, "number of dictionary entries")
    fields.number(UInt32.self, "number of buckets of older versions")
    fields.number(UInt32.self, "number of older versions")
    let tablesChecksum: UInt32? =
      if let end, let tables, end <= UInt64(bytes.count), UInt64(bytes.count) - end == tables {
        unsafe CRC32C.checksum(UnsafeRawBufferPointer(rebasing: bytes.dropFirst(Int(end))))
      } else {
        nil
      }
    fields.checksum(tablesChecksum, "CRC-32C of the tables")
    if bytes.count >= 128 { fields.checksum(of: 0..<124, "CRC-32C of the 124 bytes before") }
    fields.reserved(min(fields.remaining, CheckpointTables.nodesStart - 128), "zeros")
    let nodes = min(fields.remaining, max(0, Int(clamping: end ?? 0) - fields.position))
    unsafe fields.bytes(nodes, "nodes, each at a multiple of 64") { "\($0.count) bytes" }
    unsafe fields.bytes(fields.remaining, "tables") { "\($0.count) bytes" }
    return fields.takeAnnotations()
  }

  /// The fields of a list of moves.
  package static func moves(_ bytes: UnsafeRawBufferPointer) -> [Annotation] {
    var fields = unsafe FieldReader(bytes)
    fields.magic("CAIRNMOV")
    fields.version()
    fields.number(UInt32.self, "segment id")
    fields.uuid()
    fields.number(UInt64.self, "sequence of the checkpoint")
    fields.number(UInt64.self, "number of places")
    fields.reserved(8)
    if bytes.count >= 64 {
      fields.checksum(of: 64..<bytes.count, "CRC-32C of the places")
      fields.checksum(of: 0..<60, "CRC-32C of the 60 bytes before")
    }
    while fields.remaining >= 8 { fields.place("packed place where the checkpoint has it") }
    fields.reserved(fields.remaining, "unknown")
    return fields.takeAnnotations()
  }
}

extension AnnotatedFile {
  /// The fields of the watermark file. One of its two records may be missing.
  package static func watermarks(_ bytes: UnsafeRawBufferPointer) -> [Annotation] {
    var fields = unsafe FieldReader(bytes)
    for offset in WatermarkRecord.offsets where offset + WatermarkRecord.size <= bytes.count {
      fields.reserved(offset - fields.position, "unused")
      if unsafe bytes[offset..<offset + WatermarkRecord.size].allSatisfy({ $0 == 0 }) { continue }
      fields.magic("CAIRNWMK")
      fields.version()
      fields.number(UInt32.self, "epoch")
      fields.uuid()
      fields.number(UInt64.self, "watermark sequence")
      fields.place("watermark place")
      fields.number(UInt64.self, "offset of the last frame before it")
      fields.reserved(4)
      fields.checksum(of: offset..<offset + 60, "CRC-32C of the 60 bytes before")
    }
    fields.reserved(fields.remaining, "unused")
    return fields.takeAnnotations()
  }

  /// The fields of a file that is not a segment, chosen by the file's name.
  ///
  /// - Throws: `malformed` for a file that FORMAT.md does not describe.
  package static func fields(of name: String, in directory: StoreDirectory) throws(StoreError) -> [Annotation] {
    if name == ManifestFile.name || name == "\(ManifestFile.name).new" {
      return manifest(try directory.bytes(of: name))
    }
    if name.hasSuffix(".checkpoint"), let id = UInt32(name.prefix(10)),
      let mapping = try directory.checkpoint(CheckpointID(id))
    {
      return unsafe checkpoint(mapping.bytes)
    }
    if name.hasSuffix(".moves") {
      return unsafe try directory.bytes(of: name).withUnsafeBytes { unsafe moves($0) }
    }
    if name == WatermarkRecord.fileName {
      return unsafe try directory.bytes(of: name).withUnsafeBytes { unsafe watermarks($0) }
    }
    throw StoreError(
      .malformed, "\(name) is not a manifest, segment, checkpoint, list of moves or watermark record")
  }
}
