import Foundation
import RowFormat

@testable import CairnInspection

/// A store in memory whose rows and entries a test can change freely.
final class MemoryStructure: StructureSource {
  var rows: [UInt32: [RowReference: [UInt8]]] = [:]
  var touches: [ObjectReference: [UInt8]] = [:]
  var packs: [(bound: [UInt8], bytes: [UInt8])] = []
  private(set) var lookups = 0
  /// Rows and packs that have been read or looked up. More than `mostVisits` are an error.
  private(set) var visits = 0
  var mostVisits = Int.max

  /// Two people who are friends; a dog of the first one, whose vet is the second.
  init() {
    rows[0] = [
      .integer(1): Samples.metadata, .integer(2): Samples.schema.bytes,
      .integer(3): NumbersGivenOut(store: 1, base: 0, range: 0, next: 100).bytes,
    ]
    rows[1] = [.integer(1): person("Ann"), .integer(2): person("Zoe\u{308}")]
    rows[10] = [.integer(3): dog(owner: 1, vet: 2)]
    entries = [
      Entry.member(.dog(3), of: .integer(1), 3),
      Entry.member(.person(2), of: .integer(1), 4, position: Entry.gap),
      Entry.member(.person(1), of: .integer(2), 4, position: Entry.gap),
      Entry.holder(.person(1), of: [6, 3] + Array("Ann".utf8), 5),
      Entry.holder(.person(2), of: [6, 4] + Array("Zo\u{EB}".utf8), 5),
    ]
  }

  /// All entries; setting them puts them into packs of two.
  var entries: [[UInt8]] {
    get { packs.flatMap { (try? Pack.entries($0.bytes).map { Array($0) }) ?? [] } }
    set {
      let sorted = newValue.sorted { $0.lexicographicallyPrecedes($1) }
      packs = stride(from: 0, to: sorted.count, by: 2).map { start -> (bound: [UInt8], bytes: [UInt8]) in
        let pack = EntryList(sorted[start..<min(start + 2, sorted.count)])
        return (start == 0 ? [] : sorted[start], Pack.bytes(pack[...]))
      }
    }
  }

  func findings() throws -> [StructureFinding] {
    var findings: [StructureFinding] = []
    try StructureChecker.run(self, normalized: \.precomposedStringWithCanonicalMapping) { findings.append($0) }
    return findings
  }

  var tables: [UInt32] { rows.keys.sorted() }

  struct TooManyVisits: Error {}

  private func visit() throws {
    visits += 1
    guard visits <= mostVisits else { throw TooManyVisits() }
  }

  func contains(_ reference: RowReference, in table: UInt32) throws -> Bool {
    try visit()
    return rows[table]?[reference] != nil
  }

  func row(_ reference: RowReference, in table: UInt32) throws -> [UInt8]? {
    lookups += 1
    try visit()
    return rows[table]?[reference]
  }

  func forEachRow(in table: UInt32, _ body: (RowReference, [UInt8]) throws -> Void) throws {
    for (reference, bytes) in (rows[table] ?? [:]).sorted(by: { $0.key < $1.key }) {
      try visit()
      try body(reference, bytes)
    }
  }

  func forEachTouch(_ body: (RowReference, UInt32, [UInt8]) throws -> Void) throws {
    for (object, bytes) in touches.sorted(by: { $0.key < $1.key }) {
      try visit()
      try body(object.reference, object.entity, bytes)
    }
  }

  func forEachPack(from entry: [UInt8], _ body: ([UInt8], [UInt8]) throws -> Bool) throws {
    let first = packs.lastIndex { !entry.lexicographicallyPrecedes($0.bound) } ?? 0
    for pack in packs.dropFirst(first) {
      try visit()
      guard try body(pack.bound, pack.bytes) else { return }
    }
  }
}

extension ObjectReference {
  static func person(_ number: Int64) -> ObjectReference { ObjectReference(entity: 1, reference: .integer(number)) }
  static func dog(_ number: Int64) -> ObjectReference { ObjectReference(entity: 10, reference: .integer(number)) }
}

func person(_ name: String?) -> [UInt8] {
  var row = FieldWriter()
  row.begin(2, name == nil ? .null : .string)
  if let name { row.withOutput { $0.text(name) } }
  return row.bytes
}

func dog(owner: Int64?, vet: Int64? = nil) -> [UInt8] {
  var row = FieldWriter()
  if let owner { row.object(.person(owner), 8) }
  if let vet { row.object(.person(vet), 9) }
  return row.bytes
}
