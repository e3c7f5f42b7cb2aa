import Synchronization

#if canImport(Glibc)
  import Glibc
#elseif canImport(Musl)
  import Musl
#elseif canImport(Darwin)
  import Darwin
#endif

/// Control-C during long output: whole lines go out, then the process ends as if nobody had caught the signal.
enum Interruption {
  private static let ignored = 1
  private static let requested = Atomic<Bool>(false)

  static var isRequested: Bool { requested.load(ordering: .relaxed) }

  /// Unless whoever started the process had it ignore the signal.
  static func watch() {
    requested.store(false, ordering: .relaxed)
    guard signal(SIGINT, SIG_DFL).map({ unsafe unsafeBitCast($0, to: Int.self) }) != Self.ignored else {
      signal(SIGINT, SIG_IGN)
      return
    }
    var action = sigaction()
    // Without SA_RESTART, so that a write that waits for a slow reader ends too.
    #if canImport(Darwin)
      unsafe action.__sigaction_u.__sa_handler = { _ in Interruption.requested.store(true, ordering: .relaxed) }
    #elseif canImport(Glibc)
      unsafe action.__sigaction_handler.sa_handler = { _ in Interruption.requested.store(true, ordering: .relaxed) }
    #else
      unsafe action.__sa_handler.sa_handler = { _ in Interruption.requested.store(true, ordering: .relaxed) }
    #endif
    unsafe sigaction(SIGINT, &action, nil)
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
