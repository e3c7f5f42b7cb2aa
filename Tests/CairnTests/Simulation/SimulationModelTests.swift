import Cairn
import CairnSimulation
import Testing

/// A short version of `Tools/torture`.
@Suite struct SimulationModelTests {
  @Test("D2: After any failure, random programs leave a prefix of their commits.") func randomPrograms() {
    let own = chooseSeed()
    for (seed, rounds) in [(1, chooseRounds(200, debug: 3)), (own, chooseRounds(300, debug: 3))] as [(UInt64, Int)] {
      var torture = Torture(seed: seed)
      for _ in 0..<rounds {
        guard let finding = torture.advance() else { continue }
        report(finding.program, finding.failure, finding.sampling)
        return
      }
    }
  }

  /// Reports the failure with a program that was shrunk, for replay.
  private func report(_ program: Program, _ failure: Failure, _ sampling: Runner.Sampling) {
    let start = ContinuousClock.now
    var shrinker = Shrinker(program, failure, sampling) { ContinuousClock.now - start > .seconds(20) }
    shrinker.shrink()
    Issue.record("\(failure)\n\nTools/torture --replay, with this program:\n\(shrinker.best.program)")
  }

  @Test(
    "D8: Programs of one or two operations leave a prefix of their commits if they crash at any call.",
    arguments: 0..<shares)
  func shortPrograms(_ share: Int) {
    // A third of them, another one each time; all with CAIRN_ROUNDS=1.
    let stride = chooseRounds(3, debug: 10) * Self.shares
    let first = share + Self.shares * Int.random(in: 0..<stride / Self.shares)
    for length in [1, 2] {
      for number in Swift.stride(from: first, to: ShortPrograms.count(length: length), by: stride) {
        let program = ShortPrograms.program(length: length, number: number)
        if let failure = Runner.run(program, .every(decisions: 3, random: 1)).failure {
          return report(program, failure, .every(decisions: 3, random: 1))
        }
      }
    }
  }

  /// The number of parts into which the short programs are divided, so that all cores have work.
  private static let shares = 16

  @Test("The segment size, compression, checkpoints and the order of keyspaces change no result.")
  func metamorphic() {
    let seed = chooseSeed()
    for round in 0..<UInt64(chooseRounds(30, debug: 1)) {
      let (_, failure, program) = Metamorphic.run(seed: seed &+ round)
      if let failure { return report(program, failure, .none) }
    }
  }

  @Test(
    "G24: Running the same program twice gives the same trace, to the last byte.",
    arguments: 1...6 as ClosedRange<UInt64>)
  func sameTrace(_ seed: UInt64) {
    let program = Program.random(seed: seed)
    let one = Runner.run(program, .some, keepsTrace: true)
    let other = Runner.run(program, .some, keepsTrace: true)
    #expect(one.trace.count > 20)
    #expect(one.trace == other.trace)
    #expect(one.digest == other.digest)
    #expect(one.tally == other.tally)
    #expect(Runner.run(.random(seed: seed + 100), .some).digest != one.digest)
  }

  @Test("A printed program reads as the same program.") func text() throws {
    for seed in 0..<200 as Range<UInt64> {
      let program = Program.random(seed: seed)
      #expect(try Program(parsing: program.description) == program)
    }
    for line in ["dance", "amid 3 dance", "amid write 0/1=1:1", "go-back", "spoil gently"] {
      #expect(throws: Program.Malformed.self) { try Program(parsing: "seed 1\n1 \(line)") }
    }
  }

  @Test(
    "The simulation detects a disk whose syncs do nothing, and shrinks the failing program.",
    arguments: [
      MemoryFileLayer.Operation.sync, .syncDirectory,
    ])
  func deafDisk(_ operation: MemoryFileLayer.Operation) throws {
    for seed in 1...20 as ClosedRange<UInt64> {
      var program = Program.random(seed: seed)
      // This step damages the store on purpose.
      program.steps.removeAll { $0.operation == .misdirect }
      guard let failure = Runner.run(program, .some, deaf: [operation]).failure else { continue }
      var shrinker = Shrinker(program, failure, .some, deaf: [operation]) { false }
      shrinker.shrink()
      let steps = shrinker.best.program.steps
      #expect(steps.count <= 3, "\(shrinker.best.program)")
      #expect(Runner.run(shrinker.best.program, shrinker.best.sampling, deaf: [operation]).failure != nil)
      #expect(Runner.run(shrinker.best.program, shrinker.best.sampling).failure == nil)
      return
    }
    Issue.record("\(operation) did nothing, and nobody noticed")
  }

  @Test("The random programs together produce every kind of fault and of loss.") func everything() {
    var tally = Tally()
    for seed in 0..<250 as Range<UInt64> {
      tally.add(Runner.run(.random(seed: seed), .some).tally)
    }
    for fault in Fault.allCases { #expect(tally.faults[fault, default: 0] > 0, "\(fault)") }
    for count in [
      tally.namesLost, tally.namesKept, tally.lengthsLost, tally.lengthsKept, tally.blocksLost, tally.blocksKept,
      tally.blocksZeroed, tally.blocksTorn, tally.secondCrashes, tally.readersBeside, tally.refused, tally.lookedBack,
      tally.readChanges, tally.expiredPositions,
      tally.wentBack, tally.refusedToGoBack, tally.closings, tally.deeds, tally.endedAmid,
    ] { #expect(count > 0) }
  }
}
