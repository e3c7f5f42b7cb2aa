import Cairn
import CairnSimulation
import OpenCoreData
import Testing

/// Two coordinators on one store: one saves changes of objects that the other has read.
@Suite struct SharedStoreTests {
  private let machine = SimulatedMachine(MemoryFileLayer(), seed: 1)
  private let one: Subject
  private let two: Subject
  private let thing: URL

  init() throws {
    one = try Subject(machine, makeModel())
    two = try Subject(machine, makeModel())
    one.insert(1, isSpecial: false)
    try one.set(1, "name", "old")
    try one.save()
    thing = try one.uri(of: 1)
  }

  private func change(_ subject: Subject, _ key: String, _ value: Any) throws {
    try subject.perform { _ in try subject.object(1) { _ in thing }.setValue(value, forKey: key) }
  }

  /// Reads a value with a new coordinator, which has not read anything before.
  private func read(_ key: String) throws -> Any? {
    let three = try Subject(machine, makeModel())
    defer { try? three.close() }
    return try three.perform { _ in try three.object(1) { _ in thing }.value(forKey: key) }
  }

  @Test("A save that a merge policy gives precedence succeeds at the second attempt, with the other's changes.")
  func precedence() throws {
    two.perform { $0.mergePolicy = NSMergePolicy.mergeByPropertyObjectTrump }
    try change(two, "number", 1)
    try change(one, "name", "new")
    try one.save()
    try two.save()
    #expect(try read("number") as? Int == 1)
    #expect(try read("name") as? String == "new")
  }

  @Test("A save that conflicts with another's save succeeds once the object is refreshed.")
  func refreshing() throws {
    try change(two, "number", 1)
    try change(one, "name", "new")
    try one.save()
    let error = #expect(throws: NSError.self) { try two.save() }
    #expect(error?.code == 133_020)
    try two.perform { context in context.refresh(try two.object(1) { _ in thing }, mergeChanges: true) }
    try two.save()
    #expect(try read("number") as? Int == 1)
    #expect(try read("name") as? String == "new")
  }

  @Test("An object that another context has deleted is not saved again.")
  func deletion() throws {
    try change(two, "number", 1)
    try one.perform { context in context.delete(try one.object(1) { _ in thing }) }
    try one.save()
    let error = #expect(throws: NSError.self) { try two.save() }
    #expect(error?.code == 133_020)
    #expect(try one.count("Thing") == 0)
  }
}
