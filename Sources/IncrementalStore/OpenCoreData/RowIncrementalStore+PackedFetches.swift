package import OpenCoreData

extension RowIncrementalStore: PackedFetchStore {
  package func packedIDs(
    _ request: NSFetchRequest<NSManagedObject>, _ context: NSManagedObjectContext
  ) throws -> PackedIDs {
    let fetch = try RowFetch(self, context)
    return try fetch.logged(request, results: { $0.count }) { try fetch.packedIDs(request, over: $0, $1) }
  }
}

extension RowFetch {
  /// The identifiers of the results, in their order. Keeps no rows, unless it has to sort them.
  fileprivate func packedIDs(
    _ request: NSFetchRequest<NSManagedObject>, over snapshot: any RowSnapshot, _ indexes: DeclaredIndexes
  ) throws -> (answer: PackedIDs, path: (any CustomStringConvertible)?) {
    guard let entity = entity(of: request), let map = store.access.schema[entity] else { return (PackedIDs(), nil) }
    let source = RowSource(snapshot, store.access, indexes, context)
    var rows = RowPass(request, of: map, source)
    var ids = PackedIDs()
    if request.isSorted, request.fetchOffset <= 0, request.fetchLimit <= 0,
      try rows.forEachObjectInOrder(
        request.sortDescriptors ?? [], { ids.append(store.access.objectID($0.reference, $1)) })
    {
      return (ids, rows.usedPath)
    }
    if let sorted = try sortedIDs(request, map, source, &rows) { return (sorted, rows.usedPath) }
    ids = PackedIDs()
    var collector = try RowCollector(request, of: map, source, isForCount: false)
    collector.passOn { ids.append($0.objectID) }
    _ = try rows.offerRows(to: &collector, areSorted: request.isSorted, keepingContents: false)
    if !collector.passesOn { for row in collector.result { ids.append(row.objectID) } }
    if let failure = source.failure { throw failure }
    return (ids, rows.usedPath)
  }

  /// The identifiers of the results, sorted by bytes; nil if bytes do not sort them, or only some results are wanted.
  private func sortedIDs(
    _ request: NSFetchRequest<NSManagedObject>, _ map: EntityMap, _ source: RowSource, _ rows: inout RowPass
  ) throws -> PackedIDs? {
    guard request.isSorted, request.fetchOffset <= 0, request.fetchLimit <= 0,
      var order = PackedOrder(request.sortDescriptors ?? [], rows.planner.indexes)
    else { return nil }
    let unsorted = NSFetchRequest<NSManagedObject>(entityName: map.entity.name ?? "")
    (unsorted.entity, unsorted.predicate) = (request.entity, request.predicate)
    var found = PackedIDs()
    var collector = try RowCollector(unsorted, of: map, source, isForCount: false)
    var isComplete = true
    collector.passOn { row in
      guard isComplete, row.read() else { return }
      found.append(row.objectID)
      isComplete = source.attempt { try order.append(row.stored.bytes) } ?? false
    }
    _ = try rows.offerRows(to: &collector, areSorted: true, keepingContents: false)
    if let failure = source.failure { throw failure }
    guard isComplete else { return nil }
    var ids = PackedIDs()
    for number in order.sorted { ids.append(found[Int(number)]) }
    return ids
  }
}
