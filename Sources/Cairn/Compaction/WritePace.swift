import Synchronization

/// Slows writers down while they make the log longer faster than compaction makes it shorter: after its commit each
/// waits a little for the bytes that have been written. The waiting is spread evenly, so that no writer has to wait
/// long.
final class WritePace: Sendable {
  private let log: Log
  private let segmentSize: Int
  /// The value of `LogCounts.appendedBytes` from which on writers wait, longer the more has been written since.
  private let start = Atomic<Int>(.max)
  /// The value of `LogCounts.appendedBytes` up to which writers have waited.
  private let settled = Atomic<Int>(0)

  /// Nanoseconds for each KiB when the log is one segment size past the start; the delay grows with that distance to
  /// at most twice as much.
  private static let delay = 1200 << 10
  /// The longest pause in nanoseconds, so that a change of the start takes effect soon.
  private static let longestPause = 1_000_000

  init(log: Log, segmentSize: Int) {
    self.log = log
    self.segmentSize = segmentSize
  }

  /// Makes writers wait from `slack` bytes after `appended`, a value of `LogCounts.appendedBytes`; nil for never.
  func set(slack: Int?, after appended: Int) {
    let present = log.counts.appendedBytes.load(ordering: .relaxed)
    if start.load(ordering: .relaxed) >= present { settled.store(present, ordering: .relaxed) }
    start.store(slack.map { appended + $0 } ?? .max, ordering: .relaxed)
  }

  /// Waits as due; called after a commit, without any lock.
  @inline(__always)
  func wait() {
    guard isDue else { return }
    let start = log.telemetry.begin()
    var bytes = settle()
    while let pause = nextPause(&bytes) { log.environment.pause(pause) }
    log.telemetry.endStall(since: start)
  }

  /// Waits like the synchronous method, without blocking the thread.
  func wait() async {
    guard isDue else { return }
    let start = log.telemetry.begin()
    defer { log.telemetry.endStall(since: start) }
    var bytes = settle()
    while let pause = nextPause(&bytes) {
      // A cancelled task need not wait.
      guard (try? await Task.sleep(for: .nanoseconds(pause))) != nil else { return }
    }
  }

  @inline(__always)
  private var isDue: Bool { start.load(ordering: .relaxed) < log.counts.appendedBytes.load(ordering: .relaxed) }

  @inline(never)
  private func settle() -> Int {
    let appended = log.counts.appendedBytes.load(ordering: .relaxed)
    return appended - max(settled.exchange(appended, ordering: .relaxed), start.load(ordering: .relaxed))
  }

  /// Nanoseconds to wait for some of the bytes, which are subtracted from `bytes`; nil if none remain.
  private func nextPause(_ bytes: inout Int) -> Int? {
    let excess = log.counts.appendedBytes.load(ordering: .relaxed) - start.load(ordering: .relaxed)
    guard bytes > 0, excess > 0 else { return nil }
    let delay = max(1, Int(Double(min(excess, 2 * segmentSize)) / Double(segmentSize) * Double(Self.delay)))
    let part = min(bytes, max(1, (Self.longestPause << 10) / delay))
    bytes -= part
    return max(1, (part * delay) >> 10)
  }
}
