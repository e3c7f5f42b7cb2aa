import OpenCoreData

/// Batch requests: rows are written without nodes and objects, and nothing is put into the row cache.
extension RowIncrementalStore {
  /// Executes a batch request; nil for a request of another kind.
  func executeBatch(
    _ request: NSPersistentStoreRequest, _ context: NSManagedObjectContext?
  ) throws -> NSPersistentStoreResult? {
    switch request {
    case let request as NSBatchInsertRequest: try insert(request, context)
    case let request as NSBatchUpdateRequest: try update(request, context)
    case let request as NSBatchDeleteRequest: try delete(request, context)
    default: nil
    }
  }

  private func insert(
    _ request: NSBatchInsertRequest, _ context: NSManagedObjectContext?
  ) throws -> NSBatchInsertResult {
    var ids = BatchIDs(areWanted: request.resultType == .objectIDs)
    let map = try map(ofBatch: request.entityName)
    let insertion = try BatchInsertion(request, into: self, notesGiven: !map.constraints.isEmpty)
    let policy = context?.mergePolicyType ?? .errorMergePolicyType
    try BatchSaves.run(objectsPerSave: request.objectsPerSave, &ids) { limit, ids in
      let inserted = try BatchInserts(insertion, limit, map, self)
      if try saveRows(inserted, map, &ids) { return inserted.count == limit }
      let objects = try saveBatch(context) { snapshot, _ in try inserted.objects(snapshot, policy) }
      note([.inserted, .updated], of: objects, in: &ids)
      return inserted.count == limit
    }
    return NSBatchInsertResult(request.resultType, ids)
  }

  private func update(
    _ request: NSBatchUpdateRequest, _ context: NSManagedObjectContext?
  ) throws -> NSBatchUpdateResult {
    let fetch = NSFetchRequest<NSManagedObject>(entityName: request.entityName)
    fetch.entity = try entity(ofBatch: request.entityName)
    (fetch.predicate, fetch.includesSubentities) = (request.predicate, request.includesSubentities)
    var ids = BatchIDs(areWanted: request.resultType == .updatedObjectIDsResultType)
    try forEachPart(of: fetch, objectsPerSave: request.objectsPerSave, context, .updated, &ids) { part, map in
      try saveBatch(context) { snapshot, indexes in
        let source = RowSource(snapshot, access, indexes, context)
        let rows = try RowFetch(self, context).rows(part, of: map, source, keepingContents: true)
        return try BatchUpdates(request, map, self, source).objects(rows)
      }
    }
    return NSBatchUpdateResult(request.resultType, ids)
  }

  private func delete(
    _ request: NSBatchDeleteRequest, _ context: NSManagedObjectContext?
  ) throws -> NSBatchDeleteResult {
    var ids = BatchIDs(areWanted: request.resultType == .resultTypeObjectIDs)
    guard request.objectIDs?.isEmpty != true else { return NSBatchDeleteResult(request.resultType, ids) }
    let fetch = try fetchRequest(of: request)
    try forEachPart(of: fetch, objectsPerSave: request.objectsPerSave, context, .deleted, &ids) { part, map in
      try saveBatch(context) { snapshot, indexes in
        let source = RowSource(snapshot, access, indexes, context)
        let rows = try RowFetch(self, context).rows(part, of: map, source, keepingContents: true)
        return try BatchDeletes(self, snapshot).objects(rows)
      }
    }
    return NSBatchDeleteResult(request.resultType, ids)
  }

  // MARK: Saves

