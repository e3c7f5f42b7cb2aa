import Foundation

/// Posts notifications about changes of stores to the coordinators that ask for them.
enum RemoteChanges {
  private struct Observer {
    weak let coordinator: NSPersistentStoreCoordinator?
    weak let store: NSPersistentStore?
    let identifier: String
    let url: URL
    /// Watches a store to which another process may save; nil for other stores.
    let watch: StoreWatch?

    /// Whether the store is the one with the identifier at a location, however that is spelled.
    func observes(_ identifier: String, at url: URL?) -> Bool {
      self.identifier == identifier && self.url.standardizedFileURL.path == url?.standardizedFileURL.path
    }
  }

  private static let observers = Locked<[Observer]>([])
  /// Stores are watched and notifications are posted here, one after another.
  static let queue = DispatchQueue(label: "Notifications about changes of stores")

  /// Whether a store asks for notifications.
  private static func areWanted(_ store: NSPersistentStore) -> Bool {
    (store.options?[NSPersistentStoreRemoteChangeNotificationPostOptionKey] as? NSNumber)?.boolValue == true
  }

  /// Begins to post notifications for a store that asks for them.
  static func observe(_ store: NSPersistentStore, of coordinator: NSPersistentStoreCoordinator) {
    guard areWanted(store), let url = store.url else { return }
    let watch = StoreWatch(store, of: coordinator) { store, coordinator in
      let position = coordinator.withStoreLock { try? (store as? any HistoryStore)?.currentPosition() }
      post(store.identifier, url, position ?? nil, to: coordinator)
    }
    let observer = Observer(
      coordinator: coordinator, store: store, identifier: store.identifier, url: url, watch: watch)
    observers.withLock { observers in
      observers = observers.filter { $0.store != nil } + [observer]
    }
  }

  /// Ends the notifications for a store.
  static func end(_ store: NSPersistentStore) {
    observers.withLock { observers in
      for observer in observers where observer.store === store { observer.watch?.stop() }
      observers = observers.filter { $0.store != nil && $0.store !== store }
    }
  }

  /// Posts a notification, later and on a thread of its own, for each store of the process with the identifier and the
  /// location.
  private static func post(for identifier: String, at url: URL?, _ position: NSPersistentHistoryToken.Position?) {
    guard observers.withLock({ !$0.isEmpty }) else { return }
    queue.async {
      for observer in observers.withLock({ $0 }) where observer.observes(identifier, at: url) {
        guard let coordinator = observer.coordinator, observer.store != nil else { continue }
        if let watch = observer.watch {
          watch.look()
        } else {
          post(identifier, observer.url, position, to: coordinator)
        }
      }
    }
  }

  private static func post(
    _ identifier: String, _ url: URL, _ position: NSPersistentHistoryToken.Position?,
    to coordinator: NSPersistentStoreCoordinator
  ) {
    var userInfo: [AnyHashable: Any] = [NSStoreUUIDKey: identifier, NSPersistentStoreURLKey: url]
    if let position { userInfo[NSPersistentHistoryTokenKey] = NSPersistentHistoryToken([identifier: position]) }
    NotificationCenter.default.post(name: .NSPersistentStoreRemoteChange, object: coordinator, userInfo: userInfo)
  }

  /// Posts notifications about a save, or a batch request, of a store.
  static func post(for store: NSPersistentStore) {
    post(for: store.identifier, at: store.url, (store as? any HistoryStore)?.lastTransaction)
  }
}

extension NSPersistentStore {
  /// Posts notifications about what the store itself has saved.
  package func postRemoteChange() { RemoteChanges.post(for: self) }
}
