import Cairn
import CairnInspection
import CoreData
import IncrementalStore

/// Operations on a store's directory as a whole.
enum CairnFiles {
  /// Removes an empty file at `url`, which only marks the place of a new store.
  static func removeEmptyFile(at url: URL) throws {
    if isEmptyFile(url) { try FileManager.default.removeItem(at: url) }
  }

  private static func isEmptyFile(_ url: URL) -> Bool {
    let attributes = try? FileManager.default.attributesOfItem(atPath: url.path)
    return attributes?[.type] as? FileAttributeType == .typeRegular && (attributes?[.size] as? NSNumber)?.intValue == 0
  }

  static func destroy(at url: URL, isForced: Bool) throws {
    try removeEmptyFile(at: url)
    guard FileManager.default.fileExists(atPath: url.path) else { return }
    try whileUnused(url, mayBeDamaged: isForced) { _ in try FileManager.default.removeItem(at: url) }
  }

  static func replace(_ destination: URL, withCopyOf source: URL) throws {
    guard destination.standardizedFileURL != source.standardizedFileURL else {
      throw StoreFailure.make(
        NSPersistentStoreOperationError, "A store cannot be replaced with itself: \(source.path).")
    }
    let (new, old) = (beside(destination, "new"), beside(destination, "old"))
    do {
      guard FileManager.default.fileExists(atPath: destination.path), !isEmptyFile(destination) else {
        try copy(source, to: new)
        try removeEmptyFile(at: destination)
        return try FileManager.default.moveItem(at: new, to: destination)
      }
      // While the lock of the destination is held, nobody saves changes in it that would be lost with it.
      try whileUnused(destination, mayBeDamaged: false) { _ in
        try copy(source, to: new)
        try FileManager.default.moveItem(at: destination, to: old)
        do {
          try FileManager.default.moveItem(at: new, to: destination)
        } catch {
          try FileManager.default.moveItem(at: old, to: destination)
          throw error
        }
      }
    } catch {
      try? FileManager.default.removeItem(at: new)
      throw error
    }
    try? FileManager.default.removeItem(at: old)
  }

  private static func copy(_ source: URL, to copy: URL) throws {
    var options = CairnOptions()
    // A store that this process has open for writing is read through the same handle, and so with its last saves.
    options.engineOptions.access = Engine.isInUse(source.path) ? .readWrite : .readOnly
    let engine = try CairnFailure.translating(source) { () throws(StoreError) in
      try Engine.open(at: source.path, options)
    }
    defer { try? engine.leave() }
    try CairnFailure.translatingAny(copy) {
      _ = try StoreCopy.copy(
        engine.store, to: copy.path, segmentSize: options.engineOptions.segmentSize, recompressing: false)
    }
  }

  private static func beside(_ url: URL, _ what: String) -> URL {
    url.deletingLastPathComponent().appending(path: ".\(url.lastPathComponent) \(what) \(UUID().uuidString)")
  }

  /// The number of the last commit of a store.
  static func revision(of store: Store) -> UInt64 {
    let snapshot = store.snapshot()
    defer { snapshot.close() }
    return snapshot.sequence.rawValue
  }

  /// Whether somebody, this process included, has the store at `url` open for writing.
  static func isInUse(_ url: URL) -> Bool {
    do {
      try Store.withLock(at: url.path) {}
      return false
    } catch {
      return (error as? StoreError)?.code == .locked
    }
  }

  /// Runs `body` while nobody, this process included, has the store open for writing. It gets the number of the
  /// last commit; nil if the store is damaged.
  ///
  /// - Throws: 134080 if what is at `url` is not a store, or if the store is in use; other errors if it cannot be
  ///   opened, unless `mayBeDamaged` and it is damaged or has a newer format.
  static func whileUnused(_ url: URL, mayBeDamaged: Bool, _ body: (UInt64?) throws -> Void) throws {
    try CairnFailure.translatingAny(url) {
      try Store.withLock(at: url.path) {
        var options = CairnOptions().engineOptions
        options.access = .readOnly
        var revision: UInt64?
        do throws(StoreError) {
          let store = try Store.open(at: url.path, options: options)
          revision = self.revision(of: store)
          try store.close()
        } catch {
          guard mayBeDamaged, [.damaged, .corrupted, .newerFormat].contains(error.code) else { throw error }
        }
        try body(revision)
      }
    }
  }
}