  /// Calls `save` with requests for some of the objects that a request finds at a time; with the request itself if all
  /// are saved at once. Notes the objects with the change.
  private func forEachPart(
    of request: NSFetchRequest<NSManagedObject>, objectsPerSave: Int, _ context: NSManagedObjectContext?,
    _ change: SavedObject.Change, _ ids: inout BatchIDs,
    _ save: (NSFetchRequest<NSManagedObject>, EntityMap) throws -> [SavedObject]
  ) throws {
    let map = try map(ofBatch: request.entityName ?? "")
    guard objectsPerSave > 0 else { return note([change], of: try save(request, map), in: &ids) }
    let snapshot = try rows.snapshot()
    let source = RowSource(snapshot, access, try indexes(in: snapshot), context)
    var waiting = try RowFetch(self, context).rows(request, of: map, source, keepingContents: false).map(\.reference)[
      ...]
    try BatchSaves.run(objectsPerSave: objectsPerSave, &ids) { limit, ids in
      let part = NSFetchRequest<NSManagedObject>(entityName: request.entityName ?? "")
      (part.entity, part.includesSubentities) = (request.entity, request.includesSubentities)
      let objects = waiting.prefix(limit).compactMap { access.objectID($0) }
      let isAmong = NSPredicate(format: "SELF IN %@", objects)
      part.predicate =
        request.predicate.map { NSCompoundPredicate(andPredicateWithSubpredicates: [isAmong, $0]) } ?? isAmong
      waiting = waiting.dropFirst(limit)
      note([change], of: try save(part, map), in: &ids)
      return !waiting.isEmpty
    }
  }

  /// Saves new objects that consist of their rows alone: nobody is related to them, no constraint or index has them, and
  /// nothing notes that they are saved.
  ///
  /// - Returns: False, with nothing saved, if they do not.
  private func saveRows(_ inserted: BatchInserts, _ map: EntityMap, _ ids: inout BatchIDs) throws -> Bool {
    guard !map.hasRelationships, companion == nil, !recordsHistory, let changed = inserted.rows(in: map.number) else {
      return false
    }
    var areAlone = false
    _ = try rows.save { snapshot in
      var changes = RowChanges()
      areAlone =
        try indexes(in: snapshot).areNone(for: map.number)
        && snapshot.row(StoreHead.historyReference, in: StoreHead.table) == nil
      if areAlone { changes.rows = changed }
      return changes
    }
    guard areAlone else { return false }
    note(nil)
    for row in changed { ids.add(access.objectID(row.reference, map)) }
    return true
  }

  /// Saves the objects that `plan` returns in any order, as one batch.
  private func saveBatch(
    _ context: NSManagedObjectContext?, _ plan: (any RowSnapshot, DeclaredIndexes) throws -> [SavedObject]
  ) throws -> [SavedObject] {
    var objects: [SavedObject] = []
    var recorder = HistoryRecorder(self, context)
    note(nil)
    do {
      _ = try rows.save { snapshot in
        let indexes = try indexes(in: snapshot)
        objects = try snapshot.readingInBulk { try plan($0, indexes) }
        if !zip(objects, objects.dropFirst()).allSatisfy({ $0.reference < $1.reference }) {
          objects.sort { $0.reference < $1.reference }
        }
        return try snapshot.readingInBulk { snapshot in
          var changes = try SavedRows(objects, access, indexes).changes(snapshot) { _ in }
          try recorder.record(objects, in: &changes, snapshot)
          try addCompanions(of: objects, to: &changes, snapshot)
          return changes
        }
      }
    } catch let conflicts as KeyConflicts {
      throw try conflicts.error(self, context)
    }
    note(recorder.position)
    companionsWereSaved(with: objects)
    guard !cache.isEmpty else { return objects }
    for saved in objects where saved.stored != nil {
      cache.remove(access.objectID(saved.reference.reference, saved.map))
    }
    return objects
  }

  /// Notes the objects with one of the changes. Others have changed only because they are related to these.
  private func note(_ changes: [SavedObject.Change], of objects: [SavedObject], in ids: inout BatchIDs) {
    for saved in objects where changes.contains(saved.change) {
      ids.add(access.objectID(saved.reference.reference, saved.map))
    }
  }

  private func map(ofBatch name: String) throws -> EntityMap {
    guard let map = access.schema[try entity(ofBatch: name)] else {
      throw StoreFailure.make(
        NSPersistentStoreSaveError, "The store at \(url?.absoluteString ?? "?") does not know the entity \(name).")
    }
    return map
  }
}
