/// A row store whose rows are read as if they had been written with the newest schema.
///
/// Rows that were written before a migration may lack fields of new properties, or have null for properties that are no
/// longer optional. They are completed when they are read, and stay as they are until they are saved next.
final class CompletedRowStore: RowStore {
  private let rows: any RowStore
  private let schema: Schema

  /// - Returns: `rows` itself if no row needs to be completed.
  static func completing(_ rows: any RowStore, _ schema: Schema) -> any RowStore {
    schema.completesRows ? CompletedRowStore(rows, schema) : rows
  }

  private init(_ rows: any RowStore, _ schema: Schema) {
    self.rows = rows
    self.schema = schema
  }

  var referenceKind: RowReferenceKind { rows.referenceKind }

  func snapshot() throws -> any RowSnapshot { try rows.snapshot().completed(by: schema) }

  func save(_ changes: (any RowSnapshot) throws -> RowChanges) throws -> UInt64 {
    try rows.save { try changes($0.completed(by: schema)) }
  }

  func reserveReferences(_ count: Int) throws -> [RowReference] { try rows.reserveReferences(count) }

  func close() throws { try rows.close() }
}

extension RowSnapshot {
  /// The snapshot with the values of a schema for fields that rows lack.
  func completed(by schema: Schema) -> any RowSnapshot {
    guard schema.completesRows else { return self }
    var maps: [UInt32: MappedSnapshot.Map] = [:]
    for entity in schema.entities {
      guard let completion = RowCompletion(of: entity.number, schema) else { continue }
      maps[entity.number] = { row in try completion.completed(row) }
    }
    return MappedSnapshot(self, maps)
  }
}

extension Schema {
  fileprivate var completesRows: Bool {
    entities.contains { entity in
      entity.properties.contains { $0.valueIfAbsent != nil || $0.valueIfNull != nil }
    }
  }
}

/// A snapshot that shows the rows of some tables with other bytes.
final class MappedSnapshot: RowSnapshot {
  /// Returns other bytes for a row; nil if it stays as it is.
  typealias Map = (_ row: [UInt8]) throws -> [UInt8]?

  private let snapshot: any RowSnapshot
  /// By the number of the table.
  private let maps: [UInt32: Map]

  init(_ snapshot: any RowSnapshot, _ maps: [UInt32: Map]) {
    self.snapshot = snapshot
    self.maps = maps
  }

  func row(_ reference: RowReference, in table: UInt32) throws -> StoredRow? {
    guard let row = try snapshot.row(reference, in: table) else { return nil }
    return try mapped(row, table) ?? row
  }

  func forEachRow(in table: UInt32, from first: RowReference?, _ body: (inout StoredRow) throws -> Bool) throws {
    try snapshot.forEachRow(in: table, from: first) { row in
      guard var mapped = try mapped(row, table) else { return try body(&row) }
      return try body(&mapped)
    }
  }

  private func mapped(_ row: StoredRow, _ table: UInt32) throws -> StoredRow? {
    guard let map = maps[table] else { return nil }
    let object = ObjectReference(entity: table, reference: row.reference)
    guard let bytes = try StoreFailure.reading("The row of \(object)", { try map(row.bytes) }) else { return nil }
    return StoredRow(reference: row.reference, bytes: bytes, version: row.version, revision: row.revision)
  }

  func count(in table: UInt32) throws -> Int { try snapshot.count(in: table) }

  func forEachEntry(
    from lower: [UInt8], before upper: [UInt8]?, reverse: Bool, _ body: ([UInt8]) throws -> Bool
  ) throws {
    try snapshot.forEachEntry(from: lower, before: upper, reverse: reverse, body)
  }
}
