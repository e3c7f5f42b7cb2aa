import Cairn
import CairnSimulation

@testable import CairnIncrementalStore
import CairnInspection
import CoreData
import Foundation
import RowFormat
import Testing

/// Entries of a uniqueness constraint that do not agree with the rows although all checksums are right, as a program
/// that writes to the engine can leave them.
@Suite struct ForgedKeyTests {
  private static let damaged = CocoaError.fileReadCorruptFile.rawValue

  private let library = Library()
  private let coordinator: Coordinator

  init() throws {
    coordinator = try library.coordinator()
    try coordinator.work { context in
      for title in ["Emma", "Persuasion", "Sanditon", "Evelina"] {
        _ = context.insert(title == "Evelina" ? "Comic" : "Book", ["title": title])
      }
      try context.save()
    }
  }

  private struct Key {
    let constraint: UInt32
    var bytes: [UInt8]
    var holder: ObjectReference

    init(_ entry: [UInt8]) throws {
      var input = ByteInput(entry)
      constraint = try input.number()
      bytes = Array(entry[try input.counted()])
      holder = try input.object()
    }

    /// The key of a title in ASCII.
    static func bytes(_ title: String) -> [UInt8] { [6, UInt8(title.utf8.count)] + Array(title.utf8) }

    var title: String { String(decoding: bytes.dropFirst(2), as: UTF8.self) }
    var entry: [UInt8] { Entry.holder(holder, of: bytes, constraint) }
  }

  /// Changes the entries, which are all in one pack, through the engine.
  private func forge(_ change: (inout [Key]) throws -> Void) throws {
    let engine = try #require(coordinator.store.engine)
    let packs = try #require(engine.packs)
    let pack = try #require(try coordinator.packs().first)
    var keys = try Pack.entries(pack.value).map { try Key(Array($0)) }
    try change(&keys)
    let entries = EntryList(keys.map(\.entry).sorted { $0.lexicographicallyPrecedes($1) })
    _ = try engine.store.write(durability: .buffered) { batch in
      try batch.put(Pack.bytes(entries[...]), at: .bytes([]), in: packs)
    }
  }

  private func isDamaged() throws -> Bool { try !Verifier(at: library.url.path).run().damage.isEmpty }

  /// The code of the error of a save that takes no effect; nil if the save succeeds.
  private func saving(_ change: (NSManagedObjectContext) throws -> Void) throws -> Int? {
    try coordinator.work { context in
      try change(context)
      defer { context.rollback() }
      return code { try context.save() }
    }
  }

  private func titles() throws -> [String] {
    try coordinator.work { context in
      context.reset()
      return try context.all("Book").compactMap { $0["title"] as? String }.sorted()
    }
  }

  /// The book with a title, found without the entry of the title.
  private func book(_ title: String, _ context: NSManagedObjectContext) throws -> NSManagedObject {
    try #require(try context.all("Book").first { $0["title"] as? String == title })
  }

  @Test("A value whose entry names another object is refused as damaged, also to the object that the entry names.")
  func wrongHolder() throws {
    try forge { keys in
      let holder = try #require(keys.first { $0.title == "Persuasion" }).holder
      for place in keys.indices where keys[place].title == "Emma" { keys[place].holder = holder }
    }
    #expect(try isDamaged())
    #expect(try saving { try book("Persuasion", $0)["title"] = "Emma" } == Self.damaged)
    #expect(try saving { _ = $0.insert("Comic", ["title": "Emma"]) } == Self.damaged)
    #expect(try titles() == ["Emma", "Evelina", "Persuasion", "Sanditon"])
  }

  @Test("A value whose entry names an object that does not exist is refused as damaged.", arguments: [false, true])
  func noHolder(_ isOfOtherEntity: Bool) throws {
    try forge { keys in
      for place in keys.indices where keys[place].title == "Emma" {
        let holder = keys[place].holder
        keys[place].holder = ObjectReference(
          entity: isOfOtherEntity ? 999 : holder.entity, reference: isOfOtherEntity ? holder.reference : .integer(999))
      }
    }
    #expect(try isDamaged())
    #expect(try saving { _ = $0.insert("Book", ["title": "Emma"]) } == Self.damaged)
  }

