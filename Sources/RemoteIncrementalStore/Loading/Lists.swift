import Foundation

/// What is known of lists without reading rows, and which are being read.
final class Lists: @unchecked Sendable {
  struct State {
    /// When the list was read as far as it was needed; 0 if never.
    var readAt: Double
    /// How many objects are known to be on the list.
    var count: Int
    var isComplete: Bool
    /// For how many seconds it stays fresh, as the service says; nil if it does not.
    var freshFor: Double?
    var failure: (any Error)?
    /// The answer to those who wait for the list to be read; nil if it is not being read.
    var answer: Answer?
  }

  private let lock = NSLock()
  private var states: [String: State] = [:]

  subscript(key: String) -> State? { lock.withLock { states[key] } }

  /// Notes what the store has of a list, unless that is known.
  func note(_ state: State, _ key: String) -> State {
    lock.withLock {
      if let known = states[key] { return known }
      states[key] = state
      return state
    }
  }

  /// The answer to wait for, and whether the caller has to read the list.
  func begin(_ key: String) -> (answer: Answer, isFirst: Bool) {
    lock.withLock {
      if let answer = states[key]?.answer { return (answer, false) }
      let answer = Answer()
      states[key, default: State(readAt: 0, count: 0, isComplete: false)].answer = answer
      return (answer, true)
    }
  }

  func end(_ key: String, _ result: Result<State, any Error>) {
    let answer = lock.withLock {
      var state = states[key] ?? State(readAt: 0, count: 0, isComplete: false)
      let answer = state.answer
      state.answer = nil
      switch result {
      case .success(let read): state = read
      case .failure(let error): state.failure = error
      }
      states[key] = state
      return answer
    }
    answer?.give(result.map { _ in })
  }

  /// Forgets a list, unless it is being read. Returns whether it is forgotten.
  func forget(_ key: String) -> Bool {
    lock.withLock {
      guard states[key]?.answer == nil else { return false }
      states[key] = nil
      return true
    }
  }

  /// Lets all lists count as too old.
  func expire() {
    lock.withLock { for key in states.keys { states[key]?.readAt = 0 } }
  }
}
