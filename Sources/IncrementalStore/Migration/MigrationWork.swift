/// What a migration writes before the save that changes the schema, and how much that is.
struct MigrationWork {
  let rewriters: [(entity: UInt32, rewriter: RowRewriter)]
  let sources: [any EntrySource]
  /// How many rows are read to be rewritten, and how many entries are added.
  private(set) var units = 0
  /// The bytes of these rows and entries, and of the entries of new indexes.
  private(set) var bytes = 0

  init(_ evolution: SchemaEvolution) {
    rewriters = RowRewriting.rewriters(evolution)
    sources = evolution.entrySources
  }

  /// - Parameters:
  ///   - indexes: The indexes that are built afterwards.
  ///   - goOn: Called with the number of rows and entries read so far.
  /// - Throws: 134190 if a row cannot be rewritten; what `goOn` throws.
  init(
    _ evolution: SchemaEvolution, _ indexes: [Schema.Index], _ snapshot: any RowSnapshot, _ goOn: (Int) throws -> Void
  ) throws {
    self.init(evolution)
    let amount = try RowRewriting.amount(rewriters, snapshot, goOn)
    (units, bytes) = (amount.rows, amount.bytes)
    var counted: [UInt32: (entries: Int, bytes: Int)] = [:]
    for source in sources {
      var entries = (entries: 0, bytes: 0)
      if let origin = (source as? RelationshipSource)?.origin, let known = counted[origin] {
        entries = (known.entries, known.bytes + known.entries * MemoryLayout<Int64>.size)
      } else {
        var reader = source.reader()
        _ = try reader.read(snapshot, limit: .max) { entry in
          entries.entries += 1
          entries.bytes += entry.count
          try goOn(units + entries.entries)
        }
      }
      counted[source.number] = entries
      units += entries.entries
      bytes += entries.bytes
    }
    let changes = Dictionary(uniqueKeysWithValues: rewriters.map { ($0.entity, $0.rewriter) })
    let rewritten = MappedSnapshot(snapshot) { row, table in try changes[table]?.rewritten(row) }
    for index in indexes {
      bytes += try IndexBuilder.amount(index, evolution.schema, rewritten) { try goOn(units + $0) }
    }
  }
}

extension SchemaEvolution {
  /// What gives the entries that the store does not have yet. Each follows from the former store and those before it.
  var entrySources: [any EntrySource] { KeySource.all(self) + sources }
}
