/// What a record says, as plain values.
extension RecordView {
  var stamp: RowStamp { RowStamp(version: header.version, sequence: header.sequence) }

  /// A copy of the value as it was put.
  func copiedValue(_ dictionaries: DictionaryTable) throws(StoreError) -> [UInt8] {
    guard header.isCompressed else { return unsafe Array(stored) }
    guard LZ4.isPlausible(stored: header.storedLength, raw: header.rawLength) else { throw invalidBlock }
    var isValid = false
    let value = unsafe [UInt8](unsafeUninitializedCapacity: header.rawLength) { buffer, count in
      isValid = unsafe decompress(dictionaries, into: UnsafeMutableRawBufferPointer(buffer))
      count = isValid ? header.rawLength : 0
    }
    guard isValid else { throw invalidBlock }
    return value
  }

  /// Calls `body` with the value as it was put: in place if it is stored uncompressed.
  @inline(__always)
  func withValue(_ dictionaries: DictionaryTable, _ body: (UnsafeRawBufferPointer) throws -> Void) throws {
    guard header.isCompressed else { return try unsafe body(stored) }
    guard LZ4.isPlausible(stored: header.storedLength, raw: header.rawLength) else { throw invalidBlock }
    guard let dictionary = unsafe dictionary(dictionaries) else { throw invalidBlock }
    try unsafe withUnsafeTemporaryAllocation(byteCount: header.rawLength, alignment: 8) { buffer in
      guard unsafe decompress(dictionary, into: buffer) else { throw invalidBlock }
      try unsafe body(UnsafeRawBufferPointer(buffer))
    }
  }

  /// Fills `target` with the value; false if the value cannot be decompressed.
  @inline(__always)
  func decompress(_ dictionaries: DictionaryTable, into target: UnsafeMutableRawBufferPointer) -> Bool {
    guard let dictionary = unsafe dictionary(dictionaries) else { return false }
    return unsafe decompress(dictionary, into: target)
  }

  /// The dictionary that the value is compressed with; `.some(nil)` if with none, nil if the dictionary is not known.
  @inline(__always)
  private func dictionary(_ dictionaries: DictionaryTable) -> Unmanaged<StoredDictionary>?? {
    guard header.dictionary > 0 else { return unsafe .some(nil) }
    return unsafe dictionaries.find(header.dictionary).map { unsafe .some($0) }
  }

  @inline(__always)
  private func decompress(
    _ dictionary: Unmanaged<StoredDictionary>?, into target: UnsafeMutableRawBufferPointer
  ) -> Bool {
    guard let dictionary = unsafe dictionary else { return unsafe LZ4.decompress(stored, into: target) }
    return unsafe dictionary.withBorrowed { unsafe LZ4.decompress(stored, with: $0.content.bytes, into: target) }
  }

  var invalidBlock: StoreError {
    StoreError(
      .corrupted,
      header.dictionary > 0
        ? "a value cannot be decompressed with dictionary \(header.dictionary), although its checksum is right"
        : "a value cannot be decompressed, although its checksum is right")
  }

  func row(_ dictionaries: DictionaryTable) throws(StoreError) -> Row {
    unsafe Row(
      key: try Key(stored: key), value: try copiedValue(dictionaries), version: header.version,
      sequence: header.sequence)
  }

  func rowVersion(_ dictionaries: DictionaryTable) throws(StoreError) -> RowVersion {
    RowVersion(
      value: header.isTombstone ? nil : try copiedValue(dictionaries), version: header.version,
      sequence: header.sequence)
  }
}
