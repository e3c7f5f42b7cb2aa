import Synchronization

/// The greatest of the numbers that threads have reported.
final class Maximum: Sendable {
  private let number = Mutex(0)

  var value: Int { number.withLock { $0 } }

  func report(_ number: Int) { self.number.withLock { $0 = max($0, number) } }
}
