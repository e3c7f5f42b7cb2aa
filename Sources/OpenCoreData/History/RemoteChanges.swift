import Foundation

/// Posts notifications about changes of stores to the coordinators that ask for them.
enum RemoteChanges {
  private struct Observer {
    weak let coordinator: NSPersistentStoreCoordinator?
    weak let store: NSPersistentStore?
    let identifier: String
    let url: URL

    /// Whether the store is the one with the identifier at a location, however that is spelled.
    func observes(_ identifier: String, at url: URL?) -> Bool {
      self.identifier == identifier && self.url.standardizedFileURL.path == url?.standardizedFileURL.path
    }
  }

  private static let observers = Locked<[Observer]>([])
  /// Notifications are posted here, one after another.
  private static let queue = DispatchQueue(label: "Notifications about changes of stores")

  /// Whether a store asks for notifications.
  private static func areWanted(_ store: NSPersistentStore) -> Bool {
    (store.options?[NSPersistentStoreRemoteChangeNotificationPostOptionKey] as? NSNumber)?.boolValue == true
  }

  /// Begins to post notifications for a store that asks for them.
  static func observe(_ store: NSPersistentStore, of coordinator: NSPersistentStoreCoordinator) {
    guard areWanted(store), let url = store.url else { return }
    let observer = Observer(coordinator: coordinator, store: store, identifier: store.identifier, url: url)
    observers.withLock { observers in
      observers = observers.filter { $0.store != nil } + [observer]
    }
  }

  /// Ends the notifications for a store.
  static func end(_ store: NSPersistentStore) {
    observers.withLock { $0 = $0.filter { $0.store != nil && $0.store !== store } }
  }

  /// Posts a notification, later and on a thread of its own, for each store of the process with the identifier and the
  /// location.
  private static func post(for identifier: String, at url: URL?, _ position: NSPersistentHistoryToken.Position?) {
    guard observers.withLock({ !$0.isEmpty }) else { return }
    queue.async {
      for observer in observers.withLock({ $0 }) where observer.observes(identifier, at: url) {
        guard let coordinator = observer.coordinator, observer.store != nil else { continue }
        var userInfo: [AnyHashable: Any] = [NSStoreUUIDKey: identifier, NSPersistentStoreURLKey: observer.url]
        if let position { userInfo[NSPersistentHistoryTokenKey] = NSPersistentHistoryToken([identifier: position]) }
        NotificationCenter.default.post(name: .NSPersistentStoreRemoteChange, object: coordinator, userInfo: userInfo)
      }
    }
  }

  /// Posts notifications about a save, or a batch request, of a store.
  static func post(for store: NSPersistentStore) {
    post(for: store.identifier, at: store.url, (store as? any HistoryStore)?.lastTransaction)
  }
}
