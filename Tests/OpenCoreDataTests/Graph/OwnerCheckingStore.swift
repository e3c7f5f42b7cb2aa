import IncrementalStore
import RowFormat
import Testing

/// A row store that checks of each save what transactions rely on that are isolated by snapshots only: whoever adds a
/// member to a relationship also puts, touches or inserts the owner's row. Two such transactions then write the same
/// row, and the database refuses one of them, also if the other one deletes the owner.
final class OwnerCheckingStore: RowStore {
  private let rows: any RowStore

  init(_ rows: any RowStore) { self.rows = rows }

  var referenceKind: RowReferenceKind { rows.referenceKind }

  var keepsSnapshots: Bool { rows.keepsSnapshots }

  func snapshot() throws -> any RowSnapshot { try rows.snapshot() }

  func row(_ reference: RowReference, in table: UInt32) throws -> IncrementalStore.StoredRow? {
    try rows.row(reference, in: table)
  }

  func save(_ changes: (any RowSnapshot) throws -> RowChanges) throws -> UInt64 {
    try rows.save { snapshot in
      let changes = try changes(snapshot)
      try check(changes, snapshot)
      return changes
    }
  }

  private func check(_ changes: RowChanges, _ snapshot: any RowSnapshot) throws {
    // A change of the schema is in conflict with all other saves, which read it.
    guard !changes.addedEntries.isEmpty,
      !changes.rows.contains(where: { $0.table == 0 && $0.reference == .integer(2) }),
      let stored = try snapshot.row(.integer(2), in: 0)
    else { return }
    let schema = SchemaIndex(try Schema(stored.bytes))
    let written = Set(changes.rows.map(\.reference))
    for entry in changes.addedEntries {
      guard case .member(let relationship, let owner, _, _) = try EntryContent(entry, schema) else { continue }
      if !written.contains(owner) {
        Issue.record("A save adds a member of \(relationship.property.name) and leaves the row of its owner \(owner)")
      }
    }
  }

  func reserveReferences(_ count: Int) throws -> [RowReference] { try rows.reserveReferences(count) }

  func close() throws { try rows.close() }
}
