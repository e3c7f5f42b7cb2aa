import CoreData
import IncrementalStore

/// A row store that does something when it has saved several times, and then goes on, or fails; and that counts what is
/// saved at once.
final class EndingRows: RowStore, @unchecked Sendable {
  private let rows: any RowStore
  private var left: Int
  private var meanwhile: (() throws -> Void)?
  /// The most entries that one save has changed.
  private(set) var mostEntries = 0
  /// The most rows that one save has changed.
  private(set) var mostRows = 0
  private(set) var saves = 0

  init(_ rows: any RowStore, after count: Int = .max, _ meanwhile: (() throws -> Void)? = nil) {
    (self.rows, left, self.meanwhile) = (rows, count, meanwhile)
  }

  var referenceKind: RowReferenceKind { rows.referenceKind }
  func snapshot() throws -> any RowSnapshot { try rows.snapshot() }
  func reserveReferences(_ count: Int) throws -> [RowReference] { try rows.reserveReferences(count) }
  func close() throws { try rows.close() }

  func save(_ changes: (any RowSnapshot) throws -> RowChanges) throws -> UInt64 {
    if left == 0, let meanwhile {
      (left, self.meanwhile) = (.max, nil)
      try meanwhile()
    }
    guard left > 0 else { throw CocoaError(.userCancelled) }
    left -= 1
    saves += 1
    return try rows.save { snapshot in
      let changes = try changes(snapshot)
      mostEntries = max(mostEntries, changes.addedEntries.count + changes.removedEntries.count)
      mostRows = max(mostRows, changes.rows.count)
      return changes
    }
  }
}
