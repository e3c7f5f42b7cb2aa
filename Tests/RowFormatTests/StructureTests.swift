import Foundation
import RowFormat
import Testing

@testable import CairnInspection

@Suite("Consistency of rows and entries")
struct StructureTests {
  private let store = MemoryStructure()

  @Test("The check finds nothing in a sound store, and does not look entries up one by one.")
  func sound() throws {
    #expect(try store.findings() == [])
    for number in 100..<1100 as Range<Int64> { store.rows[10]?[.integer(number)] = dog(owner: 1) }
    store.entries += (100..<1100 as Range<Int64>).map { Entry.member(.dog($0), of: .integer(1), 3) }
    store.rows[0]?[.integer(3)] = NumbersGivenOut(store: 1, base: 0, range: 0, next: 1100).bytes
    #expect(try store.findings() == [])
    #expect(store.lookups < 50)
  }

  @Test("The check ends at a missing or unreadable schema.")
  func head() throws {
    store.rows[0]?[.integer(1)] = [1]
    store.rows[0]?[.integer(2)] = [1, 2]
    try expect([.head, .head], .row(.integer(2), table: 0))
    store.rows[0] = [:]
    try expect([.head, .head], .row(.integer(2), table: 0))
  }

  @Test("The check finds that the numbers given out are missing, unreadable or below a number in use.")
  func numbers() throws {
    store.rows[0]?[.integer(3)] = NumbersGivenOut(store: 1, base: 0, range: 0, next: 3).bytes
    try expect([.head], .row(.integer(3), table: 0))
    store.rows[0]?[.integer(3)] = NumbersGivenOut(store: 1, base: 0, range: 7, next: 3).bytes
    #expect(try store.findings() == [])
    store.rows[0]?[.integer(3)] = nil
    try expect([.head], .row(.integer(3), table: 0))
    store.rows[0]?[.integer(3)] = [1]
    try expect([.head], .row(.integer(3), table: 0))
  }

  @Test("The check finds tables of no entity or of an abstract one, and references of several kinds.")
  func tables() throws {
    store.rows[2] = [.integer(9): [1]]
    try expect([.row], .table(2))
    store.rows[2] = nil
    store.rows[6] = [.integer(9): [1]]
    try expect([.row], .table(6))
    store.rows[6] = nil
    store.rows[10]?[.string("9")] = [1]
    try expect([.row], .row(.string("9"), table: 10))
  }

  @Test("The check finds unreadable rows, and values that their entity does not have.")
  func rows() throws {
    let place = StructureFinding.Place.row(.integer(9), table: 10)
    // No row; a property of another entity; a string for a number; an attribute for a relationship; too deep.
    for bytes in [[], [2], [1, 0x21, 0], [1, 0x76, 1, 65], [1, 0x87, 0]] as [[UInt8]] {
      store.rows[10]?[.integer(9)] = bytes
      try expect([.row], place)
    }
    store.rows[10]?[.integer(9)] = [1, 0x70, 0x10]
    #expect(try store.findings() == [])
  }

  @Test("The check finds touches of objects that do not exist, and touches with contents.")
  func touches() throws {
    store.touches = [.dog(3): [], .person(2): []]
    #expect(try store.findings() == [])
    store.touches[.dog(3)] = [1]
    try expect([.row], .touches(.integer(3), table: 10))
    store.touches = [.dog(9): []]
    try expect([.row], .touches(.integer(9), table: 10))
    store.touches = [ObjectReference(entity: 99, reference: .integer(3)): []]
    try expect([.row], .touches(.integer(3), table: 99))
  }

  @Test("The check finds errors in nested composite values, to any depth.")
  func composites() throws {
    var schema = Samples.schema
    schema.entities[1].properties[0].kind = .attribute(2100)
    store.rows[0]?[.integer(2)] = schema.bytes
    for (depth, isSound) in [(60, true), (100, false), (20_000, false)] {
      var row = FieldWriter()
      row.begin(7, .composite)
      row.withOutput { $0.counted(Samples.composite(depth: depth)) }
      store.rows[10]?[.integer(9)] = row.bytes
      #expect(try store.findings().isEmpty == isSound, "\(depth)")
      let field = try #require(try RowFormat.FieldReader.field(7, of: row.bytes))
      let value = try? StoredValue(field, in: row.bytes)
      #expect((value != nil) == isSound, "\(depth)")
    }
  }

  @Test("The check notes a dangling reference where a delete rule may have left it; any other is damage.")
  func leadsNowhere() throws {
    store.rows[10]?[.integer(9)] = dog(owner: nil, vet: 77)
    try expect([.leadsNowhere], .row(.integer(9), table: 10))
    #expect(try store.findings().allSatisfy { !$0.isDamage })
    store.rows[10]?[.integer(9)] = dog(owner: 77)
    try expect([.row], .row(.integer(9), table: 10))
    var schema = Samples.schema
    schema.entities[0].properties[1].kind = .toMany(
      Schema.Relationship(destination: 6, inverse: 8, deleteRule: 0), isOrdered: false)
    store.rows[0]?[.integer(2)] = schema.bytes
    try expect([.leadsNowhere], .row(.integer(9), table: 10))
  }

  @Test("The check finds a reference to an object of the wrong entity.")
  func wrongEntity() throws {
    var row = FieldWriter()
    row.object(.dog(3), 9)
    store.rows[10]?[.integer(9)] = row.bytes
    try expect([.row], .row(.integer(9), table: 10))
  }

