public import Cairn
public import CoreData
@_exported public import IncrementalStore

extension NSPersistentStore.StoreType {
  /// The type of the stores that Cairn keeps.
  public static let cairn = NSPersistentStore.StoreType(rawValue: "Cairn")
}

extension NSPersistentStoreDescription {
  /// Describes a store that Cairn keeps in the directory at `url`. The directory is created if there is nothing, or an
  /// empty file, at `url`:
  ///
  ///     container.persistentStoreDescriptions = [.cairn(at: url)]
  ///
  /// Its options are ``CairnDurabilityOption``, ``CairnCompactionOption``, `RowCacheBytesOption` and
  /// `NSReadOnlyPersistentStoreOption`. Registers ``CairnIncrementalStore``.
  public static func cairn(at url: URL) -> NSPersistentStoreDescription {
    CairnIncrementalStore.register()
    let description = NSPersistentStoreDescription(url: url)
    description.type = NSPersistentStore.StoreType.cairn.rawValue
    return description
  }
}

/// The key of a store option: how durable a save is when it returns. The string `durable`, which is the default, or
/// `buffered`. A buffered save survives the end of the process; a loss of power may lose it and all later ones.
public let CairnDurabilityOption = "CairnDurability"

/// The key of a store option: whether the store reclaims unused space in the background. An `NSNumber`; true if not
/// set.
public let CairnCompactionOption = "CairnCompaction"

extension CairnIncrementalStore {
  /// Registers the store type with Core Data. `NSPersistentStoreDescription.cairn(at:)` calls this.
  public static func register() { NSPersistentStoreCoordinator.registerStoreClass(self, type: .cairn) }

  /// The engine's store; nil before the metadata are loaded and after this store is removed from its coordinator.
  package var database: Store? { engine?.store }

  var engine: Engine? { (rowStore as? CairnRowStore)?.engine }

  /// Rewrites segments that contain too much unused space, and returns when that is done.
  ///
  /// Takes time in proportion to the bytes rewritten; fetches and saves continue meanwhile.
  ///
  /// - Throws: 640 if there is not enough space, and other errors of the store. No data is lost in any case.
  @discardableResult
  public func compact() throws -> CompactionReport? {
    try CairnFailure.translating(url) { () throws(StoreError) in try engine?.store.compact() }
  }

  /// The size of the store and counts of its operations; nil once it is removed from its coordinator.
  public var statistics: StoreStatistics? { engine?.store.statistics }
}
