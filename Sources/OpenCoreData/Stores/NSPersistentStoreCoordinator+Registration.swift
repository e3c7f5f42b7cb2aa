public import Foundation

extension NSPersistentStoreCoordinator {
  /// Registers the class of the stores of a type, a subclass of ``NSIncrementalStore``, in the whole process; nil
  /// removes the type. Stores that have been added are not affected.
  public class func registerStoreClass(_ storeClass: AnyClass?, type: NSPersistentStore.StoreType) {
    registerStoreClass(storeClass, forStoreType: type.rawValue)
  }

  /// As ``registerStoreClass(_:type:)``.
  public class func registerStoreClass(_ storeClass: AnyClass?, forStoreType storeType: String) {
    let incremental = storeClass as? NSIncrementalStore.Type
    require(
      storeClass == nil || incremental != nil,
      "\(storeClass.map { "\($0)" } ?? "") cannot be a store class: it does not inherit from NSIncrementalStore.")
    StoreRegistry.register(incremental, for: storeType)
  }

  /// The metadata of the store at a URL; it need not have been added.
  ///
  /// - Throws: ``NSPersistentStoreInvalidTypeError`` if no class is registered; any error of the class.
  public class func metadataForPersistentStore(
    type storeType: NSPersistentStore.StoreType, at storeURL: URL, options: [AnyHashable: Any]? = nil
  ) throws -> [String: Any] {
    try metadataForPersistentStore(ofType: storeType.rawValue, at: storeURL, options: options)
  }

  /// As ``metadataForPersistentStore(type:at:options:)``.
  public class func metadataForPersistentStore(
    ofType storeType: String, at url: URL, options: [AnyHashable: Any]? = nil
  ) throws -> [String: Any] {
    try StoreRegistry.storeClass(for: storeType).metadataForPersistentStore(with: url)
  }

  /// Replaces the metadata of the store at a URL at once. The store must not have been added to any coordinator.
  ///
  /// - Throws: ``NSPersistentStoreInvalidTypeError`` if no class is registered; any error of the class.
  public class func setMetadata(
    _ metadata: [String: Any]?, type storeType: NSPersistentStore.StoreType, at storeURL: URL,
    options: [AnyHashable: Any]? = nil
  ) throws {
    try setMetadata(metadata, forPersistentStoreOfType: storeType.rawValue, at: storeURL, options: options)
  }

  /// As ``setMetadata(_:type:at:options:)``.
  public class func setMetadata(
    _ metadata: [String: Any]?, forPersistentStoreOfType storeType: String, at url: URL,
    options: [AnyHashable: Any]? = nil
  ) throws {
    try StoreRegistry.storeClass(for: storeType).setMetadata(metadata, forPersistentStoreAt: url)
  }

  /// Removes the store at a URL with all its files. If it is a store of the coordinator, it is removed from the
  /// coordinator first; no other coordinator may use it.
  ///
  /// - Throws: ``NSPersistentStoreInvalidTypeError`` if no class is registered; any error of the class; see
  ///   ``NSPersistentStore/destroyPersistentStore(at:options:)``.
  public func destroyPersistentStore(
    at url: URL, type storeType: NSPersistentStore.StoreType, options: [AnyHashable: Any]? = nil
  ) throws {
    let storeClass = try StoreRegistry.storeClass(for: storeType.rawValue)
    if let store = persistentStore(for: url) { try remove(store) }
    try withStoreLock { try storeClass.destroyPersistentStore(at: url, options: options) }
  }

  /// As ``destroyPersistentStore(at:type:options:)``.
  public func destroyPersistentStore(
    at url: URL, ofType storeType: String, options: [AnyHashable: Any]? = nil
  ) throws {
    try destroyPersistentStore(at: url, type: NSPersistentStore.StoreType(rawValue: storeType), options: options)
  }
}
