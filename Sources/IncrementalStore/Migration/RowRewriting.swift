import CoreData

/// Rewrites rows for a migration before the schema changes, in steps that are one save each.
///
/// Until the schema changes, the rows have the same meaning for the former model as before. A migration that does not
/// end can therefore be followed by a save of the former model, or by the same migration, which rewrites only the rows
/// that are not rewritten yet.
struct RowRewriting {
  private let rows: any RowStore
  private let url: URL
  private let model: NSManagedObjectModel
  private let coder: ValueCoder
  /// How many rows are read in one step.
  private let step: Int

  init(
    _ rows: any RowStore, _ url: URL, _ model: NSManagedObjectModel, _ coder: ValueCoder, step: Int
  ) {
    self.rows = rows
    self.url = url
    self.model = model
    self.coder = coder
    self.step = step
  }

  func run(_ progress: MigrationProgress) throws {
    guard let head = try StoreHead.load(rows.snapshot(), url) else { return }
    for (entity, rewriter) in Self.rewriters(try ReservedNumbers.evolution(head, model, coder)) {
      var next: RowReference?
      repeat {
        try progress.checkCancelled()
        next = try advance(entity, rewriter, from: next, head.stored, progress)
      } while next != nil
    }
  }

  static func rewriters(_ evolution: SchemaEvolution) -> [(entity: UInt32, rewriter: RowRewriter)] {
    evolution.former.entities.map(\.number).sorted().compactMap { entity in
      RowRewriter(entity, evolution.rewrites, evolution.former).map { (entity, $0) }
    }
  }

  /// How many rows are read, how many of them change, and how many bytes these have.
  ///
  /// - Parameter goOn: Called with the number of rows read so far.
  /// - Throws: 134190 if a row cannot be rewritten; what `goOn` throws.
  static func amount(
    _ rewriters: [(entity: UInt32, rewriter: RowRewriter)], _ snapshot: any RowSnapshot, _ goOn: (Int) throws -> Void
  ) throws -> (rows: Int, rewritten: Int, bytes: Int) {
    var amount = (rows: 0, rewritten: 0, bytes: 0)
    for (entity, rewriter) in rewriters {
      try snapshot.forEachRow(in: entity, from: nil) { row in
        amount.rows += 1
        try goOn(amount.rows)
        let bytes = try rewriter.rewritten(row, entity)
        if bytes != row.bytes {
          amount.rewritten += 1
          amount.bytes += bytes.count
        }
        return true
      }
    }
    return amount
  }

  /// Rewrites the next rows of an entity, unless somebody else has ended the migration in the meantime: from then on
  /// the new fields belong to the new model.
  ///
  /// - Returns: The first row that is left; nil if there is none.
  private func advance(
    _ entity: UInt32, _ rewriter: RowRewriter, from first: RowReference?, _ former: Schema,
    _ progress: MigrationProgress
  ) throws -> RowReference? {
    var rest: RowReference?
    var count = 0
    _ = try rows.save { snapshot in
      var changes = RowChanges()
      (rest, count) = (nil, 0)
      guard try StoreHead.load(snapshot, url)?.stored.migrations == former.migrations else { return changes }
      try snapshot.forEachRow(in: entity, from: first) { row in
        guard count < step else {
          rest = row.reference
          return false
        }
        count += 1
        let bytes = try rewriter.rewritten(row, entity)
        if bytes != row.bytes {
          changes.rows.append(
            RowChanges.Row(table: entity, reference: row.reference, change: .put(bytes), revision: row.revision))
        }
        return true
      }
      return changes
    }
    progress.advance(by: count)
    return rest
  }
}
