/// Bytes in memory that no file has.
@safe final class HeapMapping: Mapping, @unchecked Sendable {
  private let memory: UnsafeMutableRawBufferPointer

  init(_ bytes: [UInt8]) {
    unsafe memory = .allocate(byteCount: max(bytes.count, 8), alignment: 16)
    unsafe memory.copyBytes(from: bytes)
  }

  deinit { unsafe memory.deallocate() }

  var base: UnsafeRawPointer { unsafe UnsafeRawPointer(memory.baseAddress.unsafelyUnwrapped) }
  var length: Int { unsafe memory.count }
}
