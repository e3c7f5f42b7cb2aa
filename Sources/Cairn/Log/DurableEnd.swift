import Synchronization

/// How far the log is durable.
final class DurableEnd: Sendable {
  private let newest: Atomic<CommitSequence>
  private let place: Atomic<UInt64>
  let waiters = DurableWaiters()

  init(_ recovered: Watermark) {
    newest = Atomic(recovered.sequence)
    place = Atomic(recovered.place.packed)
  }

  /// The newest commit that is durable.
  var sequence: CommitSequence { newest.load(ordering: .acquiring) }

  var watermark: Watermark {
    // Each is a lower bound by itself; they need not come from the same sync.
    Watermark(sequence: sequence, place: Place(packed: place.load(ordering: .acquiring)))
  }

  /// Returns when a later commit is durable, when the task is cancelled, and when none will be.
  func wait(beyond sequence: CommitSequence) async {
    await waiters.wait(beyond: sequence) { newest.load(ordering: .sequentiallyConsistent) }
  }

  func contains(_ sequence: CommitSequence, _ place: Place?) -> Bool {
    self.sequence >= sequence && place.map { self.place.load(ordering: .acquiring) >= $0.packed } ?? true
  }

  /// Moves the end forward; leaves its place as it is for nil.
  func move(to sequence: CommitSequence, _ place: Place?) {
    if let place { self.place.store(place.packed, ordering: .releasing) }
    newest.store(sequence, ordering: .sequentiallyConsistent)
    waiters.wake(upTo: sequence)
  }
}
