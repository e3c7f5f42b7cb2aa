import Foundation
import Synchronization

/// Reads every few milliseconds how much private memory the process has, in MiB: all but the pages of files.
final class MemoryWatch: Sendable {
  let first: Int
  private let most = Mutex(0)
  private let isOver = Atomic(false)

  init() {
    first = Self.now
    Thread.detachNewThread { [self] in
      while !isOver.load(ordering: .relaxed) {
        most.withLock { $0 = max($0, Self.now) }
        Thread.sleep(forTimeInterval: 0.01)
      }
    }
  }

  /// The most until now. The watch ends.
  func highest() -> Int {
    isOver.store(true, ordering: .relaxed)
    return most.withLock { $0 }
  }

  private static var now: Int {
    let status = (try? String(contentsOfFile: "/proc/self/status", encoding: .utf8)) ?? ""
    let line = status.split(separator: "\n").first { $0.hasPrefix("RssAnon:") }
    return line?.split(separator: " ").dropFirst().first.flatMap { Int($0) }.map { $0 / 1024 } ?? 0
  }
}
