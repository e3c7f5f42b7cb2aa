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
    ids = PackedIDs()
    var collector = try RowCollector(request, of: map, source, isForCount: false)
    let isPassedOn = collector.passOn { ids.append($0.objectID) }
    _ = try rows.offerRows(to: &collector, areSorted: request.isSorted, keepingContents: false)
    if !isPassedOn { for row in collector.result { ids.append(row.objectID) } }
    if let failure = source.failure { throw failure }
    return ids
  }
}
