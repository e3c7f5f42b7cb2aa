import Cairn
import CairnInspection
import CoreData
import IncrementalStore

/// What a store is in the file system.
enum CairnFiles {
  /// An empty file says where a store is to be made.
  static func removeEmptyFile(at url: URL) throws {
    let attributes = try? FileManager.default.attributesOfItem(atPath: url.path)
    guard attributes?[.type] as? FileAttributeType == .typeRegular, (attributes?[.size] as? NSNumber)?.intValue == 0
    else {
      return
    }
    try FileManager.default.removeItem(at: url)
  }

  static func destroy(at url: URL, isForced: Bool) throws {
    guard FileManager.default.fileExists(atPath: url.path) else { return }
    try removeEmptyFile(at: url)
    guard FileManager.default.fileExists(atPath: url.path) else { return }
    try checkUnused(url, isForced: isForced)
    try FileManager.default.removeItem(at: url)
  }

  static func replace(_ destination: URL, withCopyOf source: URL) throws {
    guard destination.standardizedFileURL != source.standardizedFileURL else {
      throw StoreFailure.make(
        NSPersistentStoreOperationError, "A store cannot be replaced with itself: \(source.path).")
    }
    try removeEmptyFile(at: destination)
    let hasOld = FileManager.default.fileExists(atPath: destination.path)
    if hasOld { try checkUnused(destination, isForced: false) }
    let (new, old) = (beside(destination, "new"), beside(destination, "old"))
    do {
      try copy(source, to: new)
      if hasOld { try FileManager.default.moveItem(at: destination, to: old) }
      do {
        try FileManager.default.moveItem(at: new, to: destination)
      } catch {
        if hasOld { try FileManager.default.moveItem(at: old, to: destination) }
        throw error
      }
    } catch {
      try? FileManager.default.removeItem(at: new)
      throw error
    }
    if hasOld { try? FileManager.default.removeItem(at: old) }
  }

  private static func copy(_ source: URL, to copy: URL) throws {
    var options = CairnOptions()
    // A store that this process writes to is read by the same handle, with what was saved last.
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

  /// - Throws: 134080 if there is no store, or if it is in use.
  private static func checkUnused(_ url: URL, isForced: Bool) throws {
    do {
      var options = CairnOptions().engineOptions
      options.createIfMissing = false
      let store = try CairnFailure.translating(url) { () throws(StoreError) in
        try Store.open(at: url.path, options: options)
      }
      // Whatever path its users have given, it is the same store.
      guard !Engine.isInUse(store) else {
        throw StoreFailure.make(
          NSPersistentStoreOpenError,
          "The store at \(url.path) is in use by this program. Remove it from its coordinators first.")
      }
      try? store.close()
    } catch {
      let cause = ((error as NSError).userInfo[NSUnderlyingErrorKey] as? StoreError)?.code
      guard isForced, cause == .damaged || cause == .corrupted || cause == .newerFormat else { throw error }
    }
  }
}
