import Foundation
import IncrementalStore

/// Saves rows first and entries later.
func saveInParts(_ store: MemoryRowStore, _ changes: Fault.Changes) throws -> UInt64 {
  var rest = RowChanges()
  let revision = try store.save { snapshot in
    var changes = try changes(snapshot)
    (rest.removedEntries, rest.addedEntries) = (changes.removedEntries, changes.addedEntries)
    (changes.removedEntries, changes.addedEntries) = ([], [])
    return changes
  }
  letOthersRun()
  _ = try store.save { _ in rest }
  return revision
}

/// Does not prevent other saves between the snapshot and the changes.
func saveLate(_ store: MemoryRowStore, _ changes: Fault.Changes) throws -> UInt64 {
  let changes = try changes(store.snapshot())
  letOthersRun()
  return try store.save { _ in changes }
}

/// Prevents only other saves of the same rows between the snapshot and the changes.
func saveUnlessRowsChanged(_ store: MemoryRowStore, _ changes: Fault.Changes) throws -> UInt64 {
  while true {
    let changes = try changes(store.snapshot())
    letOthersRun()
    do {
      return try store.save { snapshot in
        for row in changes.rows where try snapshot.row(row.reference, in: row.table)?.revision != row.revision {
          throw Conflict()
        }
        return changes
      }
    } catch is Conflict {}
  }
}

private struct Conflict: Error {}

/// Shows what is saved while it is being held.
final class LiveSnapshot: RowSnapshot {
  private let store: MemoryRowStore

  init(_ store: MemoryRowStore) { self.store = store }

  private var current: any RowSnapshot {
    letOthersRun()
    return store.snapshot()
  }

  func row(_ reference: RowReference, in table: UInt32) throws -> StoredRow? {
    try current.row(reference, in: table)
  }

  func forEachRow(in table: UInt32, from first: RowReference?, _ body: (inout StoredRow) throws -> Bool) throws {
    try current.forEachRow(in: table, from: first, body)
  }

  func count(in table: UInt32) throws -> Int { try current.count(in: table) }

  func forEachEntry(
    from lower: [UInt8], before upper: [UInt8]?, reverse: Bool, _ body: ([UInt8]) throws -> Bool
  ) throws {
    try current.forEachEntry(from: lower, before: upper, reverse: reverse, body)
  }
}

/// Gives out each snapshot one call late. All access is under the lock.
final class LateSnapshots: @unchecked Sendable {
  private let lock = NSLock()
  private var last: (any RowSnapshot)?

  /// The snapshot of the last call; the first call gets its own.
  func last(_ new: any RowSnapshot) -> any RowSnapshot {
    lock.withLock {
      defer { last = new }
      return last ?? new
    }
  }
}

/// Lets other threads run at a moment at which that does harm.
private func letOthersRun() { for _ in 0..<5 { sched_yield() } }
