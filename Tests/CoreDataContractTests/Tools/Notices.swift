import CoreData

/// The notifications of one name that a context or a coordinator has posted since this object was made.
final class Notices {
  /// Unchecked, because notifications are posted one at a time, on the thread that a test waits for.
  private final class List: @unchecked Sendable {
    var notifications: [Notification] = []
  }

  private let list: List
  private let token: any NSObjectProtocol

  init(_ name: Notification.Name, of object: AnyObject) {
    let list = List()
    self.list = list
    token = NotificationCenter.default.addObserver(forName: name, object: object, queue: nil) { notification in
      list.notifications.append(notification)
    }
  }

  deinit { NotificationCenter.default.removeObserver(token) }

  var count: Int { list.notifications.count }
  var last: Notification? { list.notifications.last }

  /// The objects under a key of the last notification.
  func objects(_ key: NSManagedObjectContext.NotificationKey) -> Set<NSManagedObject> {
    last?.userInfo?[key.rawValue] as? Set<NSManagedObject> ?? []
  }

  /// The identifiers under a key of the last notification.
  func identifiers(_ key: NSManagedObjectContext.NotificationKey) -> Set<NSManagedObjectID> {
    last?.userInfo?[key.rawValue] as? Set<NSManagedObjectID> ?? []
  }
}
