import CCairnPlatform

#if canImport(Glibc)
  import Glibc
#elseif canImport(Musl)
  import Musl
#elseif canImport(Darwin)
  import Darwin
#endif

/// State behind a mutex of the operating system, which, other than the standard library's, ThreadSanitizer understands
/// on every platform.
@safe package final class Lock<State>: @unchecked Sendable {
  private let mutex = UnsafeMutablePointer<pthread_mutex_t>.allocate(capacity: 1)
  private let state = UnsafeMutablePointer<State>.allocate(capacity: 1)

  package init(_ initial: sending State) {
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

  /// The same for a lock that is held for microseconds: tries for about as long before it lets the thread sleep, which
  /// takes tens of them to wake. One that slept would come too late again and again where another thread takes the lock
  /// anew at once; more attempts outlast whatever that does with it.
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

  /// nil if somebody else holds the lock.
  @inline(__always)
  package func withLockIfAvailable<R, E>(_ body: (inout State) throws(E) -> R) throws(E) -> R? {
    guard unsafe pthread_mutex_trylock(mutex) == 0 else { return nil }
    defer { unsafe pthread_mutex_unlock(mutex) }
    return try unsafe body(&state.pointee)
  }
}
