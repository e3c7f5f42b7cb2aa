import IncrementalStore

/// What a store does wrong.
struct Fault: Sendable {
  typealias Changes = (any RowSnapshot) throws -> RowChanges

  /// What is wrong, as a sentence.
  let name: String
  /// The check that must find it.
  let check: String
  var kind = RowReferenceKind.integer
  /// Changes what is saved.
  var changes: @Sendable (inout RowChanges) -> Void = { _ in }
  var save: @Sendable (MemoryRowStore, Changes) throws -> UInt64 = { try $0.save($1) }
  var close: @Sendable () -> Void = {}
  var reserve: @Sendable (MemoryRowStore, Int) -> [RowReference] = { $0.reserveReferences($1) }
  var snapshot: @Sendable (MemoryRowStore) -> any RowSnapshot = { $0.snapshot() }
  /// Whether each store that is opened has a database of its own.
  var losesContents = false
  /// Changes a snapshot before it is used.
  var reads: @Sendable (FaultySnapshot) -> Void = { _ in }

  init(_ name: String, foundBy check: String, _ setUp: (inout Fault) -> Void) {
    (self.name, self.check) = (name, check)
    setUp(&self)
  }
}

/// A store in memory with a fault.
final class FaultyStore: RowStore {
  private let base: MemoryRowStore
  private let fault: Fault

  init(_ fault: Fault, _ base: MemoryRowStore) { (self.fault, self.base) = (fault, base) }

  var referenceKind: RowReferenceKind { base.referenceKind }

  func snapshot() -> any RowSnapshot { reading(fault.snapshot(base)) }

  func save(_ changes: (any RowSnapshot) throws -> RowChanges) throws -> UInt64 {
    try fault.save(base) { snapshot in
      var changes = try changes(reading(snapshot))
      fault.changes(&changes)
      return changes
    }
  }

  func reserveReferences(_ count: Int) -> [RowReference] { fault.reserve(base, count) }

  func close() { fault.close() }

  private func reading(_ snapshot: any RowSnapshot) -> FaultySnapshot {
    let faulty = FaultySnapshot(snapshot)
    fault.reads(faulty)
    return faulty
  }
}

/// A snapshot of which a fault replaces methods.
final class FaultySnapshot: RowSnapshot {
  typealias RowBody = (inout StoredRow) throws -> Bool
  typealias EntryBody = ([UInt8]) throws -> Bool

  let base: any RowSnapshot
  var row: (StoredRow) -> StoredRow? = { $0 }
  var forEachRow: (UInt32, RowReference?, RowBody) throws -> Void
  /// What becomes of the answer of a test of rows.
  var answer: (Bool) -> Bool = { $0 }
  /// The reference with which the references of rows begin.
  var firstReference: (RowReference?) -> RowReference? = { $0 }
  var forEachEntry: ([UInt8], [UInt8]?, Bool, EntryBody) throws -> Void
  var count: (UInt32) throws -> Int
  var rows: ([RowReference], UInt32) throws -> [StoredRow?]
  var entries: ([[UInt8]], Int) throws -> [[[UInt8]]]
  var together: ([UInt32: [RowReference]], [[UInt8]], Int) throws -> Together
  var isRemote = false
  var state: UInt64?

  typealias Together = (rows: [UInt32: [StoredRow?]], entries: [[[UInt8]]])

  init(_ base: any RowSnapshot) {
    self.base = base
    forEachRow = { try base.forEachRow(in: $0, from: $1, $2) }
    forEachEntry = { try base.forEachEntry(from: $0, before: $1, reverse: $2, $3) }
    count = { try base.count(in: $0) }
    rows = { try base.rows($0, in: $1) }
    entries = { try base.entries(beginningWith: $0, limit: $1) }
    together = { try base.rows($0, entriesBeginningWith: $1, limit: $2) }
  }

  func row(_ reference: RowReference, in table: UInt32) throws -> StoredRow? {
    try base.row(reference, in: table).flatMap(row)
  }

  func forEachRow(in table: UInt32, from first: RowReference?, _ body: RowBody) throws {
    try forEachRow(table, first) { row in
      guard var changed = self.row(row) else { return true }
      return try body(&changed)
    }
  }

  func forEachRow(
    in table: UInt32, from first: RowReference?, where test: (RawSpan) throws -> Bool, _ body: RowBody
  ) throws {
    try forEachRow(in: table, from: first) { row in
      let passes = unsafe try row.bytes.withUnsafeBytes { unsafe try test($0.bytes) }
      return try answer(passes) ? body(&row) : true
    }
  }

  func forEachReference(in table: UInt32, from first: RowReference?, _ body: (RowReference) throws -> Bool) throws {
    try forEachRow(in: table, from: firstReference(first)) { try body($0.reference) }
  }

  func count(in table: UInt32) throws -> Int { try count(table) }

  func forEachEntry(from lower: [UInt8], before upper: [UInt8]?, reverse: Bool, _ body: EntryBody) throws {
    try forEachEntry(lower, upper, reverse, body)
  }

  func rows(_ references: [RowReference], in table: UInt32) throws -> [StoredRow?] {
    try rows(references, table).map { $0.flatMap(row) }
  }

  func entries(beginningWith prefixes: [[UInt8]], limit: Int) throws -> [[[UInt8]]] { try entries(prefixes, limit) }

  func rows(
    _ references: [UInt32: [RowReference]], entriesBeginningWith prefixes: [[UInt8]], limit: Int
  ) throws -> Together { try together(references, prefixes, limit) }
}
