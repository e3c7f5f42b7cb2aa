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
    try forEachPart(of: fetch, objectsPerSave: request.objectsPerSave, context, &ids) { part, map, ids in
      if try updateRows(request, part, map, context, &ids) { return }
      let objects = try saveBatch(context) { snapshot, indexes in
        let source = RowSource(snapshot, access, indexes, context)
        let rows = try RowFetch(self, context).rows(part, of: map, source, keepingContents: true)
        var updates = try BatchUpdates(request, map, self, source)
        return try updates.objects(rows)
      }
      note([.updated], of: objects, in: &ids)
    }
    return NSBatchUpdateResult(request.resultType, ids)
  }

  private func delete(
    _ request: NSBatchDeleteRequest, _ context: NSManagedObjectContext?
  ) throws -> NSBatchDeleteResult {
    var ids = BatchIDs(areWanted: request.resultType == .resultTypeObjectIDs)
    guard request.objectIDs?.isEmpty != true else { return NSBatchDeleteResult(request.resultType, ids) }
    let fetch = try fetchRequest(of: request)
    try forEachPart(of: fetch, objectsPerSave: request.objectsPerSave, context, &ids) { part, map, ids in
      let objects = try saveBatch(context) { snapshot, indexes in
        let source = RowSource(snapshot, access, indexes, context)
        let rows = try RowFetch(self, context).rows(part, of: map, source, keepingContents: true)
        return try BatchDeletes(self, snapshot).objects(rows)
      }
      note([.deleted], of: objects, in: &ids)
    }
    return NSBatchDeleteResult(request.resultType, ids)
  }

  // MARK: Saves

  /// Calls `save` with requests for some of the objects that a request finds at a time; with the request itself if all
  /// are saved at once.
  private func forEachPart(
    of request: NSFetchRequest<NSManagedObject>, objectsPerSave: Int, _ context: NSManagedObjectContext?,
    _ ids: inout BatchIDs, _ save: (NSFetchRequest<NSManagedObject>, EntityMap, inout BatchIDs) throws -> Void
  ) throws {
    let map = try map(ofBatch: request.entityName ?? "")
    guard objectsPerSave > 0 else { return try save(request, map, &ids) }
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
      try save(part, map, &ids)
      return !waiting.isEmpty
    }
  }

  /// Saves new objects that consist of their rows alone.
  ///
  /// - Returns: False, with nothing saved, if they do not.
  private func saveRows(_ inserted: BatchInserts, _ map: EntityMap, _ ids: inout BatchIDs) throws -> Bool {
    guard try saveRows(of: [map], { _, _ in inserted.rows(in: map.number) }) else { return false }
    for reference in inserted.references { ids.add(access.objectID(reference, map)) }
    return true
  }

  /// Updates the objects that a request finds, if they consist of their rows alone.
  ///
  /// - Returns: False, with nothing saved, if they do not.
  private func updateRows(
    _ request: NSBatchUpdateRequest, _ fetch: NSFetchRequest<NSManagedObject>, _ map: EntityMap,
    _ context: NSManagedObjectContext?, _ ids: inout BatchIDs
  ) throws -> Bool {
    guard access.schema.setsWithoutInverse.isEmpty else { return false }
    let maps = access.schema.concrete(map.entity, includingSubentities: fetch.includesSubentities)
    var changed: [RowChanges.Row] = []
    let areSaved = try saveRows(of: maps) { snapshot, indexes in
      changed = []
      let source = RowSource(snapshot, access, indexes, context)
      var updates = try BatchUpdates(request, map, self, source)
      try RowFetch(self, context).forEachRow(fetch, of: map, source) { changed.append(try updates.change($0)) }
      if maps.count > 1 { changed.sort { ($0.table, $0.reference) < ($1.table, $1.reference) } }
      return changed
    }
    guard areSaved else { return false }
    let mayBeCached = !cache.isUnused
    for row in changed {
      guard let map = maps.first(where: { $0.number == row.table }) else { continue }
      ids.add(access.objectID(row.reference, map))
      if mayBeCached { cache.remove(access.objectID(row.reference, map)) }
    }
    return true
  }

  /// Saves the changes of objects that consist of their rows alone: nobody is related to them, no constraint or index
  /// has them, and nothing notes that they are saved.
  ///
  /// - Parameters:
  ///   - maps: The entities that the objects may have.
  ///   - changed: The changes; nil if the objects do not consist of their rows alone.
  /// - Returns: False, with nothing saved, if they do not.
  private func saveRows(
    of maps: [EntityMap], _ changed: (any RowSnapshot, DeclaredIndexes) throws -> [RowChanges.Row]?
  ) throws -> Bool {
    guard companion == nil, !recordsHistory,
      maps.allSatisfy({ !$0.hasRelationships && $0.constraints.isEmpty })
    else { return false }
    var areAlone = false
    note(nil)
    _ = try rows.save { snapshot in
      let indexes = try indexes(in: snapshot)
      var rows: [RowChanges.Row]?
      if maps.allSatisfy({ indexes.areNone(for: $0.number) }),
        try snapshot.row(StoreHead.historyReference, in: StoreHead.table) == nil
      {
        rows = try snapshot.readingInBulk { try changed($0, indexes) }
      }
      areAlone = rows != nil
      var changes = RowChanges()
      changes.rows = rows ?? []
      return changes
    }
    return areAlone
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
    guard !cache.isUnused else { return objects }
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

extension RowFetch {
  /// Calls `body` with each row that a request without an order finds, in the order of the references. The row may be
  /// used for another one afterwards.
  fileprivate func forEachRow(
    _ request: NSFetchRequest<NSManagedObject>, of map: EntityMap, _ source: RowSource,
    _ body: (SourceRow) throws -> Void
  ) throws {
    var rows = RowPass(request, of: map, source)
    try withoutActuallyEscaping(body) { body in
      var collector = try RowCollector(request, of: map, source, isForCount: false)
      collector.passOn { row in
        source.attempt { if row.read() { try body(row) } }
      }
      _ = try rows.offerRows(to: &collector, areSorted: false, keepingContents: true)
    }
  }
}
