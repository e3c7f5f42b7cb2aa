import CairnInspection

#if canImport(Glibc)
  import Glibc
#elseif canImport(Musl)
  import Musl
#elseif canImport(Darwin)
  import Darwin
#endif

/// A file or standard input, read in large pieces.
final class Input {
  private let descriptor: Int32
  private let name: String
  /// The bytes that `peek` has read ahead.
  private var ahead: [UInt8] = []

  /// Opens a file, or standard input if `path` is nil or `-`.
  init(_ path: String?) throws {
    guard let path, path != "-" else {
      (descriptor, name) = (STDIN_FILENO, "standard input")
      return
    }
    (descriptor, name) = unsafe (open(path, O_RDONLY | O_CLOEXEC), path)
    guard descriptor >= 0 else { throw unsafe InputError(name: path, reason: String(cString: strerror(errno))) }
  }

  deinit { if descriptor != STDIN_FILENO { close(descriptor) } }

  /// The first byte; nil if there is none.
  func peek() throws -> UInt8? {
    var first: [UInt8] = []
    _ = try read(into: &first, atMost: 4096)
    ahead = first
    return first.first
  }

  /// Appends the next bytes to `bytes`; returns false at the end of the input.
  func read(into bytes: inout [UInt8], atMost count: Int) throws -> Bool {
    if !ahead.isEmpty {
      bytes += ahead
      ahead = []
      return true
    }
    let start = bytes.count
    bytes.append(contentsOf: repeatElement(0, count: count))
    var length = 0
    defer { bytes.removeLast(bytes.count - start - length) }
    while true {
      try waitUntilReadable()
      let count = unsafe bytes.withUnsafeMutableBytes { buffer in
        unsafe readSome(descriptor, buffer.baseAddress.unsafelyUnwrapped + start, count)
      }
      if count >= 0 {
        length = count
        return count > 0
      }
      guard errno == EINTR else { throw unsafe InputError(name: name, reason: String(cString: strerror(errno))) }
    }
  }

  func readToEnd() throws -> [UInt8] {
    var bytes: [UInt8] = []
    while try read(into: &bytes, atMost: 1 << 16) {}
    return bytes
  }

  /// Waits for input. Throws on Control-C, so that the caller can clean up what it has begun.
  private func waitUntilReadable() throws {
    var state = pollfd(fd: descriptor, events: Int16(POLLIN), revents: 0)
    while unsafe poll(&state, 1, 100) == 0 || Interruption.isRequested {
      if Interruption.isRequested { throw InputError(name: name, reason: "interrupted") }
    }
  }
}

private func readSome(_ descriptor: Int32, _ target: UnsafeMutableRawPointer, _ count: Int) -> Int {
  unsafe read(descriptor, target, count)
}

struct InputError: Error, CustomStringConvertible {
  let name: String
  let reason: String

  var description: String { "\(name) cannot be read: \(reason)" }
}
