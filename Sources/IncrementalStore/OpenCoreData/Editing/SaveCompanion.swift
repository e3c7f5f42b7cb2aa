/// Writes more rows and entries with each save, and each batch request, of a store: in the same batch.
package protocol SaveCompanion: AnyObject {
  /// The rows and entries to write with the changes of some objects. Called again if the save is attempted again.
  func additions(
    to changed: [ChangedRow], _ entries: EntryDifference, _ snapshot: any RowSnapshot
  ) throws -> RowAdditions

  /// Called after a save of objects.
  func wereSaved(_ changed: [ChangedRow])
}

/// An object that a save changes.
package struct ChangedRow {
  package let object: ObjectReference
  /// The bytes of the row before the save; nil if there was none.
  package let stored: [UInt8]?
  /// The bytes after the save; nil if the object is deleted.
  package let bytes: [UInt8]?
}

/// The entries that a save removes and adds.
package struct EntryDifference {
  package let removed: [[UInt8]]
  package let added: [[UInt8]]
}

/// Rows and entries that are written besides those of objects.
package struct RowAdditions {
  package struct Row {
    let table: UInt32
    let reference: RowReference
    /// Nil to delete the row.
    let bytes: [UInt8]?
  }

  private(set) var rows: [Row] = []
  private(set) var entries = EntryChanges()

  package init() {}

  package mutating func put(_ bytes: [UInt8], at reference: RowReference, in table: UInt32) {
    set(Row(table: table, reference: reference, bytes: bytes))
  }

  package mutating func delete(_ reference: RowReference, in table: UInt32) {
    set(Row(table: table, reference: reference, bytes: nil))
  }

  package mutating func add(entry: [UInt8]) { entries.add(entry) }
  package mutating func remove(entry: [UInt8]) { entries.withdraw(entry) }

  private mutating func set(_ row: Row) { rows.append(row) }

  /// Adds everything to the changes of a save; of several rows with one reference, the last.
  func add(to changes: inout RowChanges, _ snapshot: any RowSnapshot) throws {
    var last: [UInt32: [RowReference: Row]] = [:]
    for row in rows { last[row.table, default: [:]][row.reference] = row }
    for row in last.values.flatMap(\.values) {
      let revision = try snapshot.row(row.reference, in: row.table)?.revision
      if row.bytes == nil, revision == nil { continue }
      changes.rows.append(
        RowChanges.Row(
          table: row.table, reference: row.reference, change: row.bytes.map { .put($0) } ?? .delete,
          revision: revision))
    }
    changes.rows.sort { ($0.table, $0.reference) < ($1.table, $1.reference) }
    let (removed, added) = entries.sorted
    changes.removals = changes.removals.merged(with: removed)
    changes.additions = changes.additions.merged(with: added)
  }
}

extension RowIncrementalStore {
  func addCompanions(
    of objects: [SavedObject], to changes: inout RowChanges, _ snapshot: any RowSnapshot
  ) throws {
    guard let companion, !objects.isEmpty else { return }
    let entries = EntryDifference(removed: changes.removedEntries, added: changes.addedEntries)
    try companion.additions(to: objects.map(ChangedRow.init), entries, snapshot).add(to: &changes, snapshot)
  }

  func companionsWereSaved(with objects: [SavedObject]) {
    guard let companion, !objects.isEmpty else { return }
    companion.wereSaved(objects.map(ChangedRow.init))
  }
}

extension ChangedRow {
  fileprivate init(_ saved: SavedObject) {
    self.init(object: saved.reference, stored: saved.stored?.bytes, bytes: saved.bytes)
  }
}
