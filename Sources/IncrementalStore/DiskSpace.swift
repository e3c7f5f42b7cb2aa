import CoreData

/// The space on the disk of a store, which is checked before much is written.
struct DiskSpace: Sendable {
  /// How many bytes are free; nil if that is not known.
  private let free: @Sendable () -> Int?

  init(free: @escaping @Sendable () -> Int?) { self.free = free }

  /// The space at the place of a store, if it is a file.
  init(at url: URL?) {
    free = {
      guard let url, url.isFileURL else { return nil }
      let attributes = try? FileManager.default.attributesOfFileSystem(forPath: url.deletingLastPathComponent().path)
      return (attributes?[.systemFreeSize] as? NSNumber)?.intValue
    }
  }

  /// - Parameter work: What writes the bytes, for the message.
  /// - Throws: 640 if fewer bytes are free.
  func require(_ bytes: Int, for work: String) throws {
    guard let free = free(), free < bytes else { return }
    throw StoreFailure.make(
      CocoaError.Code.fileWriteOutOfSpace.rawValue, "\(work) writes \(bytes) bytes, and \(free) are free.")
  }
}
