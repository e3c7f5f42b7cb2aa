/// The part that the identifiers of one store's objects share. It never changes, except that the store may be gone.
final class StoreIdentity {
  /// The store's identifier.
  let uuid: String
  weak let store: NSPersistentStore?

  init(_ uuid: String, of store: NSPersistentStore) {
    self.uuid = uuid
    self.store = store
  }
}
