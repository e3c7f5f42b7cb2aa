import Foundation

/// A value that one thread at a time can use. Unlike that of `Mutex`, its lock is one that ThreadSanitizer understands.
package final class Locked<Value>: @unchecked Sendable {
  private let lock = NSLock()
  /// The lock makes each access exclusive, so the compiler need not have that checked.
  @exclusivity(unchecked) private var value: Value

  package init(_ value: Value) { unsafe self.value = value }

  package func withLock<Result>(_ body: (inout Value) throws -> Result) rethrows -> Result {
    try lock.withLock { unsafe try body(&value) }
  }
}
