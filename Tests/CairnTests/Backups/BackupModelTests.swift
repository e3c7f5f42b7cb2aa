import Cairn
import CairnSimulation
import Testing

/// Random programs with backups.
@Suite struct BackupModelTests {
  @Test("G26: Every backup of a random program has the state of its commit, and so has what is restored from it.")
  func randomPrograms() throws {
    let seed = chooseSeed()
    var (backups, stopped, restored) = (0, 0, 0)
    for round in 0..<UInt64(chooseRounds(100, debug: 12)) {
      var program = try BackupProgram(seed: seed &+ round)
      do {
        try program.run(steps: 150)
      } catch {
        Issue.record("CAIRN_SEED=\(seed &+ round) CAIRN_ROUNDS=1, step \(program.step): \(error)")
        return
      }
      backups += program.backups
      stopped += program.stoppedBackups
      restored += program.restored
    }
    #expect(backups > 0 && stopped > 0 && restored > 0)
  }
}
