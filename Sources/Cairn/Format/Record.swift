import CCairnPlatform

/// The kind of a record. FORMAT.md, section 5.
package enum RecordKind: UInt8, Sendable {
  case put = 1
  case tombstone = 2
  case keyspaceDefinition = 3
  case keyspaceDropped = 4
  case dictionary = 5
  case retention = 6
}

/// The fields before a record's key.
package struct RecordHeader: Sendable {
  /// Kind and flags, as stored.
  package var tag: UInt8
  package var keyspace: KeyspaceID
  package var keyLength: Int
  package var storedLength: Int
  /// Length of the value after decompression; `storedLength` if it is not compressed.
  package var rawLength: Int
  /// The id of the dictionary that the value is compressed with; 0 for none.
  package var dictionary: DictionaryID
  /// The sequence of the commit that wrote the record.
  package var sequence: CommitSequence
  package var version: UInt64
  /// Bytes before the key, checksum included.
  package var length: Int

  package static let compressedFlag: UInt8 = 0x10
  static let dictionaryFlag: UInt8 = 0x20
  /// No record is shorter, padding included.
  static let leastPaddedLength = 16
  /// Longer than any header.
  static let maximumLength = 80

  @inline(__always)
  package var kind: RecordKind? { RecordKind(rawValue: tag & 0x0F) }
  @inline(__always)
  package var isTombstone: Bool { tag & 0x0F == RecordKind.tombstone.rawValue }
  @inline(__always)
  package var isPut: Bool { tag & 0x0F == RecordKind.put.rawValue }
  @inline(__always)
  package var isCompressed: Bool { tag & Self.compressedFlag != 0 }
  /// Bytes of the record without its padding.
  @inline(__always)
  package var recordLength: Int { length &+ keyLength &+ storedLength }
  @inline(__always)
  package var paddedLength: Int { Format.padded(recordLength) }

  /// Reads the header of a record of which `available` bytes may be read; nil if the header is malformed or the record
  /// is longer than that. Does not verify the checksum.
  @inline(__always)
  package init?(_ record: UnsafeRawPointer, available: Int, baseSequence: CommitSequence) {
    guard available >= Self.leastPaddedLength else { return nil }
    tag = unsafe record.load(fromByteOffset: 4, as: UInt8.self)
    var cursor = unsafe VarintCursor(record + 5, min(available, Self.maximumLength) &- 5)
    guard let keyspace = cursor.next(), let keyLength = cursor.next(), let storedLength = cursor.next() else {
      return nil
    }
    guard keyspace <= UInt64(Format.maximumID), keyLength <= Format.maximumKeyLength,
      storedLength <= Format.maximumValueLength
    else { return nil }
    self.keyspace = KeyspaceID(UInt32(truncatingIfNeeded: keyspace))
    self.keyLength = Int(truncatingIfNeeded: keyLength)
    self.storedLength = Int(truncatingIfNeeded: storedLength)
    rawLength = self.storedLength
    dictionary = 0
    if tag & 0xF0 != 0 {
      // Bits 6 and 7 are reserved.
      guard tag & ~(0x0F | Self.dictionaryFlag) == Self.compressedFlag, let raw = cursor.next(),
        raw <= Format.maximumValueLength
      else { return nil }
      rawLength = Int(truncatingIfNeeded: raw)
      if tag & Self.dictionaryFlag != 0 {
        guard tag & 0x0F == RecordKind.put.rawValue, let id = cursor.next(), id > 0, id <= UInt64(Format.maximumID)
        else { return nil }
        dictionary = DictionaryID(UInt32(truncatingIfNeeded: id))
      }
    }
    guard let delta = cursor.next(), let version = cursor.next() else { return nil }
    let (sequence, overflow) = baseSequence.rawValue.addingReportingOverflow(delta)
    guard !overflow else { return nil }
    self.sequence = CommitSequence(sequence)
    self.version = version
    length = unsafe cursor.position - record
    guard recordLength <= available else { return nil }
  }

  package init(
    kind: RecordKind, compressed: Bool, dictionary: DictionaryID = 0, keyspace: KeyspaceID, keyLength: Int,
    storedLength: Int,
    rawLength: Int, sequence: CommitSequence, version: UInt64, baseSequence: CommitSequence
  ) {
    tag = kind.rawValue | (compressed ? Self.compressedFlag : 0) | (dictionary > 0 ? Self.dictionaryFlag : 0)
    self.dictionary = dictionary
    self.keyspace = keyspace
    self.keyLength = keyLength
    self.storedLength = storedLength
    self.rawLength = rawLength
    self.sequence = sequence
    self.version = version
    length =
      5 + Varint.length(UInt64(keyspace.rawValue)) + Varint.length(UInt64(keyLength))
      + Varint.length(UInt64(storedLength))
      + (compressed ? Varint.length(UInt64(rawLength)) : 0)
      + (dictionary > 0 ? Varint.length(UInt64(dictionary.rawValue)) : 0)
      + Varint.length(sequence - baseSequence) + Varint.length(version)
  }

  /// Writes everything but the checksum.
  @inline(__always)
  package func write(to record: UnsafeMutableRawPointer, baseSequence: CommitSequence) {
    unsafe record.storeBytes(of: tag, toByteOffset: 4, as: UInt8.self)
    var next = unsafe record + 5
    unsafe next += Varint.write(UInt64(keyspace.rawValue), to: next)
    unsafe next += Varint.write(UInt64(keyLength), to: next)
    unsafe next += Varint.write(UInt64(storedLength), to: next)
    if isCompressed { unsafe next += Varint.write(UInt64(rawLength), to: next) }
    if dictionary > 0 { unsafe next += Varint.write(UInt64(dictionary.rawValue), to: next) }
    unsafe next += Varint.write(sequence - baseSequence, to: next)
    unsafe next += Varint.write(version, to: next)
  }
}

/// A record in memory whose checksum has been verified.
@safe package struct RecordView {
  package let header: RecordHeader
  package let base: UnsafeRawPointer

  @inline(__always)
  package var key: UnsafeRawBufferPointer {
    unsafe UnsafeRawBufferPointer(start: base + header.length, count: header.keyLength)
  }
  @inline(__always)
  package var stored: UnsafeRawBufferPointer {
    unsafe UnsafeRawBufferPointer(start: base + header.length + header.keyLength, count: header.storedLength)
  }

  /// How many older versions of each row a retention retains; nil if the value is not that of a retention.
  package var oldVersions: UInt32? {
    var reader = unsafe ByteReader(stored)
    guard let oldVersions = reader.next(UInt32.self), reader.remaining == 0, !header.isCompressed else { return nil }
    return oldVersions
  }

  /// nil if the record is malformed or its checksum is wrong.
  @inline(__always)
  package init?(_ record: UnsafeRawPointer, available: Int, checksumStart: UInt32, baseSequence: CommitSequence) {
    guard let header = unsafe RecordHeader(record, available: available, baseSequence: baseSequence) else { return nil }
    let checksum = unsafe ~cairn_crc32c(checksumStart, record + 4, header.recordLength &- 4)
    guard unsafe checksum == UInt32(littleEndian: record.load(as: UInt32.self)) else { return nil }
    self.header = header
    unsafe base = unsafe record
  }
}
