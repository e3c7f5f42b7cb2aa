public import Foundation

extension NSPersistentStoreCoordinator {
  /// The coordinator's store at a URL, if there is one.
  public func persistentStore(for URL: URL) -> NSPersistentStore? {
    stores.first { $0.url?.standardized == URL.standardized }
  }

  /// The location of a store, which must be a store of the coordinator.
  public func url(for store: NSPersistentStore) -> URL {
    guard let url = expectOwn(store).url else { fatalError("The store has no URL.") }
    return url
  }

  /// The metadata of a store of the coordinator, including changes that have not been written yet.
  public func metadata(for store: NSPersistentStore) -> [String: Any] {
    let store = expectOwn(store)
    return withStoreLock { store.metadata ?? [:] }
  }

  /// Replaces the metadata of a store of the coordinator, except for its type and identifier, which stay. The metadata
  /// are written with the next save of a context that uses the store.
  public func setMetadata(_ metadata: [String: Any]?, for store: NSPersistentStore) {
    let store = expectOwn(store)
    withStoreLock {
      let fixed = (store.metadata ?? [:]).filter { [NSStoreTypeKey, NSStoreUUIDKey].contains($0.key) }
      store.metadata = (metadata ?? [:]).merging(fixed) { _, fixed in fixed }
    }
  }

  /// The identifier with a URL; nil if the URL is not that of a permanent identifier, the coordinator lacks the store,
  /// or the model lacks the entity. The URL may have a name that the entity had before a migration. Does not check
  /// whether the object exists.
  public func managedObjectID(forURIRepresentation url: URL) -> NSManagedObjectID? {
    managedObjectID(for: url.absoluteString)
  }

  /// As ``managedObjectID(forURIRepresentation:)``, for the text of the URL.
  public func managedObjectID(for string: String) -> NSManagedObjectID? {
    guard let uri = ObjectURI(string),
      let store = stores.first(where: { $0.identity?.uuid == uri.store }), let identity = store.identity
    else { return nil }
    let entities = managedObjectModel.entitiesByName
    func renamed() -> NSEntityDescription? {
      (store as? any RenamingStore)?.entityName(formerly: uri.entity).flatMap { entities[$0] }
    }
    return (entities[uri.entity] ?? renamed()).map { NSManagedObjectID($0, identity, uri.reference) }
  }

  private func expectOwn(_ store: NSPersistentStore) -> NSIncrementalStore {
    guard let store = stores.first(where: { $0 === store }) else {
      fatalError("The store at \(store.url?.absoluteString ?? "?") is none of the coordinator.")
    }
    return store
  }
}
