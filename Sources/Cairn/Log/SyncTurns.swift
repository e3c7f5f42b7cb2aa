/// Lets one thread at a time sync, for all that wait.
///
/// The threads that wait for the next sync are a group. Threads that a sync has served tend to commit again at once,
/// but come a little later than the next sync could begin; it would serve only the others, and the threads that wake
/// meanwhile would slow it down. So a group expects as many threads as were served or waiting when the last sync ended,
/// and the last of them to come syncs. A group waits no longer than that sync took: in less time, one sync for all is
/// at least as good as two for halves. A thread that is alone never waits.
final class SyncTurns: Sendable {
  private enum Turn {
    case free
    case taken
    /// The log is closed: its files must not be used any more.
    case ended
  }

  private struct State {
    var turn = Turn.free
    /// The number of the group that gathers.
    var group = 0
    /// Threads that have joined it.
    var joined = 0
    /// Threads that it expects.
    var expected = 0
    /// When it stops waiting for them; nil before it waits.
    var deadline: Int?
    /// Threads that the present sync, or the last one, serves.
    var served = 0
    /// How long a group may wait.
    var patience = 0
    /// Groups that will wait for nobody, because a group waited in vain.
    var hasty = 0

    /// Whether the group is complete or has waited long enough.
    mutating func isReady(_ now: Int) -> Bool {
      guard joined < expected else { return true }
      guard let deadline else {
        deadline = now + patience
        return patience == 0
      }
      guard now >= deadline else { return false }
      hasty = SyncTurns.hastyGroups
      return true
    }

    mutating func begin() {
      turn = .taken
      served = joined
      group += 1
      joined = 0
      deadline = nil
    }

    mutating func finish(_ duration: Int) {
      turn = .free
      patience = min(duration, SyncTurns.longestPatience)
      hasty = max(0, hasty - 1)
      expected = hasty > 0 ? 0 : served + joined
    }
  }

  /// Where threads come too late each time, waiting costs at most a few per cent.
  private static let hastyGroups = 32
  /// A sync may take seconds on a bad day.
  private static let longestPatience = 1_000_000

  private let state = Monitor(State())
  private let time: @Sendable () -> Int

  /// - Parameter time: nanoseconds of a clock that never goes back.
  init(time: @escaping @Sendable () -> Int = monotonicTime) { self.time = time }

  /// Returns when `isDone` is true or, if it is this thread's turn first, after calling `body`. Returns false, without
  /// calling `body`, if syncing has ended.
  func sync<E>(unless isDone: () -> Bool, _ body: () throws(E) -> Void) throws(E) -> Bool {
    switch join(unless: isDone) {
    case .free: return true
    case .ended: return false
    case .taken:
      let start = time()
      defer { state.withLock { $0.finish(time() - start) } }
      try body()
      return true
    }
  }

  /// Waits in a group until the thread has the turn, or does not need it any more, or syncing has ended.
  private func join(unless isDone: () -> Bool) -> Turn {
    var group: Int?
    return state.waitStepwise { state in
      if isDone() {
        // A sync that began before the thread came may have covered its commit.
        if group == state.group { state.joined -= 1 }
        return .end(.free)
      }
      guard state.turn != .ended else { return .end(.ended) }
      if group == nil {
        group = state.group
        state.joined += 1
      }
      guard state.turn == .free else { return .sleep(until: nil) }
      guard state.isReady(time()) else { return .sleep(until: state.deadline) }
      state.begin()
      return .end(.taken)
    }
  }

  /// Calls `body` while no thread syncs; does nothing if syncing has ended.
  func betweenSyncs(_ body: () -> Void) {
    let isOpen = state.wait { (state) -> Bool? in
      guard state.turn == .free else { return state.turn == .ended ? false : nil }
      state.turn = .taken
      return true
    }
    guard isOpen else { return }
    body()
    state.withLock { $0.turn = .free }
  }

  /// Returns when the sync that is in progress, if any, is over.
  func waitForCurrent() {
    state.wait { $0.turn == .taken ? nil : () }
  }

  /// Ends syncing, once the sync in progress is over. It may have published already what is durable and still be
  /// writing the watermark record.
  func end() {
    state.wait { (state) -> Void? in
      if state.turn == .taken { return nil }
      state.turn = .ended
      return ()
    }
  }
}
