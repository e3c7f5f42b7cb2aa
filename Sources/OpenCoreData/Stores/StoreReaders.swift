import Foundation

/// Lets any number of threads read the stores of a coordinator at once, but none while stores are added or removed.
final class StoreReaders: @unchecked Sendable {
  private let condition = NSCondition()
  /// The threads that are reading, each as many times as it has begun to.
  private var readers: [UInt] = []
  /// The thread that changes the stores, or waits until it can; 0 if there is none.
  private var changer: UInt = 0

  /// Runs the block while no other thread changes the stores. May be called within itself and within ``change(_:_:)``.
  func read<R>(_ thread: UInt, _ body: () throws -> R) rethrows -> R {
    condition.lock()
    // A change waits for threads that are reading, so these go on.
    while changer != 0, changer != thread, !readers.contains(thread) { condition.wait() }
    readers.append(thread)
    condition.unlock()
    defer {
      condition.lock()
      if let place = readers.lastIndex(of: thread) { readers.remove(at: place) }
      if changer != 0 { condition.broadcast() }
      condition.unlock()
    }
    return try body()
  }

  /// Runs the block while no other thread reads or changes the stores. May be called within itself; also within
  /// ``read(_:_:)``, as long as no other thread changes the stores: each of the two would wait for the other.
  func change<R>(_ thread: UInt, _ body: () throws -> R) rethrows -> R {
    condition.lock()
    while changer != 0, changer != thread {
      guard !readers.contains(thread) else {
        fatalError("A block that a fetch calls adds or removes a store, while another thread does so.")
      }
      condition.wait()
    }
    let former = changer
    changer = thread
    while readers.contains(where: { $0 != thread }) { condition.wait() }
    condition.unlock()
    defer {
      condition.lock()
      changer = former
      condition.broadcast()
      condition.unlock()
    }
    return try body()
  }
}
