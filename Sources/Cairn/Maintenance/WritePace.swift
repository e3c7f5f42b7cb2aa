import Synchronization

/// Slows writers down while they make the log longer than compaction can make it shorter: each waits a little behind its
/// commit for what has been written, evenly, so that none has to wait long.
final class WritePace: Sendable {
  private let log: Log
  /// Nanoseconds for each KiB.
  private let delay = Atomic<Int>(0)
  /// `Log.appendedBytes` up to which somebody has waited.
  private let settled = Atomic<Int>(0)

  /// Nanoseconds at a time, so that a change of the delay is heeded soon.
  private static let longestPause = 1_000_000

  init(log: Log) { self.log = log }

  /// Nanoseconds for each KiB that is written from now on; none for 0.
  func set(_ delay: Int) {
    if self.delay.load(ordering: .relaxed) == 0 {
      settled.store(log.appendedBytes.load(ordering: .relaxed), ordering: .relaxed)
    }
    self.delay.store(delay, ordering: .relaxed)
  }

  /// After a commit, without any lock.
  @inline(__always)
  func wait() {
    guard delay.load(ordering: .relaxed) > 0 else { return }
    var bytes = settle()
    while let pause = nextPause(&bytes) { log.environment.pause(pause) }
  }

  /// The same without blocking the thread.
  func wait() async {
    guard delay.load(ordering: .relaxed) > 0 else { return }
    var bytes = settle()
    while let pause = nextPause(&bytes) {
      // Whoever is cancelled need not wait.
      guard (try? await Task.sleep(for: .nanoseconds(pause))) != nil else { return }
    }
  }

  @inline(never)
  private func settle() -> Int {
    let appended = log.appendedBytes.load(ordering: .relaxed)
    return appended - settled.exchange(appended, ordering: .relaxed)
  }

  /// Nanoseconds for some of the bytes, which are settled with that; nil if nothing is left.
  private func nextPause(_ bytes: inout Int) -> Int? {
    let delay = delay.load(ordering: .relaxed)
    guard bytes > 0, delay > 0 else { return nil }
    let part = min(bytes, max(1, (Self.longestPause << 10) / delay))
    bytes -= part
    return max(1, (part * delay) >> 10)
  }
}
