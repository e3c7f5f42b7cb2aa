public import CoreData
public import IncrementalStore

/// A Core Data store that Cairn keeps in a directory.
///
/// One process at a time may open it for writing, with any number of coordinators. Other processes may open it for
/// reading, and see the contents as of that time.
public final class CairnIncrementalStore: RowIncrementalStore {
  /// `Cairn`.
  public override class var storeType: String { NSPersistentStore.StoreType.cairn.rawValue }

  public override class func rowStore(at url: URL, options: [AnyHashable: Any]?) throws -> any RowStore {
    try CairnRowStore.open(at: url, options)
  }

  /// Replaces the store at `destinationURL`, if there is one, by a copy of the store at `sourceURL`. The source may be
  /// in use, the destination must not be. Coordinators replace only Core Data's own stores, so call this method
  /// directly.
  ///
  /// Objects keep their identifiers and versions. New objects in the copy get other numbers than new objects in the
  /// original or in the replaced store. The copy is made beside the destination and replaces it by two renames; if the
  /// process ends between them, both stores are left beside the destination, under names that begin with a dot.
  ///
  /// - Throws: 134080 if something other than a store is at the destination, or if the store there is in use; 640 if
  ///   there is not enough space. Nothing has changed then.
  /// - Complexity: O(bytes of the source).
  public static func replacePersistentStore(
    at destinationURL: URL, destinationOptions: [AnyHashable: Any]?, withPersistentStoreFrom sourceURL: URL,
    sourceOptions: [AnyHashable: Any]?
  ) throws {
    try CairnFiles.replace(destinationURL, withCopyOf: sourceURL)
  }

  /// Removes the store at `url`, if there is one: its directory with everything in it. Coordinators destroy only Core
  /// Data's own stores, so call this method directly.
  ///
  /// - Throws: 134080 if something other than a store is at `url`, or if the store is in use. With
  ///   `NSPersistentStoreForceDestroyOption`, a store that is too damaged to be opened, or has a newer format, is
  ///   removed as well.
  public static func destroyPersistentStore(at url: URL, options: [AnyHashable: Any]?) throws {
    try CairnFiles.destroy(
      at: url, isForced: (options?[NSPersistentStoreForceDestroyOption] as? NSNumber)?.boolValue == true)
  }
}
