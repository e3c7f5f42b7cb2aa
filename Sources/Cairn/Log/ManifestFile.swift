/// The manifest on disk: replaced as a whole, so that a crash leaves the old or the new one.
package struct ManifestFile: Sendable {
  private let directory: any Directory

  package static let name = "MANIFEST"
  static let temporaryName = "\(name).new"

  package init(directory: any Directory) { self.directory = directory }

  /// Replaces the manifest; durable on return. Every name and byte that the manifest refers to has to be durable
  /// before.
  package func replace(with manifest: Manifest) throws(FileError) {
    try publish(try stage(manifest), manifest)
  }

  /// Makes room for a manifest beside the present one. A failure changes nothing.
  func stage(_ manifest: Manifest) throws(FileError) -> any File {
    let temporary = Self.temporaryName
    do throws(FileError) {
      try directory.remove(temporary)
    } catch {
      guard error.cause == .notFound else { throw error }
    }
    let file = try directory.open(temporary, .create)
    do throws(FileError) {
      try file.reserve(manifest.encoded().count)
    } catch {
      file.close()
      do throws(FileError) { try directory.remove(temporary) } catch {}
      throw error
    }
    return file
  }

  /// Puts a staged manifest in the place of the present one. After a failure either of them may be there.
  func publish(_ file: any File, _ manifest: Manifest) throws(FileError) {
    defer { file.close() }
    try file.writeAll(manifest.encoded(), at: 0)
    try file.sync()
    try directory.rename(Self.temporaryName, to: Self.name)
    try directory.sync()
  }

  /// The generation of the present manifest; nil if the file does not begin as a manifest does.
  func generation() throws(StoreError) -> UInt64? {
    let bytes = try StoreError.wrap { () throws(FileError) in
      let file = try directory.open(Self.name, .read)
      defer { file.close() }
      return try file.bytes(Manifest.generationEnd)
    }
    return unsafe bytes.withUnsafeBytes { unsafe Manifest.generation($0) }
  }

  func read() throws(StoreError) -> Manifest {
    let path = "\(directory.path)/\(Self.name)"
    let bytes: [UInt8]
    do throws(FileError) {
      let file = try directory.open(Self.name, .read)
      defer { file.close() }
      bytes = try file.readAll(atMost: Manifest.maximumLength)
    } catch {
      throw StoreError(error)
    }
    do throws(Manifest.Problem) {
      return try unsafe bytes.withRawBytes { (raw) throws(Manifest.Problem) in try unsafe Manifest(raw) }
    } catch {
      switch error {
      case .foreign: throw StoreError(.notAStore, "\(path) is not a manifest")
      case .newerFormat: throw StoreError(.newerFormat, "\(path) was written by a newer version")
      case .damaged(let what): throw StoreError(.damaged, "\(path): \(what)")
      }
    }
  }
}

extension File {
  package func writeAll(_ bytes: [UInt8], at offset: Int) throws(FileError) {
    try unsafe bytes.withRawBytes { (raw) throws(FileError) in try unsafe write(raw, at: offset) }
  }

  /// The bytes of the whole file; throws `.tooLong` if there are more than `limit`.
  package func readAll(atMost limit: Int) throws(FileError) -> [UInt8] {
    let size = try size()
    guard size <= limit else { throw FileError(.tooLong, "read", path) }
    return try bytes(size)
  }

  /// The first `size` bytes of the file, or all if there are fewer.
  package func bytes(_ size: Int) throws(FileError) -> [UInt8] {
    var bytes = [UInt8](repeating: 0, count: size)
    let count = try unsafe bytes.withUnsafeMutableBufferPointer { (raw) throws(FileError) in
      try unsafe read(into: UnsafeMutableRawBufferPointer(raw), at: 0)
    }
    bytes.removeLast(size - count)
    return bytes
  }
}
