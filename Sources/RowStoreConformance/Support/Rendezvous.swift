import Foundation

/// Where threads wait until all of them have come, again and again. `condition` guards the counts.
final class Rendezvous: @unchecked Sendable {
  private let condition = NSCondition()
  private var members: Int
  private var waiting = 0
  private var meetings = 0

  init(_ members: Int) { self.members = members }

  /// Returns when all members have called this.
  func meet() {
    condition.withLock {
      let meeting = meetings
      waiting += 1
      endIfComplete()
      while meeting == meetings { condition.wait() }
    }
  }

  /// Lets the others wait no longer for this member.
  func leave() {
    condition.withLock {
      members -= 1
      endIfComplete()
    }
  }

  private func endIfComplete() {
    guard waiting == members else { return }
    waiting = 0
    meetings += 1
    condition.broadcast()
  }
}
