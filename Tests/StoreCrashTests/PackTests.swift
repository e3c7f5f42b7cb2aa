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

  @Test("A first pack whose entries are all gone is removed, and entries before the other packs are found again.")
  func firstPackEmptied() throws {
    let machine = SimulatedMachine(MemoryFileLayer(), seed: 1)
    let subject = try Subject(machine, makeModel())
    for serial in 0...300 {
      subject.insert(serial, isSpecial: false)
      let owner = serial < 100 ? 0 : 1
      if serial > 1 { try subject.set(serial, "parent", subject.object(owner) { _ in nil }) }
    }
    try subject.save()
    try subject.perform { context in
      for serial in 2..<100 { context.delete(try subject.object(serial) { _ in nil }) }
    }
    try subject.save()
    try #require(try firstBound(subject) != [])
    try StoredGraph(try subject.store.engine).check()

    try subject.set(1, "parent", subject.object(0) { _ in nil })
    try subject.save()
    #expect(try firstBound(subject) == [])
    try StoredGraph(try subject.store.engine).check()
  }

  private func firstBound(_ subject: Subject) throws -> [UInt8]? {
    let store = try subject.store.engine
    guard let entries = store.keyspaces.first(where: { $0.name == "entries" }) else { return nil }
    guard case .bytes(let bound) = try store.read({ try $0.rows(in: entries) }).first?.key else { return nil }
    return bound
  }

  private func packs(_ subject: Subject) throws -> Int {
    let store = try subject.store.engine
    guard let entries = store.keyspaces.first(where: { $0.name == "entries" }) else { return 0 }
    return try store.read { try $0.count(in: entries) }
  }
}
