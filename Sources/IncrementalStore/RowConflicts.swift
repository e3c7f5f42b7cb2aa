import CoreData

/// An object whose row was changed by another coordinator or another program.
struct RowConflict {
  let object: NSManagedObject
  let map: EntityMap
  /// The row in the row cache; nil for none.
  let known: CachedRow?
  /// The row in the store; nil for none.
  let stored: StoredRow?
}

/// The reason why a save did not take place. Sendable, because errors must be; only the thread that saves catches it.
struct RowConflicts: Error, @unchecked Sendable {
  let conflicts: [RowConflict]

  /// Updates the cache, so that a second attempt can succeed, and returns an error with a merge conflict for each
  /// object.
  func error(_ store: RowIncrementalStore) throws -> NSError {
    let merged = try conflicts.map { conflict in
      let id = conflict.object.objectID
      let made = NSMergeConflict(
        source: conflict.object, newVersion: Int(clamping: conflict.stored?.version ?? 0),
        oldVersion: Int(clamping: conflict.known?.version ?? conflict.object.contextVersion ?? 0),
        cachedSnapshot: try snapshot(conflict.known?.bytes, conflict, store),
        persistedSnapshot: try snapshot(conflict.stored?.bytes, conflict, store))
      made.revision = conflict.stored?.revision
      if let stored = conflict.stored {
        store.cache.set(CachedRow(stored), of: id)
      } else {
        store.cache.remove(id)
      }
      return made
    }
    let first = conflicts.first.map { ", the first \($0.object.objectID)" } ?? ""
    return StoreFailure.make(
      NSManagedObjectMergeError,
      "Rows were changed by another writer after they were read: \(conflicts.count)\(first).",
      [NSPersistentStoreSaveConflictsErrorKey: merged])
  }

  private func snapshot(
    _ row: [UInt8]?, _ conflict: RowConflict, _ store: RowIncrementalStore
  ) throws -> [String: Any]? {
    guard let row else { return nil }
    return try StoreFailure.reading("The row of \(conflict.object.objectID)") {
      try store.access.snapshot(row, conflict.map)
    }
  }
}
