public import CoreData

/// Something that happened between a store and its service.
public enum RemoteEvent: Sendable {
  /// A list is being read.
  case refreshBegan(entityName: String, list: String)
  /// A list has been read as far as it was needed.
  case refreshEnded(entityName: String, list: String)
  /// A list could not be read. What the store had of it has not changed, except for pages that came before.
  case refreshFailed(entityName: String, list: String, any Error)
  /// Objects have been loaded.
  case loaded([NSManagedObjectID])
  /// Objects could not be loaded.
  case loadingFailed([NSManagedObjectID], any Error)
  /// The service has accepted a change of an object.
  case sent(NSManagedObjectID)
  /// The service has not got changes, or has not answered; they are sent again later if that is safe. No objects are
  /// named if the store itself could not be read or written.
  case sendingFailed([NSManagedObjectID], any Error)
  /// An object was changed here and at the service. The conflict has been resolved as the store's option says.
  case conflict(NSManagedObjectID)
  /// The service has refused a change for good, for this reason. It is kept aside.
  case refused(NSManagedObjectID, String)
  /// A change was sent, the answer was lost, and it may not be repeated. It is kept aside.
  case unknown(NSManagedObjectID)
}

/// Passes events on to everybody who listens.
final class EventSource: @unchecked Sendable {
  private let lock = NSLock()
  private var listeners: [Int: AsyncStream<RemoteEvent>.Continuation] = [:]
  private var next = 0

  /// Each listener gets at most the last 1,000 events that it has not taken.
  func stream() -> AsyncStream<RemoteEvent> {
    AsyncStream(bufferingPolicy: .bufferingNewest(1000)) { continuation in
      let number = lock.withLock {
        next += 1
        listeners[next] = continuation
        return next
      }
      continuation.onTermination = { [weak self] _ in
        guard let self else { return }
        lock.withLock { listeners[number] = nil }
      }
    }
  }

  func post(_ event: RemoteEvent) {
    for listener in lock.withLock({ Array(listeners.values) }) { listener.yield(event) }
  }

  func finish() {
    let all = lock.withLock {
      defer { listeners = [:] }
      return Array(listeners.values)
    }
    for listener in all { listener.finish() }
  }
}
