public import OpenCoreData

extension RowIncrementalStore: RowCachingStore {
  /// Removes the rows from the row cache.
  public func rowsMayBeStale(_ objectIDs: [NSManagedObjectID]) {
    for id in objectIDs { cache.remove(id) }
  }
}
