import RowFormat

/// The rows of a source with the values that a migration has given to rows without them.
struct CompletedSource<Source: StructureSource>: StructureSource {
  let source: Source
  private let completions: [UInt32: RowCompletion]

  init(_ source: Source, _ schema: Schema) {
    self.source = source
    completions = schema.completions
  }

  var tables: [UInt32] { source.tables }

  func contains(_ reference: RowReference, in table: UInt32) throws -> Bool {
    try source.contains(reference, in: table)
  }

  func row(_ reference: RowReference, in table: UInt32) throws -> [UInt8]? {
    try source.row(reference, in: table).map { completed($0, table) }
  }

  func forEachRow(in table: UInt32, _ body: (_ reference: RowReference, _ bytes: [UInt8]) throws -> Void) throws {
    try source.forEachRow(in: table) { reference, bytes in try body(reference, completed(bytes, table)) }
  }

  /// A damaged row stays as it is: the checker finds the damage.
  private func completed(_ row: [UInt8], _ table: UInt32) -> [UInt8] {
    guard let completion = completions[table] else { return row }
    return (try? completion.completed(row)) ?? row
  }

  func forEachTouch(_ body: (_ reference: RowReference, _ table: UInt32, _ bytes: [UInt8]) throws -> Void) throws {
    try source.forEachTouch(body)
  }

  func forEachPack(from entry: [UInt8], _ body: (_ bound: [UInt8], _ bytes: [UInt8]) throws -> Bool) throws {
    try source.forEachPack(from: entry, body)
  }
}
