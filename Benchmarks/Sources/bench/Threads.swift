import Dispatch
import Foundation
import Synchronization

/// Runs `body` on `count` threads that are released together; returns their results, in order, and the nanoseconds from
/// the start to the end of the last thread. If `count` is 1, `body` runs on the current thread.
func onThreads<R: Sendable>(
  _ count: Int, _ body: @escaping @Sendable (Int) throws -> R
) throws -> (results: [R], nanoseconds: UInt64) {
  guard count > 1 else {
    let start = now()
    let result = try body(0)
    return ([result], now() - start)
  }
  let outcomes = Outcomes<R>(count)
  let ready = DispatchSemaphore(value: 0)
  let gate = DispatchSemaphore(value: 0)
  let done = DispatchSemaphore(value: 0)
  for index in 0..<count {
    Thread {
      ready.signal()
      gate.wait()
      outcomes.set(Result { try body(index) }, at: index)
      done.signal()
    }.start()
  }
  for _ in 0..<count { ready.wait() }
  let start = now()
  for _ in 0..<count { gate.signal() }
  for _ in 0..<count { done.wait() }
  let nanoseconds = now() - start
  return (try outcomes.all(), nanoseconds)
}

private final class Outcomes<R: Sendable>: Sendable {
  private let slots: Mutex<[Result<R, any Error>?]>

  init(_ count: Int) {
    slots = Mutex(Array(repeating: nil, count: count))
  }

  func set(_ outcome: Result<R, any Error>, at index: Int) {
    slots.withLock { $0[index] = outcome }
  }

  func all() throws -> [R] {
    try slots.withLock { try $0.compactMap { try $0?.get() } }
  }
}
