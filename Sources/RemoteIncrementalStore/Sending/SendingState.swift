import Foundation

/// Whether changes are being sent, and when that is tried again.
final class SendingState: @unchecked Sendable {
  private let lock = NSLock()
  private var isSending = false
  private var isAskedAgain = false
  private var isStopped = false
  private var retry: Task<Void, any Error>?
  private var waiting: [Answer] = []

  /// Whether the caller has to send. Otherwise somebody else does, and looks at the outbox again afterwards; the answer
  /// is given when that is done.
  func begin() -> Answer? {
    lock.withLock {
      guard isSending else {
        isSending = true
        return nil
      }
      isAskedAgain = true
      let answer = Answer()
      waiting.append(answer)
      return answer
    }
  }

  /// Whether the outbox has to be looked at again.
  func end() -> Bool {
    let (again, answers) = lock.withLock {
      if isAskedAgain {
        isAskedAgain = false
        return (true, [Answer]())
      }
      isSending = false
      defer { waiting = [] }
      return (false, waiting)
    }
    for answer in answers { answer.give(.success(())) }
    return again
  }

  /// Nothing is sent until the application says so.
  var isHeld: Bool {
    get { lock.withLock { isStopped } }
    set { lock.withLock { isStopped = newValue } }
  }

  /// Replaces the next attempt.
  func set(_ next: Task<Void, any Error>?) {
    let former = lock.withLock {
      defer { retry = next }
      return retry
    }
    former?.cancel()
  }
}
