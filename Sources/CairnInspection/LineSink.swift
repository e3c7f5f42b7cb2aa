/// Takes text a line at a time and passes it on in larger pieces.
package protocol LineSink {
  /// What has been written and not been passed on. `endLine()` after each line.
  var bytes: [UInt8] { get set }
  /// Ends a line; may pass on what there is.
  mutating func endLine() throws
}

extension LineSink {
  /// Passes on lines that have been appended whole, if there are enough.
  package mutating func endLines() throws {
    guard bytes.last == 0x0A else { return }
    bytes.removeLast()
    try endLine()
  }
}
