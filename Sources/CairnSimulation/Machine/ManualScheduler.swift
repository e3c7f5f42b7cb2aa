import Cairn

/// Runs work on the thread that calls `runOne` or `drain`, during the call: for tests and simulations.
package final class ManualScheduler: Scheduler {
  private let state = Lock<(waiting: [@Sendable () -> Void], isEnding: Bool)>(([], false))

  package init() {}

  package func schedule(_ work: @escaping @Sendable () -> Void) {
    state.withLock { if !$0.isEnding { $0.waiting.append(work) } }
  }

  /// Runs the oldest piece of work; false if there is none.
  @discardableResult
  package func runOne() -> Bool {
    guard let work = state.withLock({ $0.waiting.isEmpty ? nil : $0.waiting.removeFirst() }) else { return false }
    work()
    return true
  }

  package func drain() {
    while runOne() {}
  }

  package func shutDown() {
    state.withLock { $0.isEnding = true }
    drain()
  }
}
