extension [UInt8] {
  /// `withUnsafeBytes` with a typed error.
  @inline(__always)
  package func withRawBytes<R, E>(_ body: (UnsafeRawBufferPointer) throws(E) -> R) throws(E) -> R {
    try withUnsafeBufferPointer { (bytes) throws(E) in try body(UnsafeRawBufferPointer(bytes)) }
  }
}
