import Synchronization
import Testing

@testable import Cairn

/// The clock stands still except during syncs, so a thread that waited for a time would never end.
@Suite final class SyncTurnsTests: Sendable {
  private let clock = Atomic<Int>(0)
  private let syncs = Atomic<Int>(0)
  private let arrivals = Atomic<Int>(0)

  @Test("A thread that is alone syncs at once, however long the last sync took.")
  func alone() {
    let turns = makeTurns()
    for goal in 1...3 { #expect(sync(turns, upTo: goal)) }
    #expect(syncs.load(ordering: .relaxed) == 3)
  }

  @Test("Threads that a sync did not serve wait for those that it served, and the last to come syncs for all.")
  func last() throws {
    let turns = makeTurns()
    let threads = Threads()
    _ = sync(turns, upTo: 1) { start(2, threads, turns, upTo: 2) }
    var isHere = false
    _ = sync(turns, upTo: 2) { isHere = true }
    try threads.join()
    #expect(isHere)
    #expect(syncs.load(ordering: .relaxed) == 2)
  }

  @Test("Threads wait for others no longer than the last sync took, and not again soon after they have waited in vain.")
  func inVain() throws {
    let turns = makeTurns()
    let threads = Threads()
    _ = sync(turns, upTo: 1) { start(2, threads, turns, upTo: 2) }
    while syncs.load(ordering: .relaxed) < 2 { clock.add(1000, ordering: .relaxed) }
    try threads.join()
    _ = sync(turns, upTo: 3) { start(1, threads, turns, upTo: 4) }
    try threads.join()
    #expect(syncs.load(ordering: .relaxed) == 4)
  }

  @Test("Once syncing has ended, waiting threads return and no other thread syncs.")
  func ended() throws {
    let turns = makeTurns()
    let threads = Threads()
    _ = sync(turns, upTo: 1) { start(2, threads, turns, upTo: 2) }
    turns.end()
    try threads.join()
    #expect(!sync(turns, upTo: 2))
    #expect(syncs.load(ordering: .relaxed) == 1)
  }

  private func makeTurns() -> SyncTurns { SyncTurns { [self] in clock.load(ordering: .relaxed) } }

  /// A sync takes 1,000 nanoseconds.
  private func sync(_ turns: SyncTurns, upTo goal: Int, _ body: () -> Void = {}) -> Bool {
    var hasArrived = false
    func isDone() -> Bool {
      if !hasArrived { arrivals.add(1, ordering: .relaxed) }
      hasArrived = true
      return syncs.load(ordering: .relaxed) >= goal
    }
    return turns.sync(unless: isDone) {
      body()
      clock.add(1000, ordering: .relaxed)
      syncs.add(1, ordering: .relaxed)
    }
  }

  /// Starts threads that sync, and waits until all have come.
  private func start(_ count: Int, _ threads: Threads, _ turns: SyncTurns, upTo goal: Int) {
    let before = arrivals.load(ordering: .relaxed)
    for _ in 0..<count { threads.start { [self] in _ = sync(turns, upTo: goal) } }
    while arrivals.load(ordering: .relaxed) < before + count {}
  }
}
