import Foundation

/// Something that several threads wait for, and several tasks.
final class Answer: @unchecked Sendable {
  private let condition = NSCondition()
  private var result: Result<Void, any Error>?
  private var continuations: [CheckedContinuation<Void, any Error>] = []

  func give(_ result: Result<Void, any Error>) {
    let waiting = condition.withLock {
      guard self.result == nil else { return [CheckedContinuation<Void, any Error>]() }
      self.result = result
      condition.broadcast()
      defer { continuations = [] }
      return continuations
    }
    for continuation in waiting { continuation.resume(with: result) }
  }

  /// Blocks the thread. Returns nil after the time limit.
  func wait(seconds: Double) -> Result<Void, any Error>? {
    let end = Date(timeIntervalSinceNow: seconds)
    return condition.withLock {
      while result == nil { guard condition.wait(until: end) else { break } }
      return result
    }
  }

  /// Suspends the task.
  func value() async throws {
    try await withCheckedThrowingContinuation { continuation in
      let known = condition.withLock {
        if result == nil { continuations.append(continuation) }
        return result
      }
      if let known { continuation.resume(with: known) }
    }
  }
}

/// Throws if the calling thread must not wait for a service.
func checkMayWait(for service: any RemoteService) throws {
  if unsafe withUnsafeCurrentTask(body: { unsafe $0 != nil }) {
    throw RemoteError.make(
      """
      Waiting for the remote service inside a task would block a thread that others need. Load the objects with \
      load(_:) or refresh(_:) first, or read them in a block of the context's perform.
      """)
  }
  if MainQueue.isCurrent, service.needsMainThread {
    throw RemoteError.make(
      "The main thread would wait for a service that can only answer on the main thread. Use another freshness.")
  }
}
