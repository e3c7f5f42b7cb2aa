/// Runs programs of all kinds, one after the other, until the caller has no more time or a failure is found.
package struct Torture {
  package struct Finding: Sendable {
    package let program: Program
    package let failure: Failure
    package let sampling: Runner.Sampling
  }

  private(set) package var tally = Tally()
  private let seed: UInt64
  private var next: UInt64 = 0
  /// The place in the list of short programs, which begins with the shortest.
  private var short = (length: 1, number: 0)

  package init(seed: UInt64) { self.seed = seed }

  /// Runs one more program. Every fourth is a short one, crashed at each of its calls, until all short ones have been
  /// run; every thirtieth is also run with other options.
  package mutating func advance() -> Finding? {
    next += 1
    if next % 4 == 0, short.length <= 3 { return runShort() }
    let seed = mix(seed, next)
    if next % 30 == 1 {
      let (tally, failure, program) = Metamorphic.run(seed: seed)
      self.tally.add(tally)
      return failure.map { Finding(program: program, failure: $0, sampling: .none) }
    }
    return run(.random(seed: seed), .some)
  }

  /// Runs the next short program.
  private mutating func runShort() -> Finding? {
    let program = ShortPrograms.program(length: short.length, number: short.number)
    short.number += 1
    if short.number == ShortPrograms.count(length: short.length) { short = (short.length + 1, 0) }
    tally.exhaustivePrograms += 1
    return run(program, .every(decisions: 6, random: 1))
  }

  private mutating func run(_ program: Program, _ sampling: Runner.Sampling) -> Finding? {
    let result = Runner.run(program, sampling)
    tally.add(result.tally)
    return result.failure.map { Finding(program: program, failure: $0, sampling: sampling) }
  }
}