  @Test("A value that has entries of two objects is refused as damaged.")
  func twoHolders() throws {
    try forge { keys in
      var copy = try #require(keys.first { $0.title == "Emma" })
      copy.holder = try #require(keys.first { $0.title == "Evelina" }).holder
      keys.append(copy)
    }
    #expect(try isDamaged())
    #expect(try saving { _ = $0.insert("Book", ["title": "Emma"]) } == Self.damaged)
    #expect(try saving { try book("Emma", $0)["title"] = "Emma!" } == Self.damaged)
  }

  @Test("An object whose entry is missing keeps its value until it is deleted, which leaves a sound store.")
  func missing() throws {
    try forge { keys in keys.removeAll { $0.title == "Emma" } }
    #expect(try isDamaged())
    #expect(try saving { try book("Emma", $0)["title"] = "Emma!" } == Self.damaged)
    #expect(try saving { try book("Emma", $0)["author"] = "Jane Austen" } == nil)
    #expect(try isDamaged())
    #expect(try saving { $0.delete(try book("Emma", $0)) } == nil)
    #expect(try !isDamaged())
  }

  /// `CAIRN_SEED` replays a failure.
  @Test("After random changes of entries, only a value whose entry is missing can get to a second object.")
  func random() throws {
    let given = ProcessInfo.processInfo.environment["CAIRN_SEED"].flatMap { UInt64($0) }
    let seed = given ?? .random(in: .min ... .max)
    print("CAIRN_SEED=\(seed)")
    for round in 0..<40 {
      let place: Comment = "CAIRN_SEED=\(seed), round \(round)"
      var random = SplitMix64(seed: seed &+ UInt64(round))
      let tests = try ForgedKeyTests()
      let missing = try tests.forgeAtRandom(&random)
      #expect(try tests.isDamaged(), place)
      for _ in 0..<12 {
        let code = try tests.saving { try Self.change($0, &random) }
        #expect([nil, Self.damaged, NSManagedObjectConstraintMergeError].contains(code), place)
      }
      let titles = try tests.titles()
      let repeated = Dictionary(grouping: titles) { $0 }.filter { $0.value.count > 1 }.keys
      #expect(missing.isSuperset(of: repeated), place)
    }
  }

  /// Returns the titles whose objects have lost their entries.
  private func forgeAtRandom(_ random: inout SplitMix64) throws -> Set<String> {
    var lost: Set<String> = []
    try forge { keys in
      let place = Int.random(in: 0..<keys.count, using: &random)
      let other = (place + Int.random(in: 1..<keys.count, using: &random)) % keys.count
      lost.insert(keys[place].title)
      switch Int.random(in: 0..<5, using: &random) {
      case 0: keys.remove(at: place)
      case 1: keys[place].bytes = Key.bytes("Cecilia")
      case 2: keys[place].holder = keys[other].holder
      case 3:
        lost.insert(keys[other].title)
        let holder = keys[place].holder
        keys[place].holder = keys[other].holder
        keys[other].holder = holder
      default:
        lost.remove(keys[place].title)
        var added = keys[place]
        added.bytes = Key.bytes("Cecilia")
        keys.append(added)
      }
      lost.subtract(keys.map(\.title))
    }
    return lost
  }

  private static func change(_ context: NSManagedObjectContext, _ random: inout SplitMix64) throws {
    let title = ["Emma", "Persuasion", "Sanditon", "Evelina", "Cecilia", "Camilla"].randomElement(using: &random)
    let books = try context.all("Book").sorted { "\($0.objectID)" < "\($1.objectID)" }
    let book = books.randomElement(using: &random)
    switch Int.random(in: 0..<4, using: &random) {
    case 0: _ = context.insert(["Book", "Comic"].randomElement(using: &random) ?? "", ["title": title ?? ""])
    case 1: book?["title"] = title
    case 2: book?["author"] = "\(random.next())"
    default: if books.count > 3, let book { context.delete(book) }
    }
  }
}
