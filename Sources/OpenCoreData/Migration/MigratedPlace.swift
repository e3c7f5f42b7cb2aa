import Foundation

/// Where a store of a migration is, and with which options it is opened.
struct MigratedPlace {
  let url: URL
  let type: String
  let options: [AnyHashable: Any]

  init(_ url: URL, _ type: String, _ options: [AnyHashable: Any]?) {
    self.url = url
    self.type = type
    self.options = options ?? [:]
  }

  /// Removes the store, if there is one and it can be removed.
  func destroy() { try? StoreRegistry.storeClass(for: type).destroyPersistentStore(at: url, options: ownOptions) }

  /// The options without those that say what to do with a store of another model.
  var ownOptions: [AnyHashable: Any] {
    options.filter { key, _ in
      let key = key as? String
      return key != NSMigratePersistentStoresAutomaticallyOption && key != NSInferMappingModelAutomaticallyOption
        && key != NSPersistentStoreStagedMigrationManagerOptionKey
    }
  }

  /// Throws if less space is free where the new store is to be than the store takes.
  func checkSpace(at destination: URL) throws {
    guard url.isFileURL, url != nowhere, destination.isFileURL, destination != nowhere else { return }
    let folder = destination.deletingLastPathComponent().path
    guard
      let free = (try? FileManager.default.attributesOfFileSystem(forPath: folder))?[.systemFreeSize] as? NSNumber,
      free.int64Value < size
    else { return }
    throw CoreDataError.make(
      CocoaError.Code.fileWriteOutOfSpace.rawValue,
      "A migration of \(url.path) needs \(size) bytes at \(folder), where \(free) are free.",
      [NSFilePathErrorKey: destination.path])
  }

  /// The bytes of the files of the store.
  private var size: Int64 {
    let files = FileManager.default
    let inside = (files.enumerator(atPath: url.path)?.compactMap { $0 as? String } ?? []).map {
      url.appending(path: $0)
    }
    return (inside + [url]).reduce(0) { sum, file in
      let attributes = try? files.attributesOfItem(atPath: file.path)
      guard attributes?[.type] as? FileAttributeType == .typeRegular else { return sum }
      return sum + ((attributes?[.size] as? NSNumber)?.int64Value ?? 0)
    }
  }
}
