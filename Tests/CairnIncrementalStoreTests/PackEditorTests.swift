import Cairn
@testable import CairnIncrementalStore
import Foundation
import RowFormat
import Testing

/// Random changes of packs, compared with a sorted set of entries.
@Suite struct PackEditorTests {
  /// `CAIRN_SEED` replays a failure.
  @Test(arguments: [[4...20], [150...230], [4...20, 150...230, 1000...9000], [8000...17_000]] as [[ClosedRange<Int>]])
  func randomChangesLeaveTheEntriesOfASortedSet(_ lengths: [ClosedRange<Int>]) throws {
    let given = ProcessInfo.processInfo.environment["CAIRN_SEED"].flatMap { UInt64($0) }
    let seed = given ?? .random(in: .min ... .max)
    print("CAIRN_SEED=\(seed)")
    var random = Sequence(state: seed)
    let url = FileManager.default.temporaryDirectory.appending(path: "packs \(UUID().uuidString)")
    defer { try? FileManager.default.removeItem(at: url) }
    let store = try Store.open(at: url.path)
    let keyspace = try store.keyspace("entries", order: .ordered)
    var expected: Set<[UInt8]> = []
    for round in 0..<60 {
      let (removed, added) = Self.changes(of: expected, lengths, &random)
      try apply(removed, added, store, keyspace)
      expected.subtract(removed)
      expected.formUnion(added)
      let packs = try packs(store, keyspace)
      #expect(
        packs.joined().map { $0 } == expected.sorted { $0.lexicographicallyPrecedes($1) },
        "CAIRN_SEED=\(seed), round \(round)")
      for entries in packs {
        #expect(entries.count <= PackEditor.mostEntries, "CAIRN_SEED=\(seed), round \(round)")
        #expect(
          entries.count == 1 || entries.joined().count <= PackEditor.mostBytes, "CAIRN_SEED=\(seed), round \(round)")
      }
    }
    try store.close()
  }

  @Test(
    "A pack that reaches into the next one is refused as damaged when it is joined, or when both change.",
    arguments: [(2, [[2, 2]]), (40, [[2, 2], [9, 10]])] as [(Int, Set<[UInt8]>)])
  func overlap(_ count: Int, _ added: Set<[UInt8]>) throws {
    let url = FileManager.default.temporaryDirectory.appending(path: "packs \(UUID().uuidString)")
    defer { try? FileManager.default.removeItem(at: url) }
    let store = try Store.open(at: url.path)
    let keyspace = try store.keyspace("entries", order: .ordered)
    let overlapping = (0..<UInt8(count)).map { [1, $0] } + [[9, 9]]
    _ = try store.write(durability: .buffered) { batch in
      try batch.put(Pack.bytes(EntryList(overlapping)[...]), at: .bytes([]), in: keyspace)
      try batch.put(Pack.bytes(EntryList([[5, 5], [6, 6]])[...]), at: .bytes([5, 5]), in: keyspace)
    }
    let before = try packs(store, keyspace)
    #expect(throws: NSError.self) { try apply([], added, store, keyspace) }
    #expect(try packs(store, keyspace) == before)
    try store.close()
  }

  /// Picks entries to remove, from none to nearly all, and entries to add.
  private static func changes(
    of entries: Set<[UInt8]>, _ lengths: [ClosedRange<Int>], _ random: inout Sequence
  ) -> (removed: Set<[UInt8]>, added: Set<[UInt8]>) {
    let share = [0, 0, 10, 10, 30, 95].randomElement(using: &random) ?? 0
    let removed = entries.sorted { $0.lexicographicallyPrecedes($1) }
      .filter { _ in Int.random(in: 0..<100, using: &random) < share }
    let count = Int.random(in: 0...3, using: &random) == 0 ? Int.random(in: 0...300, using: &random) : 1
    let added = (0..<count / lengths.count + 1).map { _ -> [UInt8] in
      let length = lengths.randomElement(using: &random).map { Int.random(in: $0, using: &random) } ?? 1
      let start = [UInt8.random(in: 0...3, using: &random), .random(in: 0...255, using: &random)]
      return start + [UInt8](repeating: .random(in: 0...255, using: &random), count: length - start.count)
    }
    return (Set(removed).subtracting(added), Set(added))
  }

  private func apply(
    _ removed: Set<[UInt8]>, _ added: Set<[UInt8]>, _ store: Store, _ keyspace: Keyspace
  ) throws {
    let snapshot = store.snapshot()
    defer { snapshot.close() }
    _ = try store.write(durability: .buffered) { batch in
      try PackEditor(snapshot, keyspace).apply(
        removed: EntryList(removed.sorted { $0.lexicographicallyPrecedes($1) }),
        added: EntryList(added.sorted { $0.lexicographicallyPrecedes($1) }), to: &batch)
    }
  }

  private func packs(_ store: Store, _ keyspace: Keyspace) throws -> [[[UInt8]]] {
    let rows = try store.snapshot().rows(in: keyspace)
    return try rows.map { row in try Pack.entries(row.value).map { Array($0) } }
  }

  private struct Sequence: RandomNumberGenerator {
    var state: UInt64

    mutating func next() -> UInt64 {
      state &+= 0x9E37_79B9_7F4A_7C15
      var mixed = state
      mixed = (mixed ^ mixed >> 30) &* 0xBF58_476D_1CE4_E5B9
      mixed = (mixed ^ mixed >> 27) &* 0x94D0_49BB_1331_11EB
      return mixed ^ mixed >> 31
    }
  }
}
