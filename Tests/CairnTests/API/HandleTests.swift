import Cairn
import CairnSimulation
import Testing

/// What a program does with a keyspace.
@Suite struct HandleTests {
  private let store: Store
  private let planets: Keyspace
  private let moons: Keyspace

  init() throws {
    store = try Machine().open()
    planets = try store.keyspace("planets")
    moons = try store.keyspace("moons")
  }

  @Test("A row is put, read in every form, and deleted, now and in a snapshot.") func oneRow() throws {
    let first = try planets.put("the red one", at: "Mars", expecting: .absent)
    let before = store.snapshot()
    let name = "Mars"
    let second = try planets.put([UInt8]("the rusty one"), at: name, durability: .buffered)
    #expect(try planets.get(name, as: String.self) == "the rusty one")
    #expect(try planets.get("Mars", as: String.self, at: before) == "the red one")
    #expect(try planets.get("Mars") == [UInt8]("the rusty one"))
    #expect(try planets.get("Mars", at: before) == [UInt8]("the red one"))
    #expect(try planets.row("Mars")?.sequence == second)
    #expect(try planets.row("Mars", at: before)?.sequence == first)
    #expect(try planets.row("Mars")?.text == "the rusty one")
    #expect(try planets.stamp(of: "Mars") == RowStamp(version: 2, sequence: second))
    #expect(try planets.stamp(of: "Mars", at: before) == RowStamp(version: 1, sequence: first))
    #expect(try planets.withValue("Mars") { $0.byteCount } == 13)
    #expect(try planets.withValue("Mars", at: before) { $0.byteCount } == 11)
    #expect(try planets.get(many: ["Venus", "Mars"]) == [nil, [UInt8]("the rusty one")])
    try planets.delete("Mars", expecting: .sequence(second))
    #expect(try !planets.contains("Mars"))
    #expect(try planets.contains("Mars", at: before))
    #expect(try planets.get("Mars", as: String.self) == nil)
  }

  @Test("Text that is not UTF-8 is refused, and bytes and spans are read as they are.") func otherValues() throws {
    try planets.put([0xFF, 0xFE], at: "Mars")
    #expect(failure { _ = try planets.get("Mars", as: String.self) }?.code == .malformed)
    #expect(try planets.row("Mars")?.text == nil)
    let bytes: [UInt8] = [1, 2, 3]
    try unsafe planets.put(bytes.span.bytes, at: "Mars")
    try store.write { batch in
      try unsafe planets.put(bytes.span.bytes, at: 1, in: &batch)
      try unsafe planets.put(bytes.span.bytes, bytes: bytes.span.bytes, in: &batch)
    }
    #expect(try planets.get("Mars") == bytes && planets.get(1) == bytes && planets.get(Key.bytes(bytes)) == bytes)
    #expect(try unsafe planets.get(Key(copying: bytes.span.bytes)) == bytes)
  }

