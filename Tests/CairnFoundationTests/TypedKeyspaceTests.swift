import Cairn
@testable import CairnFoundation
import CairnSimulation
import Foundation
import Testing

struct Note: Codable, Hashable, Sendable {
  var folder: String
  var title: String
  var slug: String?
  var tags: [String] = []
  var deadline: Date?
}

let byFolder = ValueIndex<Note>("by folder") { Key($0.folder, $0.title) }
let bySlug = ValueIndex<Note>("by slug", isUnique: true) { $0.slug }
let byTag = ValueIndex<Note>("by tag", keys: { $0.tags })
let byDeadline = ValueIndex<Note>("by deadline") { $0.deadline }

/// A store in a folder that is removed in the end.
final class Folder {
  let path = FileManager.default.temporaryDirectory.appending(path: "typed \(UUID())").path
  deinit { try? FileManager.default.removeItem(atPath: path) }

  func open(_ access: StoreOptions.Access = .readWrite) throws -> Store {
    var options = StoreOptions()
    options.access = access
    return try Store.open(at: path, options: options)
  }
}

@Suite struct TypedKeyspaceTests {
  private let folder = Folder()
  private let store: Store
  private let notes: TypedKeyspace<UUID, Note>

  init() throws {
    store = try folder.open()
    notes = try TypedKeyspace("notes", in: store, indexes: [byFolder, bySlug, byTag, byDeadline])
  }

  private func titles(_ found: [(id: UUID, value: Note)]) -> [String] { found.map(\.value.title) }

