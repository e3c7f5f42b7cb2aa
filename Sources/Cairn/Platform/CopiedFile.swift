/// A file's bytes in memory of our own.
@safe package final class CopiedFile: Mapping, @unchecked Sendable {
  private let memory: UnsafeMutableRawBufferPointer
  package let length: Int

  private static let pieceLength = 1 << 18

  package convenience init(_ file: any File, _ size: Int) throws(FileError) { try self.init(file, from: 0, upTo: size) }

  /// Reads from the end to the beginning: a writer only appends, so what lies before a piece is whole when that is read.
  package init(_ file: any File, from start: Int, upTo end: Int) throws(FileError) {
    length = max(0, end - start)
    unsafe memory = .allocate(byteCount: max(length, 8), alignment: 16)
    var unread = length
    while unread > 0 {
      let first = (unread - 1) / Self.pieceLength * Self.pieceLength
      let piece = unsafe UnsafeMutableRawBufferPointer(rebasing: memory[first..<unread])
      // All is initialized, so what is thrown from here on ends in `deinit`.
      let count = try unsafe file.read(into: piece, at: start + first)
      // What has been cut off meanwhile was zeros.
      unsafe UnsafeMutableRawBufferPointer(rebasing: piece[count...]).initializeMemory(as: UInt8.self, repeating: 0)
      unread = first
    }
  }

  deinit { unsafe memory.deallocate() }

  package var base: UnsafeRawPointer { unsafe UnsafeRawPointer(memory.baseAddress.unsafelyUnwrapped) }
}
