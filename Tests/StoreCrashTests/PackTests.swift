import Cairn
import CairnSimulation
import OpenCoreData
import Testing

@Suite struct PackTests {
  @Test("Entries that exceed a pack are split over several, and joined when most are gone.")
  func splitting() throws {
    let machine = SimulatedMachine(MemoryFileLayer(), seed: 1)
    let subject = try Subject(machine, makeModel())
    for serial in 0...600 {
      subject.insert(serial, isSpecial: false)
      if serial > 0 { try subject.set(serial, "parent", subject.object(0) { _ in nil }) }
    }
    try subject.save()
    try StoredGraph(try subject.store.engine).check()
    let most = try packs(subject)
    #expect(most > 2)

    try subject.perform { context in
      for serial in 20...600 { context.delete(try subject.object(serial) { _ in nil }) }
    }
    try subject.save()
    let stored = try StoredGraph(try subject.store.engine)
    try stored.check()
    #expect(try packs(subject) < most)
  }

  private func packs(_ subject: Subject) throws -> Int {
    let store = try subject.store.engine
    guard let entries = store.keyspaces.first(where: { $0.name == "entries" }) else { return 0 }
    return try store.read { try $0.count(in: entries) }
  }
}
