/// A row store whose rows are read as if they had been written with the newest schema.
///
/// Rows that were written before a migration may lack fields of new properties, or have null for properties that are no
/// longer optional. They are completed when they are read, and stay as they are until they are saved next.
final class CompletedRowStore: RowStore {
  private let rows: any RowStore
  private let completions: [UInt32: RowCompletion]

  /// - Returns: `rows` itself if no row needs to be completed.
  static func completing(_ rows: any RowStore, _ schema: Schema) -> any RowStore {
    let completions = schema.completions
    return completions.isEmpty ? rows : CompletedRowStore(rows, completions)
  }

  private init(_ rows: any RowStore, _ completions: [UInt32: RowCompletion]) {
    self.rows = rows
    self.completions = completions
  }

  var referenceKind: RowReferenceKind { rows.referenceKind }

  var keepsSnapshots: Bool { rows.keepsSnapshots }

  var hasIndexesOfItsOwn: Bool { rows.hasIndexesOfItsOwn }

  var placesEntriesBySchema: Bool { rows.placesEntriesBySchema }

  func snapshot() throws -> any RowSnapshot { try rows.snapshot().completed(by: completions) }

  func save(_ changes: (any RowSnapshot) throws -> RowChanges) throws -> UInt64 {
    try rows.save { try changes($0.completed(by: completions)) }
  }

  func reserveReferences(_ count: Int) throws -> [RowReference] { try rows.reserveReferences(count) }

  func close() throws { try rows.close() }
}

extension RowSnapshot {
  /// The snapshot with the values that rows lack, by the number of their entity.
  func completed(by completions: [UInt32: RowCompletion]) -> any RowSnapshot {
    completions.isEmpty ? self : CompletedSnapshot(self) { row, table in try completions[table]?.completed(row) }
  }
}

/// A snapshot that shows rows as if they had been written with the newest schema. So does a database that can search.
private final class CompletedSnapshot: MappedSnapshot, SearchingRowSnapshot, SchemaExpectingSnapshot {
  func expect(schemaRevision: UInt64, absent: [RowReference]) -> Bool {
    (snapshot as? any SchemaExpectingSnapshot)?.expect(schemaRevision: schemaRevision, absent: absent) ?? false
  }

  func compareSchema() throws { try (snapshot as? any SchemaExpectingSnapshot)?.compareSchema() }

  func search(for query: RowQuery) throws -> (any RowSearch)? {
    guard let search = try (snapshot as? any SearchingRowSnapshot)?.search(for: query) else { return nil }
    return WrappedSearch(search: search, tables: query.tables) { [self] row, table in
      row = try mapped(row, table) ?? row
    }
  }
}

/// A snapshot that shows some rows with other bytes.
class MappedSnapshot: RowSnapshot {
  fileprivate let snapshot: any RowSnapshot
  private let map: (_ row: [UInt8], _ table: UInt32) throws -> [UInt8]?

  /// - Parameter map: Returns other bytes for a row; nil if it stays as it is.
  init(_ snapshot: any RowSnapshot, _ map: @escaping (_ row: [UInt8], _ table: UInt32) throws -> [UInt8]?) {
    self.snapshot = snapshot
    self.map = map
  }

  func row(_ reference: RowReference, in table: UInt32) throws -> StoredRow? {
    guard let row = try snapshot.row(reference, in: table) else { return nil }
    return try mapped(row, table) ?? row
  }

  var isRemote: Bool { snapshot.isRemote }

  func rows(_ references: [RowReference], in table: UInt32) throws -> [StoredRow?] {
    try snapshot.rows(references, in: table).map { row in try row.map { try mapped($0, table) ?? $0 } }
  }

  func entries(beginningWith prefixes: [[UInt8]], limit: Int) throws -> [[[UInt8]]] {
    try snapshot.entries(beginningWith: prefixes, limit: limit)
  }

  func rows(
    _ references: [UInt32: [RowReference]], entriesBeginningWith prefixes: [[UInt8]], limit: Int
  ) throws -> (rows: [UInt32: [StoredRow?]], entries: [[[UInt8]]]) {
    var found = try snapshot.rows(references, entriesBeginningWith: prefixes, limit: limit)
    for table in references.keys {
      found.rows[table] = try found.rows[table]?.map { row in try row.map { try mapped($0, table) ?? $0 } }
    }
    return found
  }

  func forEachRow(in table: UInt32, from first: RowReference?, _ body: (inout StoredRow) throws -> Bool) throws {
    try snapshot.forEachRow(in: table, from: first) { row in
      guard var mapped = try mapped(row, table) else { return try body(&row) }
      return try body(&mapped)
    }
  }

  fileprivate func mapped(_ row: StoredRow, _ table: UInt32) throws -> StoredRow? {
    let bytes = try StoreFailure.reading("The row of \(ObjectReference(entity: table, reference: row.reference))") {
      try map(row.bytes, table)
    }
    guard let bytes else { return nil }
    return StoredRow(reference: row.reference, bytes: bytes, version: row.version, revision: row.revision)
  }

  func count(in table: UInt32) throws -> Int { try snapshot.count(in: table) }

  func forEachEntry(
    from lower: [UInt8], before upper: [UInt8]?, reverse: Bool, _ body: ([UInt8]) throws -> Bool
  ) throws {
    try snapshot.forEachEntry(from: lower, before: upper, reverse: reverse, body)
  }
}
