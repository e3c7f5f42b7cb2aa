/// What an event of a context has done to an object.
public enum ObjectChange: Hashable, Sendable {
  /// The object was changed.
  case updated
  /// The values of the object were read again or discarded: after a merge, a refresh or a rollback.
  case refreshed
  /// The object was deleted, or its context was reset or is gone.
  case deleted
}

extension NSManagedObjectContext {
  /// What happens to an object of the context, for those who show it: a value follows each event in which the object
  /// changes, and the stream ends after `deleted`.
  ///
  /// Ask for it on the queue of the context. The loop over the values may run anywhere, and reads the object on the
  /// queue of the context; a slow reader gets only the newest value. The context keeps the object in memory until the
  /// loop ends.
  public func changes(of object: NSManagedObject) -> AsyncStream<ObjectChange> {
    checkQueue()
    guard object.registry === registry, !object.isDeleted else {
      return AsyncStream { continuation in
        continuation.yield(.deleted)
        continuation.finish()
      }
    }
    let streams = objectStreams ?? ObjectStreams()
    objectStreams = streams
    return streams.make(for: object)
  }
}

/// The streams of those who read the changes of objects of a context. Each may end on any thread.
final class ObjectStreams: Sendable {
  private struct State {
    var made = 0
    var streams: [ObjectIdentifier: Streams] = [:]
  }

  private struct Streams {
    let object: NSManagedObject
    var continuations: [Int: AsyncStream<ObjectChange>.Continuation] = [:]
  }

  private let state = Locked(State())

  func make(for object: NSManagedObject) -> AsyncStream<ObjectChange> {
    let (stream, continuation) = AsyncStream.makeStream(of: ObjectChange.self, bufferingPolicy: .bufferingNewest(1))
    let key = ObjectIdentifier(object)
    let number = state.withLock { state in
      state.made += 1
      state.streams[key, default: Streams(object: object)].continuations[state.made] = continuation
      return state.made
    }
    continuation.onTermination = { [weak self] _ in self?.end(number, of: key) }
    return stream
  }

  private func end(_ number: Int, of key: ObjectIdentifier) {
    // Neither the continuation nor the object ends under the lock: each may call back.
    let ended = state.withLock { state -> (AsyncStream<ObjectChange>.Continuation?, Streams?) in
      let continuation = state.streams[key]?.continuations.removeValue(forKey: number)
      let isLast = state.streams[key]?.continuations.isEmpty == true
      return (continuation, isLast ? state.streams.removeValue(forKey: key) : nil)
    }
    withExtendedLifetime(ended) {}
  }

  /// Tells the readers of the objects of an event.
  func send(_ event: PendingEvent) {
    let observed = state.withLock { $0.streams.values.map(\.object) }
    guard !observed.isEmpty else { return }
    let (changed, deleted, refreshed) = (ObjectList(event.changed), event.deleted, event.refreshed)
    for object in observed {
      if deleted.contains(object) || object.managedObjectContext == nil {
        finish(ObjectIdentifier(object))
      } else if changed.contains(object) {
        yield(.updated, ObjectIdentifier(object))
      } else if refreshed.contains(object) {
        yield(.refreshed, ObjectIdentifier(object))
      }
    }
  }

  private func yield(_ change: ObjectChange, _ key: ObjectIdentifier) {
    for continuation in state.withLock({ $0.streams[key]?.continuations.values.map(\.self) ?? [] }) {
      continuation.yield(change)
    }
  }

  private func finish(_ key: ObjectIdentifier) {
    guard let ended = state.withLock({ $0.streams.removeValue(forKey: key) }) else { return }
    for continuation in ended.continuations.values {
      continuation.yield(.deleted)
      continuation.finish()
    }
  }

  /// Ends all streams: the context is reset, or gone.
  func finish() {
    for key in state.withLock({ Array($0.streams.keys) }) { finish(key) }
  }
}
