public import Foundation

extension NSPersistentStoreCoordinator {
  /// Replaces the store at `destinationURL`, if there is one, with a copy of the store at `sourceURL`.
  ///
  /// The coordinator examines neither the options nor the stores; the class of the type does the work, see
  /// ``NSPersistentStore/replacePersistentStore(at:destinationOptions:withPersistentStoreFrom:sourceOptions:)``. The
  /// source may be a store of this coordinator, which saves nothing meanwhile. May be called on any thread, and takes
  /// time proportional to the size of the source.
  ///
  /// - Throws: ``NSPersistentStoreInvalidTypeError`` if no class is registered; ``NSPersistentStoreOperationError`` if
  ///   the destination is a store of the coordinator, which has to be removed first, and for stores in memory; any
  ///   error of the class.
  public func replacePersistentStore(
    at destinationURL: URL, destinationOptions: [AnyHashable: Any]? = nil, withPersistentStoreFrom sourceURL: URL,
    sourceOptions: [AnyHashable: Any]? = nil, type sourceType: NSPersistentStore.StoreType
  ) throws {
    let storeClass = try StoreRegistry.storeClass(for: sourceType.rawValue)
    try withStoreLock {
      guard persistentStore(for: destinationURL) == nil else {
        throw CoreDataError.make(
          NSPersistentStoreOperationError,
          "The coordinator uses the store at \(destinationURL.absoluteString); remove it before it is replaced.")
      }
      try storeClass.replacePersistentStore(
        at: destinationURL, destinationOptions: destinationOptions, withPersistentStoreFrom: sourceURL,
        sourceOptions: sourceOptions)
    }
  }

  /// As ``replacePersistentStore(at:destinationOptions:withPersistentStoreFrom:sourceOptions:type:)``.
  public func replacePersistentStore(
    at destinationURL: URL, destinationOptions: [AnyHashable: Any]? = nil, withPersistentStoreFrom sourceURL: URL,
    sourceOptions: [AnyHashable: Any]? = nil, ofType storeType: String
  ) throws {
    try replacePersistentStore(
      at: destinationURL, destinationOptions: destinationOptions, withPersistentStoreFrom: sourceURL,
      sourceOptions: sourceOptions, type: NSPersistentStore.StoreType(rawValue: storeType))
  }
}
