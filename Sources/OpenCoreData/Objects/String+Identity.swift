extension String {
  /// Whether the other text is the same in memory, as equal short texts and constants are. Others may be equal, too.
  @inline(__always)
  func isIdentical(to other: String) -> Bool {
    unsafe unsafeBitCast(self, to: UInt128.self) == unsafeBitCast(other, to: UInt128.self)
  }
}
