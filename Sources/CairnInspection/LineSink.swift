/// Takes text a line at a time and passes it on in larger pieces.
package protocol LineSink {
  /// The bytes that have been written but not passed on. Call `endLine()` after each line.
  var bytes: [UInt8] { get set }
  /// Ends a line; may pass on ``bytes``.
  mutating func endLine() throws
}

extension LineSink {
  /// Passes on whole lines that have been appended with their ends, if there are enough.
  package mutating func endLines() throws {
    guard bytes.last == 0x0A else { return }
    bytes.removeLast()
    try endLine()
  }
}
