/// A copy of a file's bytes in memory.
@safe package final class CopiedFile: Mapping, @unchecked Sendable {
  private let memory: UnsafeMutableRawBufferPointer
  package let length: Int

  private static let pieceLength = 1 << 18

  package convenience init(_ file: any File, _ size: Int) throws(FileError) { try self.init(file, from: 0, upTo: size) }

  /// Copies the bytes from `start` up to `end`. Reads from the end to the beginning: a writer only appends, so the
  /// bytes before a piece are complete when that piece is read.
  package init(_ file: any File, from start: Int, upTo end: Int) throws(FileError) {
    length = max(0, end - start)
    unsafe memory = .allocate(byteCount: max(length, 8), alignment: 16)
    var unread = length
    while unread > 0 {
      let first = (unread - 1) / Self.pieceLength * Self.pieceLength
      let piece = unsafe UnsafeMutableRawBufferPointer(rebasing: memory[first..<unread])
      // All properties are initialized, so `deinit` runs if a read throws.
      let count = try unsafe file.read(into: piece, at: start + first)
      // Bytes that have been cut off meanwhile were zeros.
      unsafe UnsafeMutableRawBufferPointer(rebasing: piece[count...]).initializeMemory(as: UInt8.self, repeating: 0)
      unread = first
    }
  }

  deinit { unsafe memory.deallocate() }

  package var base: UnsafeRawPointer { unsafe UnsafeRawPointer(memory.baseAddress.unsafelyUnwrapped) }
}
