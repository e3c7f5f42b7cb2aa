import RowFormat
import Testing

@testable import CairnInspection

@Suite("Differences between rows and entries")
struct DifferencesTests {
  private let store = MemoryStructure()

  @Test("Comparing two sets finds the elements that only one of them has.") func random() throws {
    var random = SeededGenerator()
    print("seed \(random.seed)")
    for size in [0, 1, 10, 1000, 100_000] {
      let range = 0..<(size + 1)
      let left = (0..<size).map { _ in Int.random(in: range, using: &random) }
      var right = Set(left)
      for _ in 0..<size / 10 { right.remove(Int.random(in: range, using: &random)) }
      for _ in 0..<size / 10 { right.insert(Int.random(in: range, using: &random)) }
      let differences = try Differences(left.forEach, right.forEach)
      #expect(differences.onlyLeft == Set(left).subtracting(right))
      #expect(differences.onlyRight == right.subtracting(left))
    }
  }

  @Test("One missing object among 50,000 members of one owner is found with few reads.") func missingMember() throws {
    let dogs = 100..<50_100 as Range<Int64>
    fill(dogs)
    store.rows[10]?[.integer(20_000)] = nil
    store.mostVisits = 12 * dogs.count
    let findings = try store.findings()
    #expect(findings.map(\.words) == ["pets of Person 1 has the member Dog 20000, which does not exist"])
  }

  @Test("One missing entry among 50,000 members of one owner is found with few reads.") func missingEntry() throws {
    let dogs = 100..<50_100 as Range<Int64>
    fill(dogs)
    store.entries.removeAll { $0 == Entry.member(.dog(20_000), of: .integer(1), 3) }
    store.mostVisits = 12 * dogs.count
    let findings = try store.findings()
    #expect(findings.map(\.words) == ["it refers to Person 1, whose pets does not contain it"])
    #expect(findings.map(\.place) == [.row(.integer(20_000), table: 10)])
  }

  @Test("In a many-to-many relationship, a member that is not an owner is found with few reads.")
  func manyToMany() throws {
    let people = 100..<10_100 as Range<Int64>
    for number in people { store.rows[1]?[.integer(number)] = person(nil) }
    var entries = store.entries
    for number in people {
      entries.append(Entry.member(.person(number), of: .integer(1), 4, position: (number + 1) * Entry.gap))
      if number != 5000 { entries.append(Entry.member(.person(1), of: .integer(number), 4, position: 0)) }
    }
    store.entries = entries
    setNextNumber(people.upperBound)
    store.mostVisits = 12 * entries.count
    let findings = try store.findings()
    #expect(findings.map(\.words) == ["friends of Person 1 has the member Person 5000, which does not refer to it"])
  }

  @Test("One missing key among 10,000 is found with few reads, in any normalization form of the rows.")
  func keys() throws {
    let people = 100..<10_100 as Range<Int64>
    var entries = store.entries
    for number in people {
      store.rows[1]?[.integer(number)] = person("e\u{308}\(number)")
      let key = Array("\u{EB}\(number)".utf8)
      if number != 5000 { entries.append(Entry.holder(.person(number), of: [6, UInt8(key.count)] + key, 5)) }
    }
    store.entries = entries
    setNextNumber(people.upperBound)
    store.mostVisits = 12 * people.count
    let findings = try store.findings()
    #expect(findings.map(\.words) == ["it has no key for the constraint 5"])
    #expect(findings.map(\.place) == [.row(.integer(5000), table: 1)])
  }

  @Test("A key that is not in normalization form C is found.") func notNormalized() throws {
    store.entries.append(Entry.holder(.person(2), of: [6, 5] + Array("Zoe\u{308}".utf8), 5))
    let findings = try store.findings()
    #expect(findings.map(\.words) == ["Person 2 has a key that does not match its row"])
  }

  @Test("Every wrong member and every wrong reference is reported once.") func several() throws {
    fill(100..<200)
    for number in [110, 120] as [Int64] { store.rows[10]?[.integer(number)] = nil }
    store.rows[10]?[.integer(130)] = dog(owner: 2)
    store.rows[10]?[.integer(140)] = dog(owner: nil)
    let missing = Entry.member(.dog(150), of: .integer(1), 3)
    store.entries.removeAll { $0 == missing }
    #expect(
      try store.findings().map(\.words) == [
        "it refers to Person 2, whose pets does not contain it",
        "it refers to Person 1, whose pets does not contain it",
        "pets of Person 1 has the member Dog 110, which does not exist",
        "pets of Person 1 has the member Dog 120, which does not exist",
        "pets of Person 1 has the member Dog 130, which does not refer to it",
        "pets of Person 1 has the member Dog 140, which does not refer to it",
      ])
  }

  /// Adds dogs of the first person.
  private func fill(_ dogs: Range<Int64>) {
    for number in dogs { store.rows[10]?[.integer(number)] = dog(owner: 1) }
    store.entries += dogs.map { Entry.member(.dog($0), of: .integer(1), 3) }
    setNextNumber(dogs.upperBound)
  }

  private func setNextNumber(_ number: Int64) {
    store.rows[0]?[.integer(3)] = NumbersGivenOut(store: 1, base: 0, range: 0, next: UInt64(number)).bytes
  }
}
