import CairnSimulation
import Testing

@testable import Cairn

@Suite struct ChangesModelTests {
  @Test("D28: Readers of changes skip none, whatever compaction, drops of keyspaces, restarts and losses of power do.")
  func noneIsSkipped() throws {
    let seed = chooseSeed()
    var (returned, restarts) = (0, 0)
    for round in 0..<UInt64(chooseRounds(200, debug: 40)) {
      var program = try ChangeProgram(seed: seed &+ round)
      do {
        try program.run(80)
      } catch {
        Issue.record("CAIRN_SEED=\(seed &+ round): \(error)")
        return
      }
      returned += program.returned
      restarts += program.restarts
    }
    print("\(returned) changes, \(restarts) positions expired")
    #expect(returned > 100)
  }
}
