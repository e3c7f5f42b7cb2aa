import Cairn
import CairnSimulation
import Testing

@Suite struct NumberTests {
  @Test("No number is given out twice, in one opening or several, however many are requested at a time.")
  func onlyOnce() throws {
    var given = GivenIdentifiers()
    let machine = SimulatedMachine(MemoryFileLayer(), seed: 1)
    for _ in 0..<2 {
      let subject = try Subject(machine, makeModel())
      for count in [1, 4096, 3, 6000, 1] { try subject.takeNumbers(count).forEach { try given.give($0) } }
      try subject.close()
    }
    #expect(given.count == 2 * (1 + 4096 + 3 + 6000 + 1))
  }

  @Test("A number that was given out before a power loss is not given out again.")
  func afterLossOfPower() throws {
    var given = GivenIdentifiers()
    var machine = SimulatedMachine(MemoryFileLayer(), seed: 1)
    for seed in 2..<5 {
      let subject = try Subject(machine, makeModel(), isDurable: false)
      try subject.takeNumbers(5000).forEach { try given.give($0) }
      machine = SimulatedMachine(machine.files.crash(.lost).files, seed: UInt64(seed))
      try subject.close()
    }
  }
}
