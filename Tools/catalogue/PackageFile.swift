import Foundation

/// An input file: a package catalogue as text, or as LZ4 frames of text.
struct PackageFile {
  static let aptLists = "/var/lib/apt/lists"

  let path: String
  /// The size of the file in bytes.
  let size: Int

  init(_ path: String) throws(PackageFileError) {
    let file = try InputFile(path)
    self.path = path
    size = file.size
  }

  /// The catalogues that apt keeps on this machine.
  static func ofThisMachine(in directory: String = aptLists) throws(PackageFileError) -> [PackageFile] {
    let names = (try? FileManager.default.contentsOfDirectory(atPath: directory)) ?? []
    let texts = Set(names.filter { $0.hasSuffix("_Packages") })
    let frames = names.filter { $0.hasSuffix("_Packages.lz4") && !texts.contains(String($0.dropLast(4))) }
    guard !texts.isEmpty || !frames.isEmpty else { throw .noCatalogue(directory: directory) }
    return try (texts.sorted() + frames.sorted()).map { name throws(PackageFileError) in
      try PackageFile("\(directory)/\(name)")
    }
  }

  /// Calls `body` with the text in chunks, each with the number of bytes of the file read so far.
  func read(_ body: (_ text: Span<UInt8>, _ position: Int) throws -> Void) throws {
    let file = try InputFile(path)
    var chunk = try file.read()
    var position = chunk.count
    if let format = Self.unsupportedFormat(chunk) { throw PackageFileError.unsupported(path, format: format) }

    guard path.hasSuffix(".lz4") || chunk.starts(with: FrameDecoder.magic) else {
      while !chunk.isEmpty {
        try body(chunk.span, position)
        chunk = try file.read()
        position += chunk.count
      }
      return
    }

    var isComplete = false
    do {
      var decoder = try FrameDecoder()
      while !chunk.isEmpty {
        try decoder.decode(chunk.span) { text in try body(text, position) }
        chunk = try file.read()
        position += chunk.count
      }
      isComplete = decoder.isComplete
    } catch let failure as FrameDecoder.Failure {
      throw PackageFileError.badFrame(path, reason: failure.reason)
    }
    guard isComplete else { throw PackageFileError.truncatedFrame(path) }
  }

  private static func unsupportedFormat(_ start: [UInt8]) -> String? {
    if start.starts(with: [0x1F, 0x8B]) { return "gzip" }
    if start.starts(with: [0xFD, 0x37, 0x7A, 0x58, 0x5A]) { return "xz" }
    if start.starts(with: [0x28, 0xB5, 0x2F, 0xFD]) { return "zstd" }
    return nil
  }
}

extension [PackageFile] {
  /// Calls `body` with the stanzas of all files, each with the path of its file. `progress` is called repeatedly with
  /// the number of bytes of the files read so far.
  func forEachStanza(progress: (_ bytes: Int) -> Void, _ body: (Stanza, _ path: String) throws -> Void) throws {
    var bytesBefore = 0
    for file in self {
      var parser = StanzaParser(file: file.path)
      try file.read { text, position in
        try parser.parse(text) { stanza in try body(stanza, file.path) }
        progress(bytesBefore + position)
      }
      try parser.finish { stanza in try body(stanza, file.path) }
      bytesBefore += file.size
    }
  }
}

/// The reason why an input cannot be read.
enum PackageFileError: Error, Hashable, CustomStringConvertible {
  case noCatalogue(directory: String)
  case unreadable(String, errno: Int32)
  case notAFile(String)
  case unsupported(String, format: String)
  case badFrame(String, reason: String)
  case truncatedFrame(String)

  var description: String {
    switch self {
    case .noCatalogue(let directory):
      "there is no package catalogue in \(directory); run `apt-get update` as root to fetch one, "
        + "or use --input FILE"
    case .unreadable(let path, let errno): "\(path): \(unsafe String(cString: strerror(errno)))"
    case .notAFile(let path): "\(path): not a regular file"
    case .unsupported(let path, let format): "\(path): compressed with \(format); decompress it first"
    case .badFrame(let path, let reason): "\(path): not a valid LZ4 frame (\(reason))"
    case .truncatedFrame(let path): "\(path): the LZ4 frame is truncated; the file is incomplete"
    }
  }
}

/// A file that is read from beginning to end.
private struct InputFile: ~Copyable {
  private static let chunkSize = 256 << 10

  let path: String
  let size: Int
  private let descriptor: Int32

  init(_ path: String) throws(PackageFileError) {
    self.path = path
    descriptor = unsafe open(path, O_RDONLY | O_CLOEXEC)
    let openError = errno
    var status = stat()
    let isOpen = descriptor >= 0
    let isKnown = unsafe isOpen && fstat(descriptor, &status) == 0
    size = Int(status.st_size)
    guard isOpen else { throw .unreadable(path, errno: openError) }
    guard isKnown else { throw .unreadable(path, errno: errno) }
    guard status.st_mode & S_IFMT == S_IFREG else { throw .notAFile(path) }
  }

  deinit {
    if descriptor >= 0 { close(descriptor) }
  }

  /// The next bytes; empty at the end.
  func read() throws(PackageFileError) -> [UInt8] {
    var count = 0
    var failure: Int32 = 0
    let bytes = unsafe [UInt8](unsafeUninitializedCapacity: Self.chunkSize) { buffer, initialized in
      repeat {
        count = unsafe Foundation.read(descriptor, buffer.baseAddress, buffer.count)
        failure = count < 0 ? errno : 0
      } while failure == EINTR
      initialized = max(count, 0)
    }
    guard failure == 0 else { throw .unreadable(path, errno: failure) }
    return bytes
  }
}
