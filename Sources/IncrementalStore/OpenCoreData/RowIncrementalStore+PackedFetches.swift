package import OpenCoreData

extension RowIncrementalStore: PackedFetchStore {
  package func packedIDs(
    _ request: NSFetchRequest<NSManagedObject>, _ context: NSManagedObjectContext
  ) throws -> PackedIDs { try RowFetch(self, context).packedIDs(request) }
}

extension RowFetch {
  /// The identifiers of the results, in their order. Keeps no rows, unless it has to sort them.
  fileprivate func packedIDs(_ request: NSFetchRequest<NSManagedObject>) throws -> PackedIDs {
    guard let entity = entity(of: request), let map = store.access.schema[entity] else { return PackedIDs() }
    let snapshot = try snapshot()
    let source = RowSource(snapshot, store.access, try store.indexes(in: snapshot), context)
    var rows = RowPass(request.predicate, of: map, includingSubentities: request.includesSubentities, source)
    var ids = PackedIDs()
    if request.isSorted, request.fetchOffset <= 0, request.fetchLimit <= 0,
      try rows.forEachObjectInOrder(
        request.sortDescriptors ?? [], { ids.append(store.access.objectID($0.reference, $1)) })
    {
      return ids
    }
    if let sorted = try sortedIDs(request, map, source, rows) { return sorted }
    ids = PackedIDs()
    var collector = try RowCollector(request, of: map, source, isForCount: false)
    let isPassedOn = collector.passOn { ids.append($0.objectID) }
    _ = try rows.offerRows(to: &collector, areSorted: request.isSorted, keepingContents: false)
    if !isPassedOn { for row in collector.result { ids.append(row.objectID) } }
    if let failure = source.failure { throw failure }
    return ids
  }

  /// The identifiers of the results, sorted by bytes; nil if bytes do not sort them, or only some results are wanted.
  private func sortedIDs(
    _ request: NSFetchRequest<NSManagedObject>, _ map: EntityMap, _ source: RowSource, _ rows: RowPass
  ) throws -> PackedIDs? {
    guard request.isSorted, request.fetchOffset <= 0, request.fetchLimit <= 0,
      var order = PackedOrder(request.sortDescriptors ?? [], rows.planner.indexes)
    else { return nil }
    let unsorted = NSFetchRequest<NSManagedObject>(entityName: map.entity.name ?? "")
    (unsorted.entity, unsorted.predicate) = (request.entity, request.predicate)
    var (rows, found) = (rows, PackedIDs())
    var collector = try RowCollector(unsorted, of: map, source, isForCount: false)
    var isComplete = true
    _ = collector.passOn { row in
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
