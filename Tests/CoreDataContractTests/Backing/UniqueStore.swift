import CoreData

/// Refuses a new person whose nickname another person has.
final class UniqueStore: RecordingStore {
  override func save(_ request: NSSaveChangesRequest, with context: NSManagedObjectContext?) throws -> Any {
    try record(call(for: request))
    let conflicts = (request.insertedObjects ?? []).compactMap(conflict)
    if !conflicts.isEmpty { throw cocoaError(133021, [NSPersistentStoreSaveConflictsErrorKey: conflicts]) }
    apply(request)
    return [Any]()
  }

  private func conflict(_ object: NSManagedObject) -> NSConstraintConflict? {
    guard let nickname = object["nickname"] as? String,
      let holder = backing.rows.first(where: { $0.value.attributes["nickname"] as? String == nickname })
    else { return nil }
    return NSConstraintConflict(
      constraint: ["nickname"], database: object.managedObjectContext?.object(with: identifier(holder.key)),
      databaseSnapshot: values(of: holder.value), conflicting: [object], conflictingSnapshots: [NSNull()])
  }
}
