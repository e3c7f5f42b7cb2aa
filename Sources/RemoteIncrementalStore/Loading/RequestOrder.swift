import Foundation

/// Which answers are older than what is known of an object already.
///
/// Answers may come in another order than their requests, and a request may have been answered before a change was
/// accepted. What an answer says of an object is not used if something that was asked for later has been used already.
final class RequestOrder: @unchecked Sendable {
  private let lock = NSLock()
  private var last: UInt64 = 0
  /// The requests under way, and when they began.
  private var underWay: [UInt64: Double] = [:]
  /// For each object, the request whose answer was used last, as far as older requests are under way.
  private var used: [RemoteIdentifier: UInt64] = [:]

  func begin() -> UInt64 {
    lock.withLock {
      last += 1
      underWay[last] = RemoteLink.now
      return last
    }
  }

  func end(_ request: UInt64) {
    lock.withLock {
      underWay[request] = nil
      guard let oldest = underWay.keys.min() else { return used = [:] }
      if used.count > 10_000 { used = used.filter { $0.value > oldest } }
    }
  }

  /// When a request began; nil if it is not under way.
  func beginning(of request: UInt64) -> Double? { lock.withLock { underWay[request] } }

  /// Notes that the answer to a request was used for objects; nil for something newer than all requests so far.
  func note(_ identifiers: some Sequence<RemoteIdentifier>, _ request: UInt64?) {
    lock.withLock {
      guard !underWay.isEmpty else { return }
      if request == nil { last += 1 }
      for identifier in identifiers { used[identifier] = max(used[identifier] ?? 0, request ?? last) }
    }
  }

  /// Whether something newer than the answer to a request is known of an object.
  func isOld(_ identifier: RemoteIdentifier, _ request: UInt64) -> Bool {
    lock.withLock { used[identifier].map { $0 > request } ?? false }
  }
}
