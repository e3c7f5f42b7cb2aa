import Foundation

/// The mark of a store into which objects are being copied, in its metadata. A store that is opened with the mark was
/// left by a process that ended meanwhile.
enum IncompleteCopy {
  private static let key = "OpenCoreDataIncompleteCopy"

  /// Marks a store. The next save writes the mark.
  static func begin(_ store: NSPersistentStore) {
    store.metadata = (store.metadata ?? [:]).merging([key: NSNumber(value: true)]) { $1 }
  }

  /// Removes the mark. The next save writes that.
  static func end(_ store: NSPersistentStore) {
    store.metadata = store.metadata?.filter { $0.key != key }
  }

  /// Throws if a store is marked.
  static func check(_ store: NSPersistentStore) throws {
    guard store.metadata?[key] != nil else { return }
    throw CoreDataError.make(
      NSPersistentStoreOpenError,
      "The store at \(store.url?.absoluteString ?? "?") is incomplete: objects were being copied into it when the "
        + "process ended. Copy them again to this location, which replaces the store, or destroy it.")
  }

  /// Makes room for a new store, which may replace an incomplete one.
  ///
  /// - Parameter code: the code of the error if anything else is at the location.
  static func vacate(
    _ url: URL, of storeClass: NSIncrementalStore.Type, _ options: [AnyHashable: Any]?,
    failing code: Int = NSPersistentStoreOpenError
  ) throws {
    guard url.isFileURL, url != nowhere, try !isUnused(url) else { return }
    if let metadata = try? storeClass.metadataForPersistentStore(with: url), metadata[key] != nil {
      return try storeClass.destroyPersistentStore(at: url, options: options)
    }
    throw CoreDataError.make(
      code, "A store cannot be migrated to \(url.path): there is something already.")
  }

  /// Whether there is nothing, or an empty file or folder.
  private static func isUnused(_ url: URL) throws -> Bool {
    guard let attributes = try? FileManager.default.attributesOfItem(atPath: url.path) else { return true }
    return switch attributes[.type] as? FileAttributeType {
    case .typeDirectory?: try FileManager.default.contentsOfDirectory(atPath: url.path).isEmpty
    case .typeRegular?: (attributes[.size] as? NSNumber)?.intValue == 0
    default: false
    }
  }
}
