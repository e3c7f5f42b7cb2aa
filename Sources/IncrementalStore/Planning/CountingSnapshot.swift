/// A snapshot that counts what is read from it.
final class CountingSnapshot: SearchingRowSnapshot, EntrySkippingSnapshot {
  private let snapshot: any RowSnapshot
  private(set) var rows = 0
  private(set) var entries = 0
  /// What searches have sent to the database.
  private(set) var statements: [SentStatement] = []

  init(_ snapshot: any RowSnapshot) { self.snapshot = snapshot }

  func row(_ reference: RowReference, in table: UInt32) throws -> StoredRow? {
    rows += 1
    return try snapshot.row(reference, in: table)
  }

  var isRemote: Bool { snapshot.isRemote }

  func rows(_ references: [RowReference], in table: UInt32) throws -> [StoredRow?] {
    rows += references.count
    return try snapshot.rows(references, in: table)
  }

  func entries(beginningWith prefixes: [[UInt8]], limit: Int) throws -> [[[UInt8]]] {
    let found = try snapshot.entries(beginningWith: prefixes, limit: limit)
    entries += found.reduce(0) { $0 + $1.count }
    return found
  }

  func forEachRow(in table: UInt32, from first: RowReference?, _ body: (inout StoredRow) throws -> Bool) throws {
    try snapshot.forEachRow(in: table, from: first) { row in
      rows += 1
      return try body(&row)
    }
  }

  func forEachRow(
    in table: UInt32, from first: RowReference?, where test: (RawSpan) throws -> Bool,
    _ body: (inout StoredRow) throws -> Bool
  ) throws {
    try snapshot.forEachRow(
      in: table, from: first,
      where: { row in
        rows += 1
        return try test(row)
      }, body)
  }

  func forEachReference(in table: UInt32, from first: RowReference?, _ body: (RowReference) throws -> Bool) throws {
    try snapshot.forEachReference(in: table, from: first) { reference in
      rows += 1
      return try body(reference)
    }
  }

  func count(in table: UInt32) throws -> Int { try snapshot.count(in: table) }

  func forEachEntry(
    from lower: [UInt8], before upper: [UInt8]?, reverse: Bool, _ body: ([UInt8]) throws -> Bool
  ) throws {
    try snapshot.forEachEntry(from: lower, before: upper, reverse: reverse) { entry in
      entries += 1
      return try body(entry)
    }
  }

  func skipEntries(
    _ most: Int, from lower: [UInt8], before upper: [UInt8]?, reverse: Bool
  ) throws -> (count: Int, bound: [UInt8])? {
    try (snapshot as? any EntrySkippingSnapshot)?.skipEntries(most, from: lower, before: upper, reverse: reverse)
  }

  func search(for query: RowQuery) throws -> (any RowSearch)? {
    var query = query
    query.noteStatement = { [unowned self] in statements.append($0) }
    guard let search = try (snapshot as? any SearchingRowSnapshot)?.search(for: query) else { return nil }
    return WrappedSearch(search: search, tables: query.tables) { [unowned self] _, _ in rows += 1 }
  }
}
