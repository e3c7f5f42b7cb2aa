import ArgumentParser
import CairnInspection

#if canImport(Glibc)
  import Glibc
#elseif canImport(Musl)
  import Musl
#elseif canImport(Darwin)
  import Darwin
#endif

/// Standard output, written in large pieces that end at the end of a line.
struct Output: LineSink {
  /// The bytes not yet passed on. Call `endLine()` after each line.
  var bytes: [UInt8] = []

  /// The status to end with if the reader goes away now: a command whose status is an answer must not seem to succeed
  /// before it knows the answer.
  var statusIfClosed = ExitCode.success

  private static let pieceLength = 1 << 16

  init() {
    bytes.reserveCapacity(2 * Self.pieceLength)
  }

  mutating func write(_ text: String) { bytes.append(contentsOf: text.utf8) }

  mutating func line(_ text: String) throws {
    write(text)
    try endLine()
  }

  mutating func endLine() throws {
    bytes.append(UInt8(ascii: "\n"))
    if isFull { try flush() }
  }

  /// Whether there are enough bytes to pass on.
  var isFull: Bool { bytes.count >= Self.pieceLength }

  mutating func flush() throws {
    defer { bytes.removeAll(keepingCapacity: true) }
    try unsafe bytes.withUnsafeBytes { bytes in
      var start = 0
      while start < bytes.count {
        let rest = unsafe UnsafeRawBufferPointer(rebasing: bytes[start...])
        let count = Interruption.duringWrite { unsafe Self.writeSome(rest) }
        if count > 0 {
          start += count
        } else if errno == EPIPE {
          throw OutputError.closed
        } else if errno != EINTR {
          throw unsafe OutputError.failed(String(cString: strerror(errno)))
        }
      }
    }
  }

  private static func writeSome(_ bytes: UnsafeRawBufferPointer) -> Int {
    #if canImport(Glibc)
      unsafe Glibc.write(STDOUT_FILENO, bytes.baseAddress, bytes.count)
    #elseif canImport(Musl)
      unsafe Musl.write(STDOUT_FILENO, bytes.baseAddress, bytes.count)
    #else
      unsafe Darwin.write(STDOUT_FILENO, bytes.baseAddress, bytes.count)
    #endif
  }
}

enum OutputError: StatusError, CustomStringConvertible {
  case closed
  case failed(String)

  var description: String {
    switch self {
    case .closed: "standard output is closed"
    case .failed(let reason): "standard output cannot be written: \(reason)"
    }
  }

  var status: ExitCode { .unwritable }
}

/// Prints a message on standard error.
func complain(_ words: String) {
  var bytes = Array("kvdump: ".utf8)
  bytes.append(contentsOf: escapedForTerminal(words).utf8)
  bytes.append(UInt8(ascii: "\n"))
  _ = unsafe bytes.withUnsafeBytes { unsafe write(STDERR_FILENO, $0.baseAddress, $0.count) }
}
