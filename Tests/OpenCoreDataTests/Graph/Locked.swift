import Foundation

/// A value that several threads use, one at a time. Unlike `Mutex`, it is a lock that the thread sanitizer knows.
final class Locked<Value>: @unchecked Sendable {
  /// Guards `value`.
  private let lock = NSLock()
  private var value: Value

  init(_ value: Value) { self.value = value }

  func withLock<Result>(_ body: (inout Value) throws -> Result) rethrows -> Result {
    try lock.withLock { try body(&value) }
  }
}
