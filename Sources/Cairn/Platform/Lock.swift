import CCairnPlatform

#if canImport(Glibc)
  import Glibc
#elseif canImport(Musl)
  import Musl
#elseif canImport(Darwin)
  import Darwin
#endif

/// State protected by a mutex of the operating system, which ThreadSanitizer, unlike the standard library's mutex,
/// understands on every platform.
@safe package final class Lock<State: ~Copyable>: @unchecked Sendable {
  private let mutex = UnsafeMutablePointer<pthread_mutex_t>.allocate(capacity: 1)
  private let state = UnsafeMutablePointer<State>.allocate(capacity: 1)

  package init(_ initial: consuming sending State) {
    unsafe pthread_mutex_init(mutex, nil)
    unsafe state.initialize(to: initial)
  }

  deinit {
    unsafe state.deinitialize(count: 1)
    unsafe state.deallocate()
    unsafe pthread_mutex_destroy(mutex)
    unsafe mutex.deallocate()
  }

  @inline(__always)
  package func withLock<R, E>(_ body: (inout State) throws(E) -> R) throws(E) -> R {
    unsafe pthread_mutex_lock(mutex)
    defer { unsafe pthread_mutex_unlock(mutex) }
    return try unsafe body(&state.pointee)
  }

  /// Like `withLock`, for a lock that is held for microseconds: tries for about as long before it lets the thread
  /// sleep, since a sleeping thread takes tens of microseconds to wake. If another thread takes the lock again at once
  /// each time, a thread that slept would come too late again and again; more attempts outlast the work that the other
  /// thread does under the lock.
  @inline(__always)
  package func withLockSoon<R, E>(
    attempts: Int = 128, _ body: (inout State) throws(E) -> R
  ) throws(E) -> R {
    var attempts = attempts
    while unsafe pthread_mutex_trylock(mutex) != 0 {
      attempts -= 1
      if attempts == 0 {
        unsafe pthread_mutex_lock(mutex)
        break
      }
      cairn_pause()
    }
    defer { unsafe pthread_mutex_unlock(mutex) }
    return try unsafe body(&state.pointee)
  }

  /// Returns nil if another thread holds the lock.
  @inline(__always)
  package func withLockIfAvailable<R, E>(_ body: (inout State) throws(E) -> R) throws(E) -> R? {
    guard unsafe pthread_mutex_trylock(mutex) == 0 else { return nil }
    defer { unsafe pthread_mutex_unlock(mutex) }
    return try unsafe body(&state.pointee)
  }
}
