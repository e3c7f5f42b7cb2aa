import OpenCoreData

/// Keeps the notifications of a context's saves, until they are taken out.
final class Mailbox: @unchecked Sendable {
  /// Guards `kept`.
  private let lock = NSLock()
  private var kept: [Notification] = []
  private var observer: (any NSObjectProtocol)?

  init(_ context: NSManagedObjectContext) {
    observer = NotificationCenter.default.addObserver(
      forName: NSManagedObjectContext.didSaveObjectsNotification, object: context, queue: nil
    ) { [weak self] notification in
      guard let self else { return }
      lock.withLock { kept.append(notification) }
    }
  }

  deinit { if let observer { NotificationCenter.default.removeObserver(observer) } }

  var all: [Notification] { lock.withLock { kept } }

  var count: Int { all.count }

  func empty() -> [Notification] {
    lock.withLock {
      defer { kept = [] }
      return kept
    }
  }
}
