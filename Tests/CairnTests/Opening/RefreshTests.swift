import CairnSimulation
import Testing

@testable import Cairn

/// A store that was opened for reading advances beside its writer.
@Suite struct RefreshTests {
  private let machine = Machine()

  private func reader() throws -> Store {
    var options = Machine.options
    options.access = .readOnly
    return try machine.open(options)
  }

  @Test("A refreshed reader has what a writer has that writes, compacts, drops and opens the store again.")
  func randomPrograms() throws {
    let seed = chooseSeed()
    for number in 0..<chooseRounds(500, debug: 60) {
      print("program", seed &+ UInt64(number))
      var program = try RefreshProgram(seed: seed &+ UInt64(number))
      do {
        try program.run(steps: 60)
      } catch {
        Issue.record("\(error), CAIRN_SEED=\(seed &+ UInt64(number)) CAIRN_ROUNDS=1")
        return
      }
    }
  }
}
