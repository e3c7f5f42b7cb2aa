import OpenCoreData

/// Keeps the notifications of a context's saves until they are taken out.
final class Mailbox: Sendable {
  private let kept = Locked<[Notification]>([])
  private let observer = Locked<(any NSObjectProtocol)?>(nil)

  init(_ context: NSManagedObjectContext) {
    let added = NotificationCenter.default.addObserver(
      forName: NSManagedObjectContext.didSaveObjectsNotification, object: context, queue: nil
    ) { [kept] notification in
      kept.withLock { $0.append(notification) }
    }
    observer.withLock { $0 = added }
  }

  deinit {
    if let added = observer.withLock({ $0 }) { NotificationCenter.default.removeObserver(added) }
  }

  var all: [Notification] { kept.withLock { $0 } }

  var count: Int { all.count }

  func empty() -> [Notification] {
    kept.withLock { kept in
      defer { kept = [] }
      return kept
    }
  }
}