  @Test("A batch changes rows of several keyspaces together, and returns what its body returns.") func batch() throws {
    let (count, sequence) = try store.write { batch in
      try planets.put("red", at: "Mars", in: &batch)
      try moons.put("big", at: ["Mars", "Phobos"], in: &batch)
      try moons.put("small", at: ["Mars", "Deimos"], in: &batch)
      return 3
    }
    #expect(count == 3 && sequence == store.lastSequence)
    #expect(
      failure {
        try store.write { batch in
          try planets.check("Venus", .present, in: &batch)
          try moons.delete(["Mars", "Phobos"], in: &batch)
        }
      }?.code == .conflict)
    #expect(try moons.count() == 2)
    let deleted = try store.write { batch in
      try moons.delete(Key("Mars", "Phobos"), expecting: .present, in: &batch)
    }
    #expect(try deleted == store.lastSequence && moons.count() == 1)
  }

  @Test("Ranges are Swift's own, prefixes, and ranges of bounds that may be the wrong way round.") func ranges() throws
  {
    for name in ["Earth", "Jupiter", "Mars", "Mercury", "Venus"] { try planets.put(name, at: name) }
    func names(_ range: some KeyRangeConvertible) throws -> String {
      try planets.rows(range).compactMap(\.text).joined(separator: " ")
    }
    #expect(try names("J"..<"Mercury") == "Jupiter Mars")
    #expect(try names("Jupiter"..."Mercury") == "Jupiter Mars Mercury")
    #expect(try names("Mercury"...) == "Mercury Venus")
    #expect(try names(..<"Jupiter") == "Earth")
    #expect(try names(..."Jupiter") == "Earth Jupiter")
    #expect(try names(.all) == "Earth Jupiter Mars Mercury Venus")
    #expect(try names(.prefix("M")) == "Mars Mercury")
    #expect(try names(.after("Mars")) == "Mercury Venus")
    #expect(try names(KeyRange(from: "V", to: "E")) == "")
    #expect(try names(KeyRange(from: "Earth", through: "Earth")) == "Earth")
    #expect(try names(KeyRange.prefix("M").after("Mars")) == "Mercury")
    #expect(try names(KeyRange.prefix("M").after("Venus")) == "")
    #expect(try names(KeyRange.prefix("M").before("Mercury")) == "Mars")
    #expect(try names(KeyRange.all.from("Mars").through("Mercury")) == "Mars Mercury")
    #expect(try planets.first()?.text == "Earth" && planets.last()?.text == "Venus")
    #expect(try planets.first("K"...)?.text == "Mars" && planets.last(..<"K")?.text == "Jupiter")
    #expect(try planets.first("X"...) == nil)
    #expect(try planets.count() == 5 && planets.count(.prefix("M")) == 2)
    #expect(try planets.rows("J"..., reverse: true, limit: 2).compactMap(\.text) == ["Venus", "Mercury"])
    var seen: [String] = []
    try planets.scan("J"...) { key, _, _ in
      seen.append("\(try Key(encoded: key))")
      return seen.count < 2 ? .next : .stop
    }
    #expect(seen == ["\"Jupiter\"", "\"Mars\""])
    let before = store.snapshot()
    #expect(try planets.deleteRows(.prefix("M")) == 2)
    #expect(try names(.all) == "Earth Jupiter Venus")
    #expect(try planets.count(at: before) == 5 && planets.rows("M"..., at: before).count == 3)
    #expect(try store.write { batch in try planets.deleteRows(.all, in: &batch) }.result == 3)
    #expect(try planets.first() == nil)
  }

  @Test("Concurrent updates of one row lose nothing.") func updates() async throws {
    try await withThrowingTaskGroup(of: Void.self) { group in
      for _ in 0..<4 {
        group.addTask {
          for _ in 0..<100 {
            try planets.update("count", as: String.self, durability: .buffered) {
              $0 = "\(($0.flatMap { Int($0) } ?? 0) + 1)"
            }
          }
        }
      }
      try await group.waitForAll()
    }
    #expect(try planets.get("count", as: String.self) == "400")
    struct Refusal: Error {}
    #expect(throws: Refusal.self) {
      try planets.update("count") { value in
        value = nil
        throw Refusal()
      }
    }
    #expect(try planets.contains("count"))
    let old = try planets.update("count") { value in
      defer { value = nil }
      return value
    }
    #expect(try old == [UInt8]("400") && !planets.contains("count"))
    let sequence = store.lastSequence
    try planets.update("count") { _ in }
    #expect(store.lastSequence == sequence)
  }

  @Test("A keyspace drops itself, and retains versions.") func life() throws {
    try planets.setRetention(.last(2))
    for value in ["a", "b", "c"] { try planets.put(value, at: 1) }
    #expect(try planets.history(of: 1).map { $0.value ?? [] } == [[UInt8]("c"), [UInt8]("b")])
    let before = store.snapshot()
    try planets.drop(durability: .buffered)
    #expect(try planets.get(1) == nil && planets.get(1, at: before) != nil)
    #expect(failure { try planets.put("d", at: 1) }?.code == .keyspaceDropped)
  }

  @Test("A snapshot of another store is refused.") func otherStore() throws {
    let other = try Machine().open()
    #expect(failure { _ = try planets.get(1, at: other.snapshot()) }?.code == .foreignKeyspace)
    #expect(failure { _ = try planets.rows(at: other.snapshot()) }?.code == .foreignKeyspace)
  }
}
