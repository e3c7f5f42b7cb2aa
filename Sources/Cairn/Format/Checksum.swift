import CCairnPlatform

/// CRC-32C (Castagnoli), in hardware where the processor supports it.
package enum CRC32C {
  /// The running register after `count` more bytes, without initial or final inversion.
  @inline(__always)
  package static func register(_ start: UInt32, _ bytes: UnsafeRawPointer, _ count: Int) -> UInt32 {
    unsafe cairn_crc32c(start, bytes, count)
  }

  /// The usual checksum: starts at all ones, inverted at the end.
  package static func checksum(_ bytes: UnsafeRawBufferPointer) -> UInt32 {
    guard let base = bytes.baseAddress else { return 0 }
    return unsafe ~register(0xFFFF_FFFF, base, bytes.count)
  }

  package static func checksum(_ bytes: [UInt8]) -> UInt32 {
    unsafe bytes.withUnsafeBytes { unsafe checksum($0) }
  }
}
