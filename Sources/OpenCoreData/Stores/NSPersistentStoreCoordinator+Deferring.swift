extension NSPersistentStoreCoordinator {
  /// Does what migrations of the coordinator's stores have deferred: removes what the new model no longer has, and builds
  /// its indexes. Stores defer this until it is asked for if ``NSPersistentStoreDeferredLightweightMigrationOptionKey``
  /// is set; otherwise they do it in the background.
  ///
  /// Any thread may call it; contexts may fetch and save meanwhile.
  ///
  /// - Throws: Any error of a store; the work that is done stays done.
  /// - Complexity: O(rows and entries that are removed, and rows of entities with new indexes).
  public func finishDeferredLightweightMigration() throws {
    for store in stores.compactMap({ $0 as? any DeferringStore }) { while try store.advanceDeferredWork() {} }
  }

  /// Does a part of the work of ``finishDeferredLightweightMigration()``, in one save. Call it again and again, for
  /// example when the application has nothing else to do; afterwards it does nothing.
  ///
  /// - Throws: Any error of a store.
  public func finishDeferredLightweightMigrationTask() throws {
    for store in stores.compactMap({ $0 as? any DeferringStore }) where try store.advanceDeferredWork() { return }
  }
}

/// A store that defers work of migrations.
package protocol DeferringStore: NSIncrementalStore {
  /// Does a part of the work. Returns false if there was nothing left to do. Any thread may call this.
  func advanceDeferredWork() throws -> Bool
}
