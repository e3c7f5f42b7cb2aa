import Synchronization

#if canImport(Glibc)
  import Glibc
#elseif canImport(Musl)
  import Musl
#elseif canImport(Darwin)
  import Darwin
#endif

/// A point at which threads wait for each other, again and again. They spin, so that all continue at the same instant.
final class Rendezvous: Sendable {
  /// Thrown to the waiting threads after one of the threads has failed.
  struct Broken: Error {}

  private let parties: Int
  private let arrivals = Atomic<Int>(0)
  private let isBroken = Atomic<Bool>(false)

  init(_ parties: Int) { self.parties = parties }

  func meet() throws {
    let number = arrivals.add(1, ordering: .acquiringAndReleasing).newValue
    let last = (number + parties - 1) / parties * parties
    while arrivals.load(ordering: .acquiring) < last {
      if isBroken.load(ordering: .acquiring) { throw Broken() }
      sched_yield()
    }
  }

  func giveUp() { isBroken.store(true, ordering: .releasing) }
}
