package import Cairn

/// Splits input into lines of any length.
package struct LineReader {
  private static let pieceLength = 1 << 18

  /// Appends the next bytes of the input; false at the end.
  private let read: (inout [UInt8], _ atMost: Int) throws -> Bool
  private var buffer: [UInt8] = []
  private var start = 0
  private var isAtEnd = false
  /// The number of the line that was returned last, from 1.
  package private(set) var number = 0

  package init(_ read: @escaping (inout [UInt8], _ atMost: Int) throws -> Bool) { self.read = read }

  /// The next line without its end; nil at the end.
  package mutating func next() throws -> ArraySlice<UInt8>? {
    var searched = start
    while true {
      if let end = newline(from: searched) {
        defer { start = end + 1 }
        number += 1
        return buffer[start..<end]
      }
      searched = buffer.count
      guard !isAtEnd else {
        guard start < buffer.count else { return nil }
        defer { start = buffer.count }
        number += 1
        return buffer[start...]
      }
      if start > 0 {
        buffer.removeFirst(start)
        searched -= start
        start = 0
      }
      isAtEnd = try !read(&buffer, Self.pieceLength)
    }
  }

  private func newline(from position: Int) -> Int? {
    unsafe buffer.withUnsafeBufferPointer { bytes in
      var position = position
      while position < bytes.count {
        if unsafe bytes[position] == 0x0A { return position }
        position += 1
      }
      return nil
    }
  }

  /// An error about the line that was returned last.
  package func problem(_ words: String) -> StoreError { StoreError(.malformed, "line \(number): \(words)") }
}
