extension MemoryFileLayer {
  /// What remains, after a loss of power, of everything that was not durable. Each change of a name, each file's length
  /// and each block of 512 bytes is decided by itself, in an order that depends only on the files; so every state that
  /// a crash may leave has an outcome that leads to it.
  package struct CrashOutcome: Hashable, Sendable {
    package enum Rule: Hashable, Sendable {
      case lost
      case kept
      /// Each decision by chance; the seed also determines how likely it is that a change is kept.
      case random(seed: UInt64)
    }

    package var rule: Rule
    /// The number of one decision that is reversed, or that tears the block, if it is about a block and `tears` is set.
    package var exception: Int?
    /// Whether the exception tears its block instead of reversing the decision.
    package var tears: Bool

    package init(_ rule: Rule, exceptFor exception: Int? = nil, tears: Bool = false) {
      self.rule = rule
      self.exception = exception
      self.tears = tears
    }

    /// Loses everything that was not synced.
    package static let lost = CrashOutcome(.lost)
    /// Keeps everything, as if it had been synced.
    package static let kept = CrashOutcome(.kept)
    package static func random(seed: UInt64) -> CrashOutcome { CrashOutcome(.random(seed: seed)) }
  }

  /// How many decisions an outcome led to, by their results.
  package struct CrashTally: Hashable, Sendable {
    /// Number of all decisions.
    package var decisions = 0
    package var namesLost = 0
    package var namesKept = 0
    package var lengthsLost = 0
    package var lengthsKept = 0
    package var blocksKept = 0
    /// Blocks that have their earlier content.
    package var blocksLost = 0
    /// Blocks that were zeros before and are zeros again.
    package var blocksZeroed = 0
    package var blocksTorn = 0
  }

  /// Makes the decisions of one outcome, one after the other.
  struct CrashFates {
    private let outcome: CrashOutcome
    private var random: SplitMix64
    /// Likelihood that a change is kept, in sixteenths.
    private let likelihood: Int
    private(set) var tally = CrashTally()

    init(_ outcome: CrashOutcome) {
      self.outcome = outcome
      guard case .random(let seed) = outcome.rule else {
        random = SplitMix64(seed: 1)
        likelihood = 0
        return
      }
      random = SplitMix64(seed: seed)
      likelihood = [1, 4, 8, 12, 15, 16][Int.random(in: 0..<6, using: &random)]
    }

    private mutating func keeps() -> (kept: Bool, isException: Bool) {
      let isException = tally.decisions == outcome.exception
      tally.decisions += 1
      let kept =
        switch outcome.rule {
        case .lost: false
        case .kept: true
        case .random: Int.random(in: 0..<16, using: &random) < likelihood
        }
      return (kept != isException, isException)
    }

    mutating func keepsName() -> Bool {
      let (kept, _) = keeps()
      if kept { tally.namesKept += 1 } else { tally.namesLost += 1 }
      return kept
    }

    /// The length of a file after the crash; a file that was growing may have grown in part.
    mutating func size(durable: Int, current: Int) -> Int {
      if durable == current { return current }
      let (kept, _) = keeps()
      if kept { tally.lengthsKept += 1 } else { tally.lengthsLost += 1 }
      if case .random = outcome.rule, durable < current, Int.random(in: 0..<4, using: &random) == 0 {
        return min(current, Int.random(in: durable...current, using: &random) / 512 * 512 + 512)
      }
      return kept ? current : durable
    }

    /// The range of a block that has its earlier content.
    mutating func lostPart(ofBlock length: Int, wasZero: Bool) -> Range<Int> {
      let (kept, isException) = keeps()
      var tears = isException && outcome.tears
      if case .random = outcome.rule { tears = Int.random(in: 0..<8, using: &random) == 0 }
      if tears {
        tally.blocksTorn += 1
        let tear = Int.random(in: 1..<length, using: &random)
        return kept ? tear..<length : 0..<tear
      }
      if kept {
        tally.blocksKept += 1
      } else if wasZero {
        tally.blocksZeroed += 1
      } else {
        tally.blocksLost += 1
      }
      return kept ? 0..<0 : 0..<length
    }
  }
}
