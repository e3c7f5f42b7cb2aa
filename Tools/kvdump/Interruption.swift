import Synchronization

#if canImport(Glibc)
  import Glibc
#elseif canImport(Musl)
  import Musl
#elseif canImport(Darwin)
  import Darwin
#endif

/// Ends the process on Control-C between two pieces of long output, with the status of an uncaught signal. If a write
/// is waiting for a reader, it may wait another 250 milliseconds, or until the next Control-C.
enum Interruption {
  private static let ignored = 1
  private static let requested = Atomic<Bool>(false)
  private static let isWriting = Atomic<Bool>(false)

  static var isRequested: Bool { requested.load(ordering: .sequentiallyConsistent) }

  /// Begins to catch Control-C, unless the process was started with the signal ignored.
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

  /// Calls a function that writes. Control-C ends the process even if the write waits.
  static func duringWrite<R>(_ write: () -> R) -> R {
    isWriting.store(true, ordering: .sequentiallyConsistent)
    defer { isWriting.store(false, ordering: .sequentiallyConsistent) }
    if isRequested { limitWaiting() }
    return write()
  }

  /// The handler of the signal. It stores the request before it checks whether a write is under way; `duringWrite` does
  /// the two in the opposite order. So at least one of them sees the other.
  private static func request() {
    if requested.exchange(true, ordering: .sequentiallyConsistent) { endIfRequested() }
    if isWriting.load(ordering: .sequentiallyConsistent) { limitWaiting() }
  }

  private static func limitWaiting() {
    ualarm(250_000, 0)
  }

  /// Stops catching Control-C, which then ends the process at once again.
  static func unwatch() {
    guard signal(SIGINT, SIG_DFL).map({ unsafe unsafeBitCast($0, to: Int.self) }) == ignored else { return }
    signal(SIGINT, SIG_IGN)
  }

  /// Ends the process if Control-C was pressed.
  static func endIfRequested() {
    guard isRequested else { return }
    signal(SIGINT, SIG_DFL)
    raise(SIGINT)
  }
}
