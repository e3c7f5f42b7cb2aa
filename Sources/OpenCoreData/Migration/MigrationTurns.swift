import Foundation

/// Lets one thread at a time migrate the store at a location. The thread may do so within itself, as stages do.
final class MigrationTurns: @unchecked Sendable {
  static let shared = MigrationTurns()

  private let condition = NSCondition()
  /// The threads that have a turn, with how often they have taken it.
  private var turns: [URL: (thread: Thread, depth: Int)] = [:]

  func withTurn<Result>(at url: URL, _ body: () throws -> Result) rethrows -> Result {
    let (url, thread) = (url.standardized, Thread.current)
    condition.withLock {
      while let turn = turns[url], turn.thread !== thread { condition.wait() }
      turns[url] = (thread, (turns[url]?.depth ?? 0) + 1)
    }
    defer {
      condition.withLock {
        let depth = (turns[url]?.depth ?? 1) - 1
        turns[url] = depth > 0 ? (thread, depth) : nil
        condition.broadcast()
      }
    }
    return try body()
  }
}
