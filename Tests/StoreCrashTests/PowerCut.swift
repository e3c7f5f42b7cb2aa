import Cairn
import CairnSimulation

/// Watches the calls of a store to its disk, and takes copies of the disk as a loss of power at that moment would leave
/// it. The copies are checked later, since the store is in the middle of an operation.
final class PowerCut: Sendable {
  /// What a disk may and must contain.
  struct Bounds: Sendable {
    /// The first state that may be found: it is durable.
    var first = 0
    /// The last state that may be found.
    var last = 0
    /// How many identifiers have been given out.
    var given = 0
  }

  struct Disk: Sendable {
    let files: MemoryFileLayer
    let bounds: Bounds
    let place: String
  }

  private struct State {
    var bounds = Bounds()
    /// The last commit of each state, and the store that knows which commits are durable.
    var commits: [CommitSequence] = []
    var store: Store?
    var calls: UInt64 = 0
    var disks: [Disk] = []
  }

  private static let changes: Set<MemoryFileLayer.Operation> = [
    .createDirectory, .create, .rename, .remove, .syncDirectory, .lock, .write, .reserve, .truncate, .sync,
  ]

  private let state = Lock(State())
  private let seed: UInt64
  private let oneIn: Int

  init(seed: UInt64, oneIn: Int) {
    self.seed = seed
    self.oneIn = oneIn
  }

  func watch(_ files: MemoryFileLayer) {
    files.gate = { [unowned self, unowned files] operation, path in
      if Self.changes.contains(operation) { cut(files, "\(operation.rawValue) \(path)") }
    }
  }

  /// Sets the bounds for disks that are taken from now on.
  func expect(_ bounds: Bounds, commits: [CommitSequence] = [], of store: Store? = nil) {
    state.withLock {
      $0.bounds = bounds
      $0.commits = commits
      $0.store = store
    }
  }

  func takeDisks() -> [Disk] {
    state.withLock { state in
      defer { state.disks = [] }
      return state.disks
    }
  }

  private func cut(_ files: MemoryFileLayer, _ place: String) {
    state.withLock { state in
      state.calls += 1
      let outcomes = outcomes(state.calls)
      guard !outcomes.isEmpty else { return }
      var bounds = state.bounds
      let durable = state.store?.durableSequence ?? 0
      bounds.first = max(bounds.first, state.commits.lastIndex { $0 <= durable } ?? 0)
      for outcome in outcomes {
        state.disks.append(
          Disk(
            files: files.crash(outcome).files, bounds: bounds,
            place: "call \(state.calls), \(place), \(outcome.rule)"))
      }
    }
  }

  private func outcomes(_ call: UInt64) -> [MemoryFileLayer.CrashOutcome] {
    var random = SplitMix64(seed: seed &+ call)
    let own = random.next()
    guard own.isMultiple(of: UInt64(oneIn)) else { return [] }
    let exception = MemoryFileLayer.CrashOutcome(
      own & 1 << 40 == 0 ? .lost : .kept, exceptFor: Int(own >> 41 & 7), tears: own & 1 << 44 == 0)
    let all: [MemoryFileLayer.CrashOutcome] = [
      .lost, .kept, .random(seed: random.next()), .random(seed: random.next()), exception,
    ]
    return oneIn == 1 ? all : [all[Int(own >> 48) % all.count]]
  }
}
