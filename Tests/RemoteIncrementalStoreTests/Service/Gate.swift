import CairnSimulation
import Synchronization

/// Where requests wait until a test lets them go on.
final class Gate: Sendable {
  private struct Waiting {
    let client: Int
    let continuation: CheckedContinuation<Void, any Error>
  }

  private struct State {
    var isOpen = false
    var waiting: [Int: Waiting] = [:]
    var last = 0
    var cancelled: Set<Int> = []
    var observers: [(count: Int, continuation: CheckedContinuation<Void, Never>)] = []

    mutating func takeObservers() -> [CheckedContinuation<Void, Never>] {
      let reached = observers.filter { $0.count <= waiting.count }.map(\.continuation)
      observers.removeAll { $0.count <= waiting.count }
      return reached
    }
  }

  private let state = Mutex(State())

  /// How many requests wait.
  var count: Int { state.withLock { $0.waiting.count } }

  /// Waits until the gate is opened or the request is released.
  func pass(_ client: Int) async throws {
    let number = state.withLock { state in
      state.last += 1
      return state.last
    }
    try await withTaskCancellationHandler {
      try await withCheckedThrowingContinuation { continuation in
        let (result, observers) = state.withLock {
          state -> (Result<Void, any Error>?, [CheckedContinuation<Void, Never>]) in
          if state.cancelled.remove(number) != nil { return (.failure(CancellationError()), []) }
          if state.isOpen { return (.success(()), []) }
          state.waiting[number] = Waiting(client: client, continuation: continuation)
          return (nil, state.takeObservers())
        }
        if let result { continuation.resume(with: result) }
        for observer in observers { observer.resume() }
      }
    } onCancel: {
      let waiting = state.withLock { state in
        let waiting = state.waiting.removeValue(forKey: number)
        if waiting == nil { state.cancelled.insert(number) }
        return waiting
      }
      waiting?.continuation.resume(throwing: CancellationError())
    }
  }

  /// Waits until at least so many requests wait.
  func untilWaiting(_ count: Int = 1) async {
    await withCheckedContinuation { continuation in
      let isReached = state.withLock { state in
        if state.waiting.count >= count { return true }
        state.observers.append((count, continuation))
        return false
      }
      if isReached { continuation.resume() }
    }
  }

  /// Lets one request go on. Returns false if none waits.
  @discardableResult
  func release(using random: inout SplitMix64) -> Bool {
    let choice = random.next()
    let waiting = state.withLock { state -> Waiting? in
      let numbers = state.waiting.keys.sorted()
      guard !numbers.isEmpty else { return nil }
      return state.waiting.removeValue(forKey: numbers[Int(choice % UInt64(numbers.count))])
    }
    waiting?.continuation.resume()
    return waiting != nil
  }

  /// Lets all requests go on, and all others until the gate is closed.
  func open() {
    let waiting = state.withLock { state in
      state.isOpen = true
      defer { state.waiting = [:] }
      return state.waiting.sorted { $0.key < $1.key }.map(\.value)
    }
    for waiting in waiting { waiting.continuation.resume() }
  }

  func close() { state.withLock { $0.isOpen = false } }

  /// Ends the requests of a client that is there no more.
  func drop(_ client: Int) {
    let dropped = state.withLock { state in
      let dropped = state.waiting.filter { $0.value.client == client }
      for number in dropped.keys { state.waiting[number] = nil }
      return dropped.sorted { $0.key < $1.key }.map(\.value)
    }
    for waiting in dropped { waiting.continuation.resume(throwing: CancellationError()) }
  }
}
