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

extension CairnIncrementalStore {
  /// Makes the type known to coordinators. A description made by `cairn(at:)` has done it.
  public static func register() { NSPersistentStoreCoordinator.registerStoreClass(self, type: .cairn) }

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
}
