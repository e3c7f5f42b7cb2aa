import Cairn

/// Stands between a store and its disk: notes every call, and takes copies of the disk as a loss of power at that
/// moment would leave it. The copies are verified later, because the store is in the middle of an operation.
final class Watch: Sendable {
  /// The calls at which copies are taken, and how many outcomes of each.
  enum Sampling: Sendable, Equatable {
    case none
    /// At every call that changes anything: everything lost, everything kept, up to `decisions` single decisions
    /// against all others, and `random` random outcomes.
    case every(decisions: Int, random: Int)
    /// At one in this many calls, at random.
    case random(oneIn: Int)
    /// At the call with this number.
    case once(Int)
  }

  struct Capture: Sendable {
    let files: MemoryFileLayer
    let model: Model
    /// The commit up to which nothing may be lost.
    let floor: CommitSequence
    let place: String
    let tally: MemoryFileLayer.CrashTally
  }

  fileprivate struct State: Sendable {
    var model = Model()
    var floor: CommitSequence = 0
    var store: Store?
    var step = 0
    /// Calls since the step began.
    var calls = 0
    var captures: [Capture] = []
    var beside: (from: CommitSequence, run: @Sendable () -> Void)?
    var listener: (@Sendable (MemoryFileLayer.Operation, _ path: String) -> Void)?
    var digest: UInt64 = 0
    var lines: [String]?
  }

  private let state = Lock(State())
  private let seed: UInt64
  private let sampling: Sampling

  private static let changes: Set<MemoryFileLayer.Operation> = [
    .createDirectory, .create, .rename, .remove, .syncDirectory, .lock, .write, .reserve, .truncate, .sync,
  ]

  init(seed: UInt64, sampling: Sampling, keepsLines: Bool = false) {
    self.seed = seed
    self.sampling = sampling
    if keepsLines { state.withLock { $0.lines = [] } }
  }

  /// Sets the model that a crash at any later call must agree with, and the commit that it must not lose.
  func follow(_ files: MemoryFileLayer, _ model: Model, floor: CommitSequence, store: Store? = nil) {
    state.withLock {
      $0.model = model
      $0.floor = floor
      $0.store = store
    }
    if files.gate == nil {
      files.gate = { [unowned files, self] operation, path in observe(files, operation, path) }
    }
  }

  func begin(step: Int) {
    state.withLock {
      $0.step = step
      $0.calls = 0
    }
  }

  func end(_ files: MemoryFileLayer) {
    files.gate = nil
    state.withLock {
      $0.store = nil
      $0.beside = nil
    }
  }

  /// Runs a closure when a commit after `sequence` is being synced; nil cancels it.
  func setBeside(_ sequence: CommitSequence, _ run: (@Sendable () -> Void)?) {
    state.withLock { $0.beside = run.map { (sequence, $0) } }
  }

  /// Sets a listener that is called at each call, after everything else.
  func tell(_ listener: (@Sendable (MemoryFileLayer.Operation, _ path: String) -> Void)?) {
    state.withLock { $0.listener = listener }
  }

  func takeCaptures() -> [Capture] {
    state.withLock { state in
      defer { state.captures = [] }
      return state.captures
    }
  }

  // MARK: The trace

  /// A hash of all lines that have been noted, in order.
  var digest: UInt64 { state.withLock { $0.digest } }
  var lines: [String] { state.withLock { $0.lines ?? [] } }

  func note(_ line: String) { state.withLock { $0.note(line) } }

  private func observe(_ files: MemoryFileLayer, _ operation: MemoryFileLayer.Operation, _ path: String) {
    let beside = state.withLock { state -> (@Sendable () -> Void)? in
      state.note("  \(operation.rawValue) \(path)")
      guard Self.changes.contains(operation) else { return nil }
      defer { state.calls += 1 }
      let outcomes = outcomes(files, state)
      if !outcomes.isEmpty {
        let claimed = state.store.map(\.durableSequence) ?? 0
        let place = "call \(state.calls), \(operation.rawValue) \(path)"
        for outcome in outcomes {
          let (crashed, tally) = files.crash(outcome)
          state.captures.append(
            Capture(
              files: crashed, model: state.model, floor: max(state.floor, claimed),
              place: "\(place), \(outcome.rule)\(outcome.exception.map { " but \($0)" } ?? "")", tally: tally))
        }
      }
      guard operation == .sync, path.hasSuffix(".segment"), let beside = state.beside,
        let last = state.store?.lastSequence, last > beside.from
      else { return nil }
      state.beside = nil
      return beside.run
    }
    beside?()
    state.withLock { $0.listener }?(operation, path)
  }

  private func outcomes(_ files: MemoryFileLayer, _ state: State) -> [MemoryFileLayer.CrashOutcome] {
    let own = mix(seed, UInt64(state.step), UInt64(state.calls))
    switch sampling {
    case .none: return []
    case .once(let call): return call == state.calls ? [.random(seed: own)] : []
    case .random(let oneIn):
      guard own % UInt64(oneIn) == 0 else { return [] }
      return [[.lost, .kept, .random(seed: own), .random(seed: own), .random(seed: own)][Int(own >> 32) % 5]]
    case .every(let decisions, let random):
      var result: [MemoryFileLayer.CrashOutcome] = [.lost]
      let count = files.crash(.kept).tally.decisions
      if count > 0 { result.append(.kept) }
      // All decisions if there are few, others at each call if there are many.
      for decision in 0..<min(count, decisions) {
        let chosen = count <= decisions ? decision : Int(mix(own, UInt64(decision)) % UInt64(count))
        for rule in [MemoryFileLayer.CrashOutcome.Rule.lost, .kept] {
          result.append(.init(rule, exceptFor: chosen, tears: (chosen + state.calls).isMultiple(of: 3)))
        }
      }
      if count > 1 { for number in 0..<random { result.append(.random(seed: mix(own, 77, UInt64(number)))) } }
      return result
    }
  }
}

extension Watch.State {
  mutating func note(_ line: String) {
    // FNV-1a.
    var digest = digest == 0 ? 0xCBF2_9CE4_8422_2325 : digest
    for byte in line.utf8 { digest = (digest ^ UInt64(byte)) &* 0x100_0000_01B3 }
    self.digest = digest
    lines?.append(line)
  }
}
