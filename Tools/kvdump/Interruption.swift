import Synchronization

#if canImport(Glibc)
  import Glibc
#elseif canImport(Musl)
  import Musl
#elseif canImport(Darwin)
  import Darwin
#endif

/// Control-C during long output ends the process between two pieces of it, as if nobody had caught the signal. Where it waits
/// for somebody to read, that is waited for a moment, or until Control-C comes again.
enum Interruption {
  private static let ignored = 1
  private static let requested = Atomic<Bool>(false)
  private static let isWriting = Atomic<Bool>(false)

  static var isRequested: Bool { requested.load(ordering: .sequentiallyConsistent) }

  /// Unless whoever started the process had it ignore the signal.
  static func watch() {
    requested.store(false, ordering: .relaxed)
    guard signal(SIGINT, SIG_DFL).map({ unsafe unsafeBitCast($0, to: Int.self) }) != Self.ignored else {
      signal(SIGINT, SIG_IGN)
      return
    }
    catching(SIGINT) { _ in Interruption.request() }
    catching(SIGALRM) { _ in Interruption.endIfRequested() }
  }

  private static func catching(_ number: Int32, _ handler: @escaping @convention(c) (Int32) -> Void) {
    var action = sigaction()
    #if canImport(Darwin)
      unsafe action.__sigaction_u.__sa_handler = handler
    #elseif canImport(Glibc)
      unsafe action.__sigaction_handler.sa_handler = handler
    #else
      unsafe action.__sa_handler.sa_handler = handler
    #endif
    unsafe sigaction(number, &action, nil)
  }

  /// Calls a function that writes, and that Control-C ends however long it waits.
  static func duringWrite<R>(_ write: () -> R) -> R {
    isWriting.store(true, ordering: .sequentiallyConsistent)
    defer { isWriting.store(false, ordering: .sequentiallyConsistent) }
    if isRequested { limitWaiting() }
    return write()
  }

  /// The signal's handler. The request is stored before looking whether a write is under way, which `duringWrite` does
  /// the other way round: one of the two sees the other.
  private static func request() {
    if requested.exchange(true, ordering: .sequentiallyConsistent) { endIfRequested() }
    if isWriting.load(ordering: .sequentiallyConsistent) { limitWaiting() }
  }

  private static func limitWaiting() {
    ualarm(250_000, 0)
  }

  /// From now on Control-C ends the process at once again.
  static func unwatch() {
    guard signal(SIGINT, SIG_DFL).map({ unsafe unsafeBitCast($0, to: Int.self) }) == ignored else { return }
    signal(SIGINT, SIG_IGN)
  }

  /// Doesn't return if it was requested.
  static func endIfRequested() {
    guard isRequested else { return }
    signal(SIGINT, SIG_DFL)
    raise(SIGINT)
  }
}
