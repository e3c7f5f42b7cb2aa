public import Foundation

extension NSPersistentStoreCoordinator {
  /// Copies all objects of a store into a new store, which replaces the old one in the coordinator.
  ///
  /// The rows are copied: attributes, relationships in their order, and also the metadata that the application has set.
  /// A reference to an object that the store does not have becomes nil. The objects get new identifiers and new
  /// versions. Nothing is validated, and methods such as `awakeFromInsert()` and `willSave()` are not called. Contexts'
  /// objects of the old store are no longer valid, and unsaved changes are not copied:
  /// `NSPersistentStoreCoordinatorWillRemoveStore` is posted before, so that observers can still save. The data of the
  /// old store stay where they are; ``destroyPersistentStore(at:type:options:)`` removes them.
  ///
  /// May be called on any thread; other calls of stores wait meanwhile. Up to 1,000 objects are written in one save,
  /// and so is everything if the new store is an ``NSAtomicStore``. More objects are written 1,000 a save; of the
  /// others only identifiers are in memory, and the members of one ordered relationship at a time. If the process ends
  /// meanwhile, the new store is incomplete: adding it to a coordinator throws ``NSPersistentStoreOpenError``, and a
  /// further migration to the same location replaces it. A `Progress` that is current on the thread gets the progress;
  /// cancelling it ends the migration with ``NSMigrationCancelledError``.
  ///
  /// - Parameters:
  ///   - store: A store of the coordinator.
  ///   - storeURL: The location of the new store, at which there must be neither a store of the coordinator nor
  ///     anything other than an empty file or folder, or a store that a migration has left incomplete. Stores in memory
  ///     may be at `/dev/null`. What is at a URL that is not a file URL is for the store class to check.
  ///   - options: The options for the new store.
  ///   - storeType: The type of the new store.
  /// - Returns: The new store, which keeps the same configuration.
  /// - Throws: ``NSPersistentStoreOperationError`` if the coordinator does not have the store;
  ///   ``NSPersistentStoreOpenError`` if the location is in use; ``NSPersistentStoreInvalidTypeError`` if no class is
  ///   registered; any error of either store. The coordinator and the old store are then unchanged. The incomplete new
  ///   store is destroyed if its URL is a file URL, together with the empty file or folder that was there; at any other
  ///   URL it stays, because something may have been there before.
  @discardableResult
  public func migratePersistentStore(
    _ store: NSPersistentStore, to storeURL: URL, options: [AnyHashable: Any]? = nil,
    type storeType: NSPersistentStore.StoreType
  ) throws -> NSPersistentStore {
    try migratePersistentStore(store, to: storeURL, options: options, withType: storeType.rawValue)
  }

  /// As ``migratePersistentStore(_:to:options:type:)``.
  @discardableResult
  public func migratePersistentStore(
    _ store: NSPersistentStore, to URL: URL, options: [AnyHashable: Any]? = nil, withType storeType: String
  ) throws -> NSPersistentStore {
    _ = try own(store)
    try checkVacant(URL)
    let storeClass = try StoreRegistry.storeClass(for: storeType)
    try IncompleteCopy.vacate(URL, of: storeClass, options)
    NotificationCenter.default.post(
      name: .NSPersistentStoreCoordinatorWillRemoveStore, object: self,
      userInfo: [NSRemovedPersistentStoresKey: [store]])
    let (migrated, identifiers) = try changingStores {
      let old = try own(store)
      try checkVacant(URL)
      try IncompleteCopy.vacate(URL, of: storeClass, options)
      let new = storeClass.init(
        persistentStoreCoordinator: self, configurationName: old.configurationName, at: URL, options: options)
      let identifiers: CopiedIdentifiers
      do {
        identifiers = try copy(old, into: new, ofType: storeType)
      } catch {
        new.persistentStoreCoordinator = nil
        // Only for a file URL is it known that nothing was there before.
        if URL.isFileURL, URL != nowhere { try? storeClass.destroyPersistentStore(at: URL, options: options) }
        throw error
      }
      RemoteChanges.end(old)
      old.willRemove(from: self)
      stores = stores.map { $0 === old ? new : $0 }
      old.persistentStoreCoordinator = nil
      new.didAdd(to: self)
      RemoteChanges.observe(new, of: self)
      return (new, identifiers)
    }
    announceChange([
      NSAddedPersistentStoresKey: [migrated], NSRemovedPersistentStoresKey: [store],
      NSUUIDChangedPersistentStoresKey: [store, migrated, identifiers.copies],
    ])
    return migrated
  }

  /// Opens a store that the coordinator does not have yet, and fills it with the objects of another one.
  private func copy(
    _ old: NSIncrementalStore, into new: NSIncrementalStore, ofType type: String
  ) throws -> CopiedIdentifiers {
    try new.loadMetadata()
    do {
      try prepare(new, ofType: type, entities(ofConfiguration: old.configurationName))
      return try StoreCopy.run(old, of: self, new)
    } catch {
      new.willRemove(from: self)
      throw error
    }
  }
}
