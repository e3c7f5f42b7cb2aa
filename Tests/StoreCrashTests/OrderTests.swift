import Cairn
import CairnSimulation
import OpenCoreData
import Testing

@Suite struct OrderTests {
  @Test(
    "Members inserted at one position again and again keep their order.", arguments: [Relation.line, .members, .chain])
  func crowding(_ relation: Relation) throws {
    let machine = SimulatedMachine(MemoryFileLayer(), seed: 1)
    let subject = try Subject(machine, makeModel())
    let last = 40
    for serial in 0...2 { subject.insert(serial, isSpecial: false) }
    var expected = [1, 2]
    try insert(expected, at: 0, relation, subject)
    for serial in 3...last {
      subject.insert(serial, isSpecial: false)
      try insert([serial], at: 1, relation, subject)
      expected.insert(serial, at: 1)
    }
    let stored = try StoredGraph(try subject.store.engine)
    try stored.check()
    var serials: [Int64: Int] = [:]
    for serial in 0...last { serials[try Subject.reference(subject.uri(of: serial))] = serial }
    #expect(try stored.graph(serials)[0]?[relation] == expected)
    try subject.close()
    #expect(try Subject(machine, makeModel()).graph(serials)[0]?[relation] == expected)
  }

  private func insert(_ serials: [Int], at place: Int, _ relation: Relation, _ subject: Subject) throws {
    try subject.perform { context in
      let members = try subject.object(0) { _ in nil }.mutableOrderedSetValue(forKey: relation.rawValue)
      for (offset, serial) in serials.enumerated() {
        members.insert(try subject.object(serial) { _ in nil }, at: place + offset)
      }
      try context.save()
    }
  }
}