  @Test("Values are found by their identifiers and by every index, now and in a snapshot.") func reading() throws {
    let (milk, bread, taxes) = (UUID(), UUID(), UUID())
    let noon = Date(timeIntervalSinceReferenceDate: 1000)
    try notes.put(Note(folder: "home", title: "milk", slug: "milk", tags: ["shop", "shop", "food"]), at: milk)
    try notes.put(Note(folder: "home", title: "bread", tags: ["food"], deadline: noon + 1), at: bread)
    try notes.put(Note(folder: "work", title: "taxes", slug: "taxes", deadline: noon), at: taxes)
    let before = store.snapshot()
    #expect(try notes.get(milk)?.title == "milk" && notes.contains(bread) && notes.count() == 3)
    #expect(titles(try notes.values(byFolder, at: "home")) == ["bread", "milk"])
    #expect(titles(try notes.values(byFolder, at: Key("home", "milk"))) == ["milk"])
    #expect(titles(try notes.values(byFolder, in: "home"..., reverse: true, limit: 2)) == ["taxes", "milk"])
    #expect(titles(try notes.values(byFolder, in: Key("home", "c")..<Key("work", "u"))) == ["milk", "taxes"])
    #expect(titles(try notes.values(byFolder, in: ..."home")) == ["bread", "milk"])
    #expect(titles(try notes.values(byFolder, in: ..<"work")) == ["bread", "milk"])
    #expect(titles(try notes.values(byFolder, in: "a"..."home")) == ["bread", "milk"])
    #expect(try notes.value(bySlug, at: "taxes")?.id == taxes && notes.value(bySlug, at: "none") == nil)
    #expect(Set(titles(try notes.values(byTag, at: "food"))) == ["milk", "bread"])
    #expect(try notes.count(byTag, at: "shop") == 1 && notes.count(byFolder, at: "home") == 2)
    #expect(titles(try notes.values(byDeadline, in: noon...)) == ["taxes", "bread"])
    #expect(
      try notes.update(milk) { note in
        note?.folder = "work"
        note?.slug = nil
        return note?.title
      } == "milk")
    #expect(titles(try notes.values(byFolder, at: "work")) == ["milk", "taxes"])
    #expect(titles(try notes.values(byFolder, at: "work", in: before)) == ["taxes"])
    #expect(try notes.value(bySlug, at: "milk") == nil && notes.value(bySlug, at: "milk", in: before)?.id == milk)
    #expect(try notes.deleteExpired(byDeadline, before: noon + 1) == 1)
    #expect(try notes.get(taxes) == nil && notes.get(bread) != nil)
    try notes.delete(bread)
    #expect(titles(try notes.values()) == ["milk"])
    #expect(try notes.values(byTag, at: "food").count == 1 && notes.values(byDeadline, in: noon...).isEmpty)
  }

  @Test("A unique key belongs to one value, and may change hands within a batch.") func uniqueness() throws {
    let (one, two) = (UUID(), UUID())
    try notes.put(Note(folder: "a", title: "one", slug: "x"), at: one)
    try notes.put(Note(folder: "a", title: "two", slug: "y"), at: two)
    #expect(throws: UniquenessViolation(index: "by slug", key: "x", holder: one.key)) {
      try notes.put(Note(folder: "a", title: "three", slug: "x"), at: UUID())
    }
    #expect(throws: UniquenessViolation(index: "by slug", key: "z", holder: one.key)) {
      try store.write { batch in
        try notes.put(Note(folder: "a", title: "one", slug: "z"), at: one, in: &batch)
        try notes.put(Note(folder: "a", title: "two", slug: "z"), at: two, in: &batch)
      }
    }
    try store.write { batch in
      try notes.update(one, in: &batch) { $0?.slug = nil }
      try notes.update(two, in: &batch) { $0?.slug = "x" }
      try notes.update(one, in: &batch) { $0?.slug = "y" }
    }
    #expect(try notes.value(bySlug, at: "x")?.id == two && notes.value(bySlug, at: "y")?.id == one)
    #expect(try notes.count() == 2)
  }

  @Test("A violation that a batch catches leaves nothing behind, and a change that fails half way refuses the batch.")
  func caught() throws {
    let (one, two) = (UUID(), UUID())
    try notes.put(Note(folder: "a", title: "one", slug: "x"), at: one)
    try notes.put(Note(folder: "a", title: "two", slug: "y", tags: ["t"]), at: two)
    try store.write { batch in
      #expect(throws: UniquenessViolation.self) {
        try notes.update(two, in: &batch) { $0 = Note(folder: "b", title: "two", slug: "x") }
      }
      try notes.update(one, in: &batch) { $0?.title = "1" }
    }
    try checkIndexes(notes)
    #expect(try notes.get(two)?.folder == "a" && notes.get(one)?.title == "1")
    #expect(throws: StoreError.self) {
      try store.write { batch in
        _ = try? notes.update(two, in: &batch) { $0?.folder = String(repeating: "long", count: 20_000) }
        try notes.update(one, in: &batch) { $0?.title = "2" }
      }
    }
    try checkIndexes(notes)
    #expect(try notes.get(one)?.title == "1")
  }

  @Test("Expectations hold, or are refused with the row that did not.") func expectations() throws {
    let id = UUID()
    let note = Note(folder: "a", title: "one")
    let first = try notes.put(note, at: id, expecting: .absent)
    for wrong in [Expectation.absent, .sequence(first + 1)] {
      let error = #expect(throws: StoreError.self) { try notes.put(note, at: id, expecting: wrong) }
      #expect(error?.code == .conflict && error?.conflicts.first?.key == id.key)
    }
    try notes.put(note, at: id, expecting: .sequence(first))
    try notes.delete(id, expecting: .present)
    #expect(throws: StoreError.self) { try notes.delete(id, expecting: .present) }
  }

  @Test("Writers at once lose no update and leave no wrong entry.") func concurrency() async throws {
    let ids = (0..<4).map { _ in UUID() }
    let notes = notes
    await withThrowingTaskGroup(of: Void.self) { group in
      for writer in 0..<4 {
        group.addTask {
          for round in 0..<50 {
            try notes.update(ids[round % 4], durability: .buffered) { note in
              var present = note ?? Note(folder: "0", title: "")
              present.title += "x"
              present.folder = "\(writer)"
              present.slug = "\(ids[round % 4]) \(round)"
              note = present
            }
          }
        }
      }
    }
    #expect(try notes.values().reduce(0) { $0 + $1.value.title.count } == 200)
    try checkIndexes(notes)
  }

  /// `CAIRN_SEED` replays a random test.
  private static var given: UInt64? { ProcessInfo.processInfo.environment["CAIRN_SEED"].flatMap { UInt64($0) } }

  @Test(
    "Random changes keep the entries that follow from the values, in every kind of batch.",
    arguments: (0..<8).map { _ in UInt64.random(in: 0...UInt64.max) })
  func random(_ program: UInt64) throws {
    let seed = Self.given ?? program
    var random = SplitMix64(seed: seed)
    func pick(_ count: Int) -> Int { Int.random(in: 0..<count, using: &random) }
    func note() -> Note {
      Note(
        folder: "\(pick(3))", title: "\(pick(3))", slug: pick(2) == 0 ? nil : "\(pick(12))",
        tags: (0..<pick(3)).map { _ in "\(pick(4))" }, deadline: pick(2) == 0 ? nil : Date(timeIntervalSince1970: 1))
    }
    let ids = (0..<8).map { _ in UUID() }
    var expected: [UUID: Note] = [:]
    for _ in 0..<150 {
      var after = expected
      let changes = (0..<1 + pick(4)).map { _ in (id: ids[pick(8)], note: pick(4) == 0 ? nil : note()) }
      do {
        try store.write(durability: .buffered) { batch in
          for (id, note) in changes {
            after[id] = note
            if let note { try notes.put(note, at: id, in: &batch) } else { try notes.delete(id, in: &batch) }
          }
        }
        expected = after
      } catch is UniquenessViolation {
        #expect(Set(after.values.compactMap(\.slug)).count < after.values.compactMap(\.slug).count, "seed \(seed)")
      }
      let found = try Dictionary(uniqueKeysWithValues: notes.values().map { ($0.id, $0.value) })
      #expect(found == expected, "seed \(seed)")
      try checkIndexes(notes)
    }
  }

  @Test("An index that is new or has another version is built, and one that is not given is dropped.")
  func building() throws {
    for number in 0..<2500 {
      try notes.put(
        Note(folder: "\(number % 3)", title: "\(number)", tags: ["t"]), at: UUID(), durability: .buffered)
    }
    let byTitle = ValueIndex<Note>("by title", isUnique: true) { $0.title }
    let reversed = ValueIndex<Note>("by folder", version: 2) { String($0.title.reversed()) }
    let changed = try TypedKeyspace<UUID, Note>("notes", in: store, indexes: [byTitle, reversed])
    #expect(try changed.value(byTitle, at: "1234")?.value.title == "1234")
    #expect(try changed.values(reversed, at: "4321").map(\.value.title) == ["1234"])
    #expect(!store.keyspaces.contains { $0.name == "notes/by tag" })
    let again = try TypedKeyspace<UUID, Note>("notes", in: store, indexes: [byTitle, byTag])
    #expect(try again.count(byTag, at: "t") == 2500)
    let broken = ValueIndex<Note>("by folder", version: 3, isUnique: true) { $0.folder }
    #expect(throws: UniquenessViolation.self) {
      try TypedKeyspace<UUID, Note>("notes", in: store, indexes: [byTitle, byTag, broken])
    }
    try store.close()
    let reader = try folder.open(.readOnly)
    let read = try TypedKeyspace<UUID, Note>("notes", in: reader, indexes: [byTitle, byTag])
    #expect(try read.value(byTitle, at: "7") != nil)
    #expect(throws: StoreError.self) { try TypedKeyspace<UUID, Note>("notes", in: reader, indexes: [bySlug]) }
  }

  @Test("A value or a key of another type is refused with its place.") func foreign() throws {
    let id = UUID()
    try notes.keyspace.put("no JSON", at: id)
    let error = #expect(throws: StoreError.self) { try notes.get(id) }
    #expect(error?.code == .malformed && error?.message.contains("\(id.key)") == true)
    try notes.keyspace.delete(id)
    try notes.keyspace.put("{}", at: "text")
    #expect(throws: StoreError.self) { try notes.values() }
  }

  /// Expects each index to have exactly the entries that follow from the values.
  private func checkIndexes(_ notes: TypedKeyspace<UUID, Note>) throws {
    let all = try notes.values()
    func expect(_ index: ValueIndex<Note>, _ key: (Note) -> [Key]) throws {
      let wanted = all.flatMap { id, value in Set(key(value)).map { [$0, id.key] } }
      var found: [[Key]] = []
      for wanted in Set(wanted.map { $0[0] }) {
        found += try notes.values(index, at: wanted).map { [wanted, $0.id.key] }
      }
      #expect(Set(found) == Set(wanted) && found.count == wanted.count)
      let entries = try store.keyspace("notes/\(index.name)").count()
      #expect(entries == wanted.count)
    }
    try expect(byFolder) { [Key($0.folder, $0.title)] }
    try expect(bySlug) { $0.slug.map { [Key($0)] } ?? [] }
    try expect(byTag) { $0.tags.map { Key($0) } }
    try expect(byDeadline) { $0.deadline.map { [Key($0)] } ?? [] }
  }
}
