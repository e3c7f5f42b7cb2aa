import Foundation

/// Whether changes are being sent, and when that is tried again.
final class SendingState: @unchecked Sendable {
  private let lock = NSLock()
  private var isSending = false
  /// Whether somebody else has asked meanwhile, and whether by hand.
  private var asked: (again: Bool, byHand: Bool) = (false, false)
  private var isStopped = false
  private var retry: Task<Void, any Error>?
  private var waiting: [Answer] = []

  /// Whether the caller has to send. Otherwise somebody else does, and looks at the outbox again afterwards; the answer
  /// is given when that is done.
  func begin(byHand: Bool) -> Answer? {
    lock.withLock {
      guard isSending else {
        isSending = true
        return nil
      }
      asked = (true, asked.byHand || byHand)
      let answer = Answer()
      waiting.append(answer)
      return answer
    }
  }

  /// Whether the outbox has to be looked at again, and whether by hand; nil if not.
  func end() -> Bool? {
    let (again, answers) = lock.withLock {
      if asked.again {
        defer { asked = (false, false) }
        return (Bool?.some(asked.byHand), [Answer]())
      }
      isSending = false
      defer { waiting = [] }
      return (nil, waiting)
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
