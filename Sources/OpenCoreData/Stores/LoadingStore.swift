import Synchronization

/// A store whose objects may have to be loaded from elsewhere before they can be read.
///
/// A coordinator calls these methods before it takes its store lock to read, so that they may wait while others use the
/// store.
package protocol LoadingStore: NSIncrementalStore {
  /// Called before a fetch.
  func prepare(_ request: NSFetchRequest<NSManagedObject>, _ context: NSManagedObjectContext) throws

  /// Called before rows are read.
  func prepareValues(of objectIDs: [NSManagedObjectID], _ context: NSManagedObjectContext) throws

  /// Called before a relationship is read.
  func prepare(
    _ relationship: NSRelationshipDescription, of objectID: NSManagedObjectID, _ context: NSManagedObjectContext
  ) throws

  /// Whether an object has to be loaded before its values can be read.
  func needsLoading(_ objectID: NSManagedObjectID) -> Bool

  /// Called for an object that a caller demands whole, or an error. Returns whether it has been loaded only now.
  func requireWhole(_ objectID: NSManagedObjectID, _ context: NSManagedObjectContext) throws -> Bool
}

/// A caller that holds the store lock, as a save does that compares versions, reads what the stores have: whatever
/// would be loaded for it needs the lock.
extension NSPersistentStoreCoordinator {
  private var mayLoad: Bool { hasLoadingStores.load(ordering: .relaxed) && !ownsStoreLock }

  func prepare(_ request: NSFetchRequest<NSManagedObject>, _ context: NSManagedObjectContext) throws {
    guard mayLoad else { return }
    for case let store as any LoadingStore in try affectedStores(of: request) { try store.prepare(request, context) }
  }

  func prepareValues(of objectIDs: some Collection<NSManagedObjectID>, _ context: NSManagedObjectContext) throws {
    guard mayLoad else { return }
    for case let store as any LoadingStore in stores {
      try store.prepareValues(of: objectIDs.filter { presentStore(of: $0) === store }, context)
    }
  }

  func prepare(
    _ relationship: NSRelationshipDescription, of objectID: NSManagedObjectID, _ context: NSManagedObjectContext
  ) throws {
    guard mayLoad, let store = presentStore(of: objectID) as? any LoadingStore else { return }
    try store.prepare(relationship, of: objectID, context)
  }

  func needsLoading(_ objectID: NSManagedObjectID) -> Bool {
    guard hasLoadingStores.load(ordering: .relaxed), let store = presentStore(of: objectID) as? any LoadingStore else {
      return false
    }
    return store.needsLoading(objectID)
  }

  func requireWhole(_ objectID: NSManagedObjectID, _ context: NSManagedObjectContext) throws -> Bool {
    guard mayLoad, let store = presentStore(of: objectID) as? any LoadingStore else { return false }
    return try store.requireWhole(objectID, context)
  }
}
