import Foundation

/// Replaces a file or folder with a copy of another one.
enum StoreReplacement {
  static func replace(_ destination: URL, withCopyOf source: URL) throws {
    let files = FileManager.default
    guard source.isFileURL, destination.isFileURL, files.fileExists(atPath: source.path) else {
      throw refusal(
        "There is no store at \(source.absoluteString) that can be copied to \(destination.absoluteString).")
    }
    guard source.resolvingSymlinksInPath().path != destination.resolvingSymlinksInPath().path else {
      throw refusal("The store at \(source.path) cannot be replaced with itself.")
    }
    let copy = sibling(of: destination)
    defer { try? files.removeItem(at: copy) }
    try files.copyItem(at: source, to: copy)
    try synchronize(contentsOf: copy)
    let former = try rename(copy, over: destination)
    try synchronize(destination.deletingLastPathComponent())
    // The store has been replaced, whether or not this succeeds.
    if let former { try? files.removeItem(at: former) }
  }

  /// Waits until a file, or a folder with all that is in it, is on the disk.
  static func synchronize(contentsOf url: URL) throws {
    let contents = FileManager.default.enumerator(atPath: url.path)?.compactMap { $0 as? String } ?? []
    for item in contents.map({ url.appending(path: $0) }) + [url] { try synchronize(item) }
  }

  /// Renames an item to the name of another item.
  ///
  /// This is one step if a file replaces a file. Otherwise the other item is renamed first.
  ///
  /// - Returns: the new location of the other item if it still exists.
  private static func rename(_ item: URL, over place: URL) throws -> URL? {
    if unsafe Foundation.rename(item.path, place.path) == 0 { return nil }
    guard [EISDIR, ENOTDIR, ENOTEMPTY, EEXIST].contains(errno) else { throw failure(place) }
    let former = sibling(of: place)
    try FileManager.default.moveItem(at: place, to: former)
    do {
      try FileManager.default.moveItem(at: item, to: place)
    } catch {
      guard (try? FileManager.default.moveItem(at: former, to: place)) != nil else {
        throw CoreDataError.make(
          NSPersistentStoreOperationError,
          "The store at \(place.path) could not be replaced, and is now at \(former.path).",
          [NSUnderlyingErrorKey: error])
      }
      throw error
    }
    return former
  }

  /// An unused name in the same folder.
  private static func sibling(of url: URL) -> URL {
    url.deletingLastPathComponent().appending(path: ".\(url.lastPathComponent).\(UUID().uuidString)")
  }

  static func synchronize(_ url: URL) throws {
    let file = unsafe open(url.path, O_RDONLY | O_CLOEXEC)
    guard file >= 0 else { throw failure(url) }
    defer { close(file) }
    guard fsync(file) == 0 else { throw failure(url) }
  }

  private static func refusal(_ text: String) -> NSError { CoreDataError.make(NSPersistentStoreOperationError, text) }

  private static func failure(_ url: URL) -> NSError {
    NSError(domain: NSPOSIXErrorDomain, code: Int(errno), userInfo: [NSFilePathErrorKey: url.path])
  }
}
