import Cairn
import CairnSimulation
import Glibc
import Testing

/// Random programs of saves on a machine whose power fails at every call that changes its disk, or at some of them.
///
/// `OPENCOREDATA_SEED` replays a program, and `OPENCOREDATA_PROGRAMS` runs more of them.
@Suite struct PowerLossTests {
  private static func variable(_ name: String) -> String? {
    unsafe getenv(name).map { unsafe String(cString: $0) }
  }

  @Test("D2: After a power loss at any call, each save is whole or absent, and durable saves are there.")
  func losesPower() {
    let given = Self.variable("OPENCOREDATA_SEED").flatMap { UInt64($0) }
    let first = given ?? .random(in: 0...UInt64.max)
    let count = Self.variable("OPENCOREDATA_PROGRAMS").flatMap { Int($0) } ?? 12
    print("PowerLossTests: OPENCOREDATA_SEED=\(first)")
    var tally = CrashTally()
    for index in 0..<UInt64(count) {
      let program = CrashProgram(seed: first &+ index)
      do {
        tally += try CrashRunner.run(program)
      } catch {
        let shrunk = CrashShrinker.shrink(program, "\(error)")
        let steps = shrunk.program.steps.map { "  \($0)" }.joined(separator: "\n")
        Issue.record("OPENCOREDATA_SEED=\(program.seed): \(shrunk.failure)\n\(steps)")
        return
      }
    }
    print("PowerLossTests: \(count) programs, \(tally)")
  }
}
