import Synchronization

/// Slows writers down while they make the log longer than compaction can make it shorter: each waits a little behind its
/// commit for what has been written, evenly, so that none has to wait long.
final class WritePace: Sendable {
  private let log: Log
  private let segmentSize: Int
  /// `Log.appendedBytes` from which on writers wait, the longer the more has been written since.
  private let start = Atomic<Int>(.max)
  /// `Log.appendedBytes` up to which somebody has waited.
  private let settled = Atomic<Int>(0)

  /// Nanoseconds for each KiB that is written a segment behind the start; twice as many are the most.
  private static let delay = 1200 << 10
  /// Nanoseconds at a time, so that a change of the start is heeded soon.
  private static let longestPause = 1_000_000

  init(log: Log, segmentSize: Int) {
    self.log = log
    self.segmentSize = segmentSize
  }

  /// Writers wait from `slack` bytes behind `appended`, a value of `Log.appendedBytes`, on; never for nil.
  func set(slack: Int?, behind appended: Int) {
    let present = log.appendedBytes.load(ordering: .relaxed)
    if start.load(ordering: .relaxed) >= present { settled.store(present, ordering: .relaxed) }
    start.store(slack.map { appended + $0 } ?? .max, ordering: .relaxed)
  }

  /// After a commit, without any lock.
  @inline(__always)
  func wait() {
    guard isDue else { return }
    var bytes = settle()
    while let pause = nextPause(&bytes) { log.environment.pause(pause) }
  }

  /// The same without blocking the thread.
  func wait() async {
    guard isDue else { return }
    var bytes = settle()
    while let pause = nextPause(&bytes) {
      // Whoever is cancelled need not wait.
      guard (try? await Task.sleep(for: .nanoseconds(pause))) != nil else { return }
    }
  }

  @inline(__always)
  private var isDue: Bool { start.load(ordering: .relaxed) < log.appendedBytes.load(ordering: .relaxed) }

  @inline(never)
  private func settle() -> Int {
    let appended = log.appendedBytes.load(ordering: .relaxed)
    return appended - max(settled.exchange(appended, ordering: .relaxed), start.load(ordering: .relaxed))
  }

  /// Nanoseconds for some of the bytes, which are settled with that; nil if nothing is left.
  private func nextPause(_ bytes: inout Int) -> Int? {
    let excess = log.appendedBytes.load(ordering: .relaxed) - start.load(ordering: .relaxed)
    guard bytes > 0, excess > 0 else { return nil }
    let delay = max(1, Int(Double(min(excess, 2 * segmentSize)) / Double(segmentSize) * Double(Self.delay)))
    let part = min(bytes, max(1, (Self.longestPause << 10) / delay))
    bytes -= part
    return max(1, (part * delay) >> 10)
  }
}
