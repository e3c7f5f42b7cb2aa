public import CoreData

/// How a fetch found its results, and what it has read to find them.
public struct FetchReport: Sendable, Hashable {
  /// The name of the entity.
  public let entityName: String
  /// How the rows that may satisfy the predicate were found without reading the others, in words; nil if all rows were
  /// read.
  public let path: String?
  /// How many entries of relationships and of unique values were read.
  public let entriesRead: Int
  /// How many rows were read, also of related objects; a row counts each time that it is read.
  public let rowsRead: Int
  /// How many objects, identifiers or dictionaries the fetch has found, or the number if it counts.
  public let results: Int
  /// What was sent to a database that searches, in this order. Empty for other databases.
  public let statements: [SentStatement]
  /// How long it took.
  public let duration: Duration
}

extension FetchReport: CustomStringConvertible {
  /// The report in one line.
  public var description: String {
    """
    \(entityName): \(path ?? "all rows"). Entries read: \(entriesRead), rows read: \(rowsRead), found: \(results), \
    in \((duration / .microseconds(1)).rounded() / 1000) ms
    """
  }
}

extension RowIncrementalStore {
  /// Executes a fetch, and reports how its results were found.
  ///
  /// Objects that the context has not saved play no part in it. Call it on the context's queue.
  ///
  /// - Throws: `NSPersistentStoreOperationError` if the store has been removed; the errors of the fetch.
  public func report(
    of request: NSFetchRequest<NSManagedObject>, in context: NSManagedObjectContext
  ) throws -> FetchReport {
    let removed = StoreFailure.make(
      NSPersistentStoreOperationError, "The store was removed from its coordinator.")
    guard let coordinator = persistentStoreCoordinator else { throw removed }
    return try coordinator.performAndWait {
      // Another thread may have removed the store in the meantime.
      guard persistentStoreCoordinator != nil else { throw removed }
      return try RowFetch(self, context).report(request)
    }
  }
}
