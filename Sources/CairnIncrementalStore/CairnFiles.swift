import Cairn
import Foundation
import OpenCoreData

/// What a store is in the file system.
enum CairnFiles {
  /// An empty file says where a store is to be made.
  static func removeEmptyFile(at url: URL, _ environment: Environment) throws {
    let attributes = try? FileManager.default.attributesOfItem(atPath: url.path)
    guard attributes?[.type] as? FileAttributeType == .typeRegular, (attributes?[.size] as? NSNumber)?.intValue == 0
    else {
      return
    }
    try FileManager.default.removeItem(at: url)
  }

  static func destroy(at url: URL, isForced: Bool) throws {
    guard FileManager.default.fileExists(atPath: url.path) else { return }
    guard !Engine.isInUse(url.path) else {
      throw CoreDataError.make(
        NSPersistentStoreOpenError,
        "The store at \(url.path) is in use by this program. Remove it from its coordinators first.")
    }
    do {
      var options = CairnOptions().engineOptions
      options.createIfMissing = false
      let store = try CairnFailure.translating(url) { () throws(StoreError) in
        try Store.open(at: url.path, options: options)
      }
      try? store.close()
    } catch {
      let cause = ((error as NSError).userInfo[NSUnderlyingErrorKey] as? StoreError)?.code
      guard isForced, cause == .damaged || cause == .corrupted || cause == .newerFormat else { throw error }
    }
    try FileManager.default.removeItem(at: url)
  }
}
