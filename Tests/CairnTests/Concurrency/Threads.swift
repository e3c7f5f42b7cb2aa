import Cairn
import CairnSimulation
import Foundation
import Synchronization

/// Threads of a test; `join` throws the first error that any of them threw.
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

/// Holds every thread that calls one operation of a file layer, until `letGo` is called.
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

  /// Waits until a thread is being held; returns false if the thread that was expected ended without being held.
  func waitForArrival() -> Bool { state.wait { $0.hasArrived ? true : $0.hasPassed ? false : nil } }

  /// Called by the thread that was to be held, when it ends.
  func hasPassed() { state.withLock { $0.hasPassed = true } }

  func letGo() {
    files.gate = nil
    state.withLock { $0.isHolding = false }
  }
}