  @Test("The check finds a reference without an entry, and an entry without a reference.")
  func oneWay() throws {
    store.rows[10]?[.integer(9)] = dog(owner: 2)
    try expect([.row], .row(.integer(9), table: 10))
    store.rows[10]?[.integer(9)] = dog(owner: nil)
    store.entries.append(Entry.member(.dog(9), of: .integer(2), 3))
    try expect([.entry])
    store.rows[10]?[.integer(9)] = nil
    try expect([.entry])
  }

  @Test("The check finds a many-to-many entry without its inverse.")
  func oneWayOfTwo() throws {
    store.entries.append(Entry.member(.person(1), of: .integer(1), 4, position: 0))
    #expect(try store.findings() == [])
    store.rows[1]?[.integer(5)] = person(nil)
    store.entries.append(Entry.member(.person(5), of: .integer(1), 4, position: 1))
    try expect([.entry])
  }

  @Test("The check finds members of an object that does not exist.")
  func noOwner() throws {
    store.entries.append(Entry.member(.person(1), of: .integer(50), 4, position: 0))
    try expect([.entry])
  }

  @Test("The check finds positions that do not rise, and members that occur twice.")
  func positions() throws {
    store.entries.append(Entry.member(.person(2), of: .integer(1), 4, position: 9))
    try expect([.entry])
    store.entries.removeAll { $0 == Entry.member(.person(2), of: .integer(1), 4, position: 9) }
    store.entries.append(Entry.member(.person(1), of: .integer(1), 4, position: Entry.gap))
    #expect(try store.findings().contains { $0.kind == .entry && $0.words.contains("position") })
  }

  @Test("The check finds keys of other rows, of two objects and of none, and rows without their keys.")
  func keys() throws {
    let key = Array("Ann".utf8)
    store.rows[1]?[.integer(1)] = person("Bob")
    #expect(Set(try store.findings().map(\.kind)) == [.entry, .row])
    store.rows[1]?[.integer(1)] = person("Ann")
    store.rows[1]?[.integer(5)] = person("Ann")
    try expect([.row], .row(.integer(5), table: 1))
    store.entries.append(Entry.holder(.person(5), of: [6, 3] + key, 5))
    try expect([.entry])
    store.rows[1]?[.integer(5)] = nil
    store.rows[1]?[.integer(1)] = nil
    #expect(try store.findings().contains { $0.words.contains("has a key, but does not exist") })
  }

  @Test(
    "Long keys are hashes of texts in normalization form C.",
    arguments: ["n", "ё", "e\u{308}"])
  func longKeys(_ letter: String) throws {
    let name = String(repeating: letter, count: 300)
    func holder(_ name: String) throws -> [UInt8] {
      let key = try UniqueKey.key(of: [2], in: person(name), normalized: \.precomposedStringWithCanonicalMapping)
      #expect(key?.count == UniqueKey.hashLength)
      return Entry.holder(.person(5), of: try #require(key), 5)
    }
    store.rows[1]?[.integer(5)] = person(name)
    let sound = store.entries
    store.entries = sound + [try holder(name)]
    #expect(try store.findings() == [])
    store.entries = sound + [try holder(name + "x")]
    #expect(Set(try store.findings().map(\.kind)) == [.entry, .row])
  }

  @Test("The check finds entries that are empty, truncated, or have an overlong number.")
  func entries() throws {
    for entry in [[], [99, 0x20], [3, 0x20], [0x83, 0, 0x21, 1, 10, 0x21, 3], [3, 0x21, 1, 10, 0x22, 0, 3]] as [[UInt8]]
    {
      let sound = store.entries
      store.entries.append(entry)
      try expect([.entry])
      store.entries = sound
    }
  }

  @Test("The check finds packs that are unreadable, empty or overlapping; the first may have a lower bound.")
  func packs() throws {
    let sound = store.packs
    store.packs[1].bytes = [1, 9]
    try expect([.pack], .pack(sound[1].bound))
    store.packs[1].bytes = [1, 0]
    try expect([.pack], .pack(sound[1].bound))
    store.packs = sound
    store.packs[1].bound = store.entries[1]
    try expect([.pack], .pack(store.entries[1]))
    store.packs = sound
    store.packs[1].bound.append(0)
    try expect([.pack], .pack(sound[1].bound + [0]))
    store.packs = sound
    store.packs[0].bound = store.entries[0]
    #expect(try store.findings() == [])
  }

  @Test("The check reports arbitrary bytes as findings and never traps.")
  func random() throws {
    var random = SeededGenerator()
    print("seed \(random.seed)")
    for _ in 0..<2000 {
      let store = MemoryStructure()
      let change = { (bytes: inout [UInt8]) in
        guard let place = bytes.indices.randomElement(using: &random) else { return }
        if Bool.random(using: &random) {
          bytes[place] ^= 1 << UInt8.random(in: 0..<8, using: &random)
        } else {
          bytes.removeSubrange(place...)
        }
      }
      switch Int.random(in: 0..<4, using: &random) {
      case 0: change(&store.rows[0]![.integer(2)]!)
      case 1: change(&store.rows[10]![.integer(3)]!)
      case 2: change(&store.rows[1]![.integer(1)]!)
      default: change(&store.packs[Int.random(in: 0..<store.packs.count, using: &random)].bytes)
      }
      _ = try store.findings()
    }
  }

  /// Expects findings of these kinds and no others, the last of them at `place`.
  private func expect(
    _ kinds: [StructureFinding.Kind], _ place: StructureFinding.Place? = nil,
    _ location: SourceLocation = #_sourceLocation
  ) throws {
    let findings = try store.findings()
    #expect(findings.map(\.kind) == kinds, "\(findings)", sourceLocation: location)
    if let place { #expect(findings.last?.place == place, "\(findings)", sourceLocation: location) }
  }
}
