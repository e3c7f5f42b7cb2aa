public import CoreData
public import IncrementalStore

/// A Core Data store that Cairn keeps in a directory.
///
/// One process at a time may use it for writing, with any number of coordinators; others may open it for reading, and
/// see what it was at the time.
public final class CairnIncrementalStore: RowIncrementalStore {
  /// `Cairn`.
  public override class var storeType: String { NSPersistentStore.StoreType.cairn.rawValue }

  public override class func rowStore(at url: URL, options: [AnyHashable: Any]?) throws -> any RowStore {
    try CairnRowStore.open(at: url, options)
  }

  /// Puts a copy of the store at `sourceURL` in the place of the one at `destinationURL`; there may be none. The source
  /// may be in use, the destination may not. Coordinators do this for Core Data's own stores only.
  ///
  /// Rows keep their identifiers and versions. The copy gives other numbers to new objects than the original, and than
  /// the store that it replaces. It is made beside the destination, which it replaces by two renames; if the process
  /// ends between these, both are there under names that begin with a dot.
  ///
  /// - Throws: 134080 if there is something else at the destination, or it is in use; 640 if there is no space; and
  ///   nothing has changed then.
  /// - Complexity: O(bytes of the source).
  public static func replacePersistentStore(
    at destinationURL: URL, destinationOptions: [AnyHashable: Any]?, withPersistentStoreFrom sourceURL: URL,
    sourceOptions: [AnyHashable: Any]?
  ) throws {
    try CairnFiles.replace(destinationURL, withCopyOf: sourceURL)
  }

  /// Removes the store at `url`: its directory and all that is in it. There may be none. Coordinators do this for Core
  /// Data's own stores only.
  ///
  /// - Throws: 134080 if there is something else, or if the store is in use; with `NSPersistentStoreForceDestroyOption`
  ///   a store that is too damaged to be opened, or has a newer format, is removed, too.
  public static func destroyPersistentStore(at url: URL, options: [AnyHashable: Any]?) throws {
    try CairnFiles.destroy(
      at: url, isForced: (options?[NSPersistentStoreForceDestroyOption] as? NSNumber)?.boolValue == true)
  }
}
