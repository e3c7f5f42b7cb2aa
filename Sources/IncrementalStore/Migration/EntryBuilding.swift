import CoreData

/// Adds the entries that a new schema needs before the store has that schema, in steps that are one save each.
///
/// They have numbers that the former schema does not have. It lists these numbers as those of entries that are to be
/// removed, so that they are removed if the migration never ends.
struct EntryBuilding {
  private let rows: any RowStore
  private let url: URL
  private let model: NSManagedObjectModel
  private let coder: ValueCoder
  /// How many rows or entries are read in one step.
  private let limit: Int

  init(_ rows: any RowStore, _ url: URL, _ model: NSManagedObjectModel, _ coder: ValueCoder, limit: Int) {
    self.rows = rows
    self.url = url
    self.model = model
    self.coder = coder
    self.limit = limit
  }

  func run(_ progress: MigrationProgress) throws {
    guard !rows.placesEntriesBySchema, let head = try StoreHead.load(rows.snapshot(), url) else { return }
    for source in try ReservedNumbers.evolution(head, model, coder).entrySources {
      var reader = source.reader()
      repeat { try progress.checkCancelled() } while try advance(source, &reader, head.stored, progress)
    }
  }

  /// Adds the next entries, unless somebody else has ended the migration in the meantime.
  ///
  /// - Returns: Whether there are more.
  private func advance(
    _ source: any EntrySource, _ reader: inout any EntryReader, _ former: Schema, _ progress: MigrationProgress
  ) throws -> Bool {
    var after = reader
    var hasMore = false
    var count = 0
    _ = try rows.save { snapshot in
      var changes = RowChanges()
      (after, hasMore, count) = (reader, false, 0)
      guard let head = try StoreHead.load(snapshot, url), head.stored.migrations == former.migrations else {
        return changes
      }
      var entries = EntryChanges()
      hasMore = try after.read(snapshot, limit: limit) { entries.add($0) }
      changes.additions = entries.sorted.added
      count = changes.additions.count
      if count > 0 { changes.rows = try Self.listing([source.number], head.stored, snapshot) }
      return changes
    }
    reader = after
    progress.advance(by: count)
    return hasMore
  }

  /// Removes what has been added, in steps that are one save each.
  func withdraw() throws {
    var hasMore = false
    repeat {
      _ = try rows.save { snapshot in
        var changes = RowChanges()
        hasMore = false
        guard let head = try StoreHead.load(snapshot, url) else { return changes }
        let numbers = try ReservedNumbers.evolution(head, model, coder).entrySources.map(\.number)
        guard let number = numbers.first(where: { head.stored.removals.contains(.entries($0)) }) else { return changes }
        hasMore = true
        try snapshot.forEachEntry(beginningWith: Entry.all(of: number)) { entry in
          changes.removals.append(entry)
          return changes.removals.count < limit
        }
        guard changes.removals.count < limit else { return changes }
        var schema = head.stored
        schema.removals.removeAll { $0 == .entries(number) }
        changes.rows = [try StoreHead.change(StoreHead.schemaReference, schema.bytes, snapshot)]
        return changes
      }
    } while hasMore
  }

  /// The change of a schema that does not list some entries as ones to be removed; none if it does.
  static func listing(_ numbers: [UInt32], _ schema: Schema, _ snapshot: any RowSnapshot) throws -> [RowChanges.Row] {
    var schema = schema
    let unlisted = numbers.map { Schema.Removal.entries($0) }.filter { !schema.removals.contains($0) }
    guard !unlisted.isEmpty else { return [] }
    schema.removals += unlisted
    return [try StoreHead.change(StoreHead.schemaReference, schema.bytes, snapshot)]
  }
}
