import Synchronization

/// A flag that any thread may read and set.
final class LockedFlag: Sendable {
  private let flag = Mutex(false)

  func withLock<Result: Sendable>(_ body: (inout Bool) -> Result) -> Result { flag.withLock { body(&$0) } }
}
