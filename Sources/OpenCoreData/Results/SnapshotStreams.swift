/// The streams of those who read the snapshots of a results controller. Each may end on any thread.
final class SnapshotStreams: Sendable {
  typealias Snapshot = NSDiffableDataSourceSnapshotReference

  private struct State {
    var made = 0
    var continuations: [Int: AsyncStream<Snapshot>.Continuation] = [:]
  }

  private let state = Locked(State())

  var isEmpty: Bool { state.withLock { $0.continuations.isEmpty } }

  /// A stream that keeps only the newest snapshot for a slow reader.
  func make(startingWith first: Snapshot?) -> AsyncStream<Snapshot> {
    let (stream, continuation) = AsyncStream.makeStream(of: Snapshot.self, bufferingPolicy: .bufferingNewest(1))
    let number = state.withLock { state in
      state.made += 1
      state.continuations[state.made] = continuation
      return state.made
    }
    continuation.onTermination = { [weak self] _ in
      // Not removed under the lock: the end of a continuation calls this.
      _ = self?.state.withLock { $0.continuations.removeValue(forKey: number) }
    }
    if let first { continuation.yield(first) }
    return stream
  }

  /// Sends a snapshot, which is made only if somebody reads it.
  func send(_ snapshot: () -> Snapshot) {
    let continuations = state.withLock { Array($0.continuations.values) }
    guard !continuations.isEmpty else { return }
    let snapshot = snapshot()
    for continuation in continuations { continuation.yield(snapshot) }
  }

  func finish() {
    for continuation in state.withLock({ Array($0.continuations.values) }) { continuation.finish() }
  }
}
