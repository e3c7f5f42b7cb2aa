import CoreData

/// Keeps the rows that it has handed out, and answers with them from then on. Therefore it has to find out itself,
/// during a save, that another client has changed a row meanwhile.
final class CachingStore: RecordingStore {
  override class var stalenessInterval: TimeInterval { -1 }

  fileprivate var cache: [Int: BackingRow] = [:]

  override func newValuesForObject(
    with objectID: NSManagedObjectID, with context: NSManagedObjectContext
  ) throws -> NSIncrementalStoreNode {
    try record(.values(name(objectID)))
    let number = number(objectID)
    let row = try cache[number] ?? row(objectID)
    cache[number] = row
    return NSIncrementalStoreNode(objectID: objectID, withValues: values(of: row), version: row.version)
  }

  override func save(_ request: NSSaveChangesRequest, with context: NSManagedObjectContext?) throws -> Any {
    try record(call(for: request))
    let known = (request.updatedObjects ?? []).union(request.deletedObjects ?? []).union(request.lockedObjects ?? [])
    let conflicts = known.compactMap(conflict)
    for object in known { cache[number(object.objectID)] = backing.rows[number(object.objectID)] }
    if !conflicts.isEmpty { throw cocoaError(133020, [NSPersistentStoreSaveConflictsErrorKey: conflicts]) }
    apply(request)
    for object in known { cache[number(object.objectID)] = backing.rows[number(object.objectID)] }
    return [Any]()
  }

  private func conflict(_ object: NSManagedObject) -> NSMergeConflict? {
    let number = number(object.objectID)
    guard let cached = cache[number], cached.version != backing.rows[number]?.version else { return nil }
    return NSMergeConflict(
      source: object, newVersion: Int(backing.rows[number]?.version ?? 0), oldVersion: Int(cached.version),
      cachedSnapshot: values(of: cached), persistedSnapshot: backing.rows[number].map(values))
  }
}

#if !canImport(Darwin)
  // Apple's Core Data does not tell stores which rows a merge names.
  extension CachingStore: RowCachingStore {
    func rowsMayBeStale(_ objectIDs: [NSManagedObjectID]) {
      for id in objectIDs { cache[number(id)] = nil }
    }
  }
#endif
