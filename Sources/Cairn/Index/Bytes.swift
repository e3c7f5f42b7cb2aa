#if canImport(Glibc)
  import Glibc
#elseif canImport(Musl)
  import Musl
#elseif canImport(Darwin)
  import Darwin
#endif

/// Order and equality of keys, which are plain bytes.
extension UnsafeRawBufferPointer {
  /// Less than, equal to or greater than zero if these bytes come before, equal or come after the others.
  @inline(__always)
  func order(_ other: UnsafeRawBufferPointer) -> Int {
    let shared = Swift.min(count, other.count)
    if shared > 0 {
      let order = unsafe memcmp(baseAddress.unsafelyUnwrapped, other.baseAddress.unsafelyUnwrapped, shared)
      if order != 0 { return Int(order) }
    }
    return count &- other.count
  }

  @inline(__always)
  func equals(_ other: UnsafeRawBufferPointer) -> Bool {
    unsafe count == other.count
      && (count == 0 || memcmp(baseAddress.unsafelyUnwrapped, other.baseAddress.unsafelyUnwrapped, count) == 0)
  }

  func sharedPrefix(_ other: UnsafeRawBufferPointer) -> Int {
    let limit = Swift.min(count, other.count)
    var length = 0
    while length < limit, unsafe self[length] == other[length] { length += 1 }
    return length
  }

  @inline(__always)
  func slice(_ start: Int, _ end: Int) -> UnsafeRawBufferPointer {
    unsafe UnsafeRawBufferPointer(start: baseAddress.map { unsafe $0 + start }, count: end &- start)
  }

  /// The 8 bytes from `start` on as a number that orders like them; missing bytes count as zeros.
  @inline(__always)
  func head(_ start: Int) -> UInt64 {
    let left = count &- start
    guard left > 0 else { return 0 }
    let bytes = unsafe baseAddress.unsafelyUnwrapped + start
    if left >= 8 { return unsafe UInt64(bigEndian: bytes.loadUnaligned(as: UInt64.self)) }
    var head: UInt64 = 0
    for index in 0..<left {
      unsafe head |= UInt64(bytes.load(fromByteOffset: index, as: UInt8.self)) << (56 &- 8 &* UInt64(index))
    }
    return head
  }
}
