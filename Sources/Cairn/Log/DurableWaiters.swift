import Synchronization

/// Tasks that wait until the log is durable beyond a commit. Costs a look at a word while nobody waits.
final class DurableWaiters: Sendable {
  private struct State {
    var waiting: [Int: (sequence: CommitSequence, continuation: CheckedContinuation<Void, Never>)] = [:]
    /// Waiters that were cancelled before they began to wait.
    var cancelled: Set<Int> = []
    var next = 0
    var isOver = false
  }

  private let state = Lock(State())
  private let count = Atomic<Int>(0)

  /// Whether nothing will become durable any more.
  var isOver: Bool { state.withLock { $0.isOver } }

  /// Whether nobody waits.
  var isEmpty: Bool { state.withLock { $0.waiting.isEmpty && $0.cancelled.isEmpty } }

  /// Returns when `durable` returns a later commit than `sequence`, when the task is cancelled, and when nothing will
  /// become durable any more.
  func wait(beyond sequence: CommitSequence, durable: () -> CommitSequence) async {
    // Before the look at the durable end: whoever moves it afterwards finds a waiter.
    count.add(1, ordering: .sequentiallyConsistent)
    defer { count.subtract(1, ordering: .sequentiallyConsistent) }
    let number = state.withLock { state in
      state.next += 1
      return state.next
    }
    await withTaskCancellationHandler {
      await withCheckedContinuation { continuation in
        let waits = state.withLock { state in
          guard !state.isOver, state.cancelled.remove(number) == nil, durable() <= sequence else { return false }
          state.waiting[number] = (sequence, continuation)
          return true
        }
        if !waits { continuation.resume() }
      }
    } onCancel: {
      let continuation = state.withLock { state in
        let waiter = state.waiting.removeValue(forKey: number)
        if waiter == nil { state.cancelled.insert(number) }
        return waiter?.continuation
      }
      continuation?.resume()
    }
    state.withLock { _ = $0.cancelled.remove(number) }
  }

  /// Wakes those who wait for a commit up to this one.
  func wake(upTo sequence: CommitSequence) {
    guard count.load(ordering: .sequentiallyConsistent) > 0 else { return }
    let woken = state.withLock { state in
      let woken = state.waiting.filter { $0.value.sequence < sequence }
      for number in woken.keys { state.waiting[number] = nil }
      return woken.values.map(\.continuation)
    }
    for continuation in woken { continuation.resume() }
  }

  /// Wakes everybody; from now on nobody waits.
  func finish() {
    let woken = state.withLock { state in
      state.isOver = true
      defer { state.waiting = [:] }
      return state.waiting.values.map(\.continuation)
    }
    for continuation in woken { continuation.resume() }
  }
}
