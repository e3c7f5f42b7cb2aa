import CCairnPlatform

// The output of a value transformer is stored after a checksum of its own. Unarchivers end the program on bytes that no
// archiver has written, so that bytes which were damaged before the row got its checksum must not reach them.

extension ByteOutput {
  /// Writes the output of a value transformer after its checksum.
  package mutating func transformed(_ data: some Collection<UInt8>) {
    let data = Array(data)
    varint(Field.checksumLength + data.count)
    fixed(Field.checksum(of: data[...]))
    append(data)
  }
}

extension Field {
  fileprivate static let checksumLength = 4

  /// The value transformer's output in a field of the type `transformed`.
  ///
  /// - Throws: If the checksum is wrong.
  package func transformed(in bytes: [UInt8]) throws(RowDamage) -> ArraySlice<UInt8> {
    var input = ByteInput(bytes, range)
    let checksum = try input.fixed(UInt32.self)
    let data = bytes[input.offset..<range.upperBound]
    guard checksum == Self.checksum(of: data) else {
      throw RowDamage("a transformable value has a wrong checksum", at: range.lowerBound)
    }
    return data
  }

  /// CRC-32C.
  fileprivate static func checksum(of data: ArraySlice<UInt8>) -> UInt32 {
    unsafe data.withUnsafeBytes { bytes in
      guard let start = bytes.baseAddress else { return 0 }
      return unsafe ~cairn_crc32c(0xFFFF_FFFF, start, bytes.count)
    }
  }
}
