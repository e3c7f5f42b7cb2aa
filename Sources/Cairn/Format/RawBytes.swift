extension [UInt8] {
  /// `withUnsafeBytes` with a typed error.
  @inline(__always)
  package func withRawBytes<R, E>(_ body: (UnsafeRawBufferPointer) throws(E) -> R) throws(E) -> R {
    try unsafe withUnsafeBufferPointer { (bytes) throws(E) in try unsafe body(UnsafeRawBufferPointer(bytes)) }
  }
}
