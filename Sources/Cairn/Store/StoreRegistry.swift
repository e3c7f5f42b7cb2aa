import Synchronization

/// The stores that this process has open for writing, by the directory they lie in: opening one again gives the same
/// store.
enum StoreRegistry {
  private struct Entry: Sendable {
    weak let store: Store?
  }

  private static let open = Lock<[FileIdentity: Entry]>([:])

  /// The store that is open at this directory, or the one that `make` opens.
  static func store(
    at identity: FileIdentity, _ make: () throws(StoreError) -> Store
  ) throws(StoreError) -> Store {
    try open.withLock { (open) throws(StoreError) -> Store in
      if let store = open[identity]?.store, !store.isClosed { return store }
      let store = try make()
      open[identity] = Entry(store: store)
      return store
    }
  }

  static func remove(_ identity: FileIdentity, _ store: Store) {
    open.withLock { open in
      if let entry = open[identity], entry.store == nil || entry.store === store { open[identity] = nil }
    }
  }
}
