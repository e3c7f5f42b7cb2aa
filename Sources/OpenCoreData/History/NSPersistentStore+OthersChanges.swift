import Foundation

/// What a store learns of saves that were made elsewhere, by other processes or other coordinators.
extension NSPersistentStore {
  /// Has contexts that merge automatically merge saves that were made elsewhere, and posts a notification if the store
  /// was added with the option for it. May be called on any thread.
  package func tellOfChanges(
    inserted: [NSManagedObjectID], updated: [NSManagedObjectID], deleted: [NSManagedObjectID]
  ) {
    guard let coordinator = persistentStoreCoordinator else { return }
    let changes = SavedIDs(inserted: inserted, updated: updated, deleted: deleted)
    coordinator.rowsMayBeStale(inserted + updated + deleted)
    for context in coordinator.contexts where context.automaticallyMergesChangesFromParent {
      context.mergeLater(changes)
    }
    postRemoteChange()
  }

  /// The same, if it is not known which objects were changed: contexts that merge automatically read all objects again.
  package func tellOfUnknownChanges() {
    guard let coordinator = persistentStoreCoordinator else { return }
    for context in coordinator.contexts where context.automaticallyMergesChangesFromParent {
      context.perform {
        coordinator.rowsMayBeStale(context.registeredObjects.map(\.objectID))
        context.refreshAllObjects()
      }
    }
    postRemoteChange()
  }
}
