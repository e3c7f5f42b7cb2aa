import Synchronization

/// The failure that has ended all writing, if there has been one.
final class LogFailure: Sendable {
  private let telemetry: Telemetry
  private let failure = Lock<StoreError?>(nil)
  private let hasFailed = Atomic<Bool>(false)
  /// Called after the first failure.
  let whenPoisoned = Lock<(@Sendable () -> Void)?>(nil)

  init(_ telemetry: Telemetry) { self.telemetry = telemetry }

  /// Whether a failure has ended writing.
  @inline(__always)
  var isThere: Bool { hasFailed.load(ordering: .acquiring) }

  /// Handles a failed write or sync: the first ends all writing. Nothing is retried, because the kernel reports a lost
  /// page once.
  func poison(_ error: FileError) -> StoreError {
    let cause = StoreError(error)
    defer { whenPoisoned.withLock { $0 }?() }
    return failure.withLock { failure in
      if let failure { return failure }
      let sticky = StoreError(
        .poisoned, "\(cause.message); the store must be reopened before it can be written again",
        systemError: cause.systemError)
      failure = sticky
      hasFailed.store(true, ordering: .releasing)
      telemetry.post(.poisoned(sticky.message))
      return sticky
    }
  }

  @inline(__always)
  func check() throws(StoreError) {
    guard isThere else { return }
    if let failure = failure.withLock({ $0 }) { throw failure }
  }
}
