import Cairn
import CairnInspection
import Synchronization

#if canImport(Glibc)
  import Glibc
#elseif canImport(Musl)
  import Musl
#elseif canImport(Darwin)
  import Darwin
#endif

/// Opening a store that has no fresh checkpoint takes long: a terminal is told how far it has come, and Control-C ends
/// it.
enum Opening {
  private static let isShown = Atomic<Bool>(false)
  /// What is read at once needs no percentage.
  private static let longRead = 256 << 20

  private static let progress: @Sendable (RecoveryProgress) -> Bool = { progress in
    if progress.totalBytes >= longRead, isatty(STDERR_FILENO) != 0 {
      tell("\rreading the log: \(progress.bytes * 100 / progress.totalBytes) %")
      isShown.store(true, ordering: .relaxed)
    }
    return !Interruption.isRequested
  }

  /// Gives `body` what to hand on to whatever opens the store.
  static func watched<R>(_ body: (@escaping @Sendable (RecoveryProgress) -> Bool) throws -> R) throws -> R {
    Interruption.watch()
    defer {
      if isShown.exchange(false, ordering: .relaxed) { tell("\r\u{1B}[K") }
      Interruption.endIfRequested()
      Interruption.unwatch()
    }
    return try body(progress)
  }

  private static func tell(_ text: String) {
    let bytes = Array(text.utf8)
    _ = unsafe bytes.withUnsafeBytes { unsafe write(STDERR_FILENO, $0.baseAddress, $0.count) }
  }
}
