import Cairn
import Foundation
import Synchronization

/// Threads of a test; `join` gives back the first error any of them threw.
final class Threads: Sendable {
  private let group = DispatchGroup()
  private let failure = Lock<(any Error)?>(nil)

  func start(_ body: @escaping @Sendable () throws -> Void) {
    group.enter()
    Thread.detachNewThread { [self] in
      do {
        try body()
      } catch {
        failure.withLock { if $0 == nil { $0 = error } }
      }
      group.leave()
    }
  }

  func join() throws {
    group.wait()
    if let error = failure.withLock({ $0 }) { throw error }
  }
}

/// Holds whoever comes to one operation of a file layer until it is opened.
final class HeldOperation: Sendable {
  private struct State: Sendable {
    var isHolding = true
    var hasArrived = false
    var hasPassed = false
  }

  private let state = Monitor(State())
  private let files: MemoryFileLayer

  init(_ operation: MemoryFileLayer.Operation, of files: MemoryFileLayer) {
    self.files = files
    files.gate = { [state] asked, _ in
      guard asked == operation else { return }
      state.withLock { $0.hasArrived = true }
      state.wait { $0.isHolding ? nil : () }
    }
  }

  /// Returns once somebody is being held; false if whoever was to be has passed.
  func waitForArrival() -> Bool { state.wait { $0.hasArrived ? true : $0.hasPassed ? false : nil } }

  /// Called by whoever was to be held, when it is done.
  func hasPassed() { state.withLock { $0.hasPassed = true } }

  func letGo() {
    files.gate = nil
    state.withLock { $0.isHolding = false }
  }
}
