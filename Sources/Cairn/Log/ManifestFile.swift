/// The manifest on disk: replaced as a whole, so that a crash leaves the old or the new one.
package struct ManifestFile: Sendable {
  let files: any FileLayer
  let directory: String

  package static let name = "MANIFEST"

  private var path: String { "\(directory)/\(Self.name)" }

  /// Durable on return. Every name and byte the manifest speaks of has to be durable before.
  func replace(with manifest: Manifest) throws(FileError) {
    let temporary = "\(path).new"
    do throws(FileError) {
      try files.remove(temporary)
    } catch {
      guard error.cause == .notFound else { throw error }
    }
    let file = try files.open(temporary, .create)
    defer { file.close() }
    let bytes = manifest.encoded()
    try file.reserve(bytes.count)
    try file.writeAll(bytes, at: 0)
    try file.sync()
    try files.rename(temporary, to: path)
    try files.syncDirectory(directory)
  }

  func read() throws(StoreError) -> Manifest {
    let bytes: [UInt8]
    do throws(FileError) {
      let file = try files.open(path, .read)
      defer { file.close() }
      bytes = try file.readAll()
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
  func writeAll(_ bytes: [UInt8], at offset: Int) throws(FileError) {
    try unsafe bytes.withRawBytes { (raw) throws(FileError) in try unsafe write(raw, at: offset) }
  }

  package func readAll() throws(FileError) -> [UInt8] {
    let size = try size()
    var bytes = [UInt8](repeating: 0, count: size)
    let count = try unsafe bytes.withUnsafeMutableBufferPointer { (raw) throws(FileError) in
      try unsafe read(into: UnsafeMutableRawBufferPointer(raw), at: 0)
    }
    bytes.removeLast(size - count)
    return bytes
  }
}
