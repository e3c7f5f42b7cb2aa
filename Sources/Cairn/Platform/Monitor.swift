#if canImport(Glibc)
  import Glibc
#elseif canImport(Musl)
  import Musl
#elseif canImport(Darwin)
  import Darwin
#endif

/// State protected by a lock, with a way to wait until it has changed.
@safe package final class Monitor<State: Sendable>: @unchecked Sendable {
  private let mutex = UnsafeMutablePointer<pthread_mutex_t>.allocate(capacity: 1)
  private let changed = UnsafeMutablePointer<pthread_cond_t>.allocate(capacity: 1)
  private var state: State

  package init(_ state: State) {
    self.state = state
    unsafe pthread_mutex_init(mutex, nil)
    unsafe makeCondition(at: changed)
  }

  deinit {
    unsafe pthread_cond_destroy(changed)
    unsafe pthread_mutex_destroy(mutex)
    unsafe changed.deallocate()
    unsafe mutex.deallocate()
  }

  /// Calls `body` with the state; waiting threads check again afterwards.
  package func withLock<R, E>(_ body: (inout State) throws(E) -> R) throws(E) -> R {
    unsafe pthread_mutex_lock(mutex)
    defer {
      // In this order, so that a thread that wakes finds the lock free.
      unsafe pthread_mutex_unlock(mutex)
      unsafe pthread_cond_broadcast(changed)
    }
    return try body(&state)
  }

  /// For handlers of `fork`, which hold the lock while the process is copied.
  func lock() { unsafe pthread_mutex_lock(mutex) }

  func unlock() { unsafe pthread_mutex_unlock(mutex) }

  /// Waits until `body` returns something; other waiting threads check again afterwards.
  package func wait<R>(_ body: (inout State) -> R?) -> R {
    defer { unsafe pthread_cond_broadcast(changed) }
    return waitStepwise { state in body(&state).map(Step<R>.end) ?? .sleep(until: nil) }
  }

  /// What a waiting thread does next.
  package enum Step<R> {
    case end(R)
    /// To check again when the state has changed or, at the latest, at a time of `monotonicTime`.
    case sleep(until: Int?)
  }

  /// The same for a thread that may also wait for a time, and whose changes nobody waits for: other threads sleep on.
  package func waitStepwise<R>(_ body: (inout State) -> Step<R>) -> R {
    unsafe pthread_mutex_lock(mutex)
    defer { unsafe pthread_mutex_unlock(mutex) }
    while true {
      switch body(&state) {
      case .end(let result): return result
      case .sleep(until: nil): unsafe pthread_cond_wait(changed, mutex)
      case .sleep(until: let time?): unsafe timedWait(changed, mutex, until: time)
      }
    }
  }
}

private func makeCondition(at condition: UnsafeMutablePointer<pthread_cond_t>) {
  #if canImport(Darwin)
    unsafe pthread_cond_init(condition, nil)
  #else
    var attributes = pthread_condattr_t()
    unsafe pthread_condattr_init(&attributes)
    unsafe pthread_condattr_setclock(&attributes, CLOCK_MONOTONIC)
    unsafe pthread_cond_init(condition, &attributes)
    unsafe pthread_condattr_destroy(&attributes)
  #endif
}

private func timedWait(
  _ condition: UnsafeMutablePointer<pthread_cond_t>, _ mutex: UnsafeMutablePointer<pthread_mutex_t>, until time: Int
) {
  #if canImport(Darwin)
    var left = timespec(nanoseconds: max(0, time - monotonicTime()))
    unsafe pthread_cond_timedwait_relative_np(condition, mutex, &left)
  #else
    var end = timespec(nanoseconds: time)
    unsafe pthread_cond_timedwait(condition, mutex, &end)
  #endif
}
