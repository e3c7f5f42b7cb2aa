public import Cairn
public import CoreData
@_exported public import IncrementalStore

extension NSPersistentStore.StoreType {
  /// Stores that Cairn keeps.
  public static let cairn = NSPersistentStore.StoreType(rawValue: "Cairn")
}

extension NSPersistentStoreDescription {
  /// A store that Cairn keeps in the directory at `url`, which is made if there is nothing or an empty file:
  ///
  ///     container.persistentStoreDescriptions = [.cairn(at: url)]
  ///
  /// Options are ``CairnDurabilityOption``, ``CairnCompactionOption``, ``RowCacheBytesOption`` and
  /// `NSReadOnlyPersistentStoreOption`.
  public static func cairn(at url: URL) -> NSPersistentStoreDescription {
    CairnIncrementalStore.register()
    let description = NSPersistentStoreDescription(url: url)
    description.type = NSPersistentStore.StoreType.cairn.rawValue
    return description
  }
}

/// How durable a save is when it returns: the string `durable`, which is the default, or `buffered`. A buffered save
/// survives the end of the process; a loss of power may take it, with those after it.
public let CairnDurabilityOption = "CairnDurability"

/// Whether space that is not needed is given back in the background: an `NSNumber`, true unless set.
public let CairnCompactionOption = "CairnCompaction"

/// A Core Data store that Cairn keeps in a directory.
///
/// One process at a time may use it for writing, with any number of coordinators; others may open it for reading, and
/// see what it was at the time.
public final class CairnIncrementalStore: RowIncrementalStore {
  /// `Cairn`.
  public override class var storeType: String { NSPersistentStore.StoreType.cairn.rawValue }

  /// Makes the type known to coordinators. A description made by `cairn(at:)` has done it.
  public static func register() { NSPersistentStoreCoordinator.registerStoreClass(self, type: .cairn) }

  public override class func rowStore(at url: URL, options: [AnyHashable: Any]?) throws -> any RowStore {
    let options = try CairnOptions(options)
    if !options.isReadOnly { try CairnFiles.removeEmptyFile(at: url) }
    return try CairnRowStore(at: url, options)
  }

  /// The engine's store; nil once this one is removed from its coordinator.
  package var database: Store? { engine?.store }

  var engine: Engine? { (rowStore as? CairnRowStore)?.engine }

  /// Rewrites what has become too long for what is needed of it, and returns when that is done.
  ///
  /// Takes time in proportion to what is rewritten; fetches and saves go on meanwhile.
  ///
  /// - Throws: 640 if there is no space for it, and other errors of the store. Nothing is lost by any.
  @discardableResult
  public func compact() throws -> CompactionReport? {
    try CairnFailure.translating(url) { () throws(StoreError) in try engine?.store.compact() }
  }

  /// How large the store is, and what it has done; nil once it is removed from its coordinator.
  public var statistics: StoreStatistics? { engine?.store.statistics }

  /// Puts a copy of the store at `sourceURL` in the place of the one at `destinationURL`; there may be none. The source
  /// may be in use, the destination may not.
  ///
  /// Rows keep their identifiers and versions. The copy gives other numbers to new objects than the original, and than
  /// the store that it replaces. It is made beside the destination, which it replaces by two renames; if the process
  /// ends between these, both are there under names that begin with a dot.
  ///
  /// - Throws: 134080 if there is something else at the destination, or it is in use; 640 if there is no space; and
  ///   nothing has changed then.
  /// - Complexity: O(bytes of the source).
  public override class func replacePersistentStore(
    at destinationURL: URL, destinationOptions: [AnyHashable: Any]?, withPersistentStoreFrom sourceURL: URL,
    sourceOptions: [AnyHashable: Any]?
  ) throws {
    try CairnFiles.replace(destinationURL, withCopyOf: sourceURL)
  }

  /// Removes the store at `url`: its directory and all that is in it. There may be none.
  ///
  /// - Throws: 134080 if there is something else, or if the store is in use; with `NSPersistentStoreForceDestroyOption`
  ///   a store that is too damaged to be opened is removed, too.
  public override class func destroyPersistentStore(at url: URL, options: [AnyHashable: Any]?) throws {
    try CairnFiles.destroy(
      at: url, isForced: (options?[NSPersistentStoreForceDestroyOption] as? NSNumber)?.boolValue == true)
  }
}
