import CoreData

/// Executes a fetch request over one snapshot.
struct RowFetch {
  private let store: RowIncrementalStore
  private let context: NSManagedObjectContext?

  init(_ store: RowIncrementalStore, _ context: NSManagedObjectContext?) {
    self.store = store
    self.context = context
  }

  func execute(_ request: NSFetchRequest<NSManagedObject>) throws -> [Any] {
    guard let entity = request.entity else {
      throw StoreFailure.make(NSCoreDataError, "A fetch request has no entity.")
    }
    let source = RowSource(try store.rows.snapshot(), store.access, context)
    guard let map = store.access.schema[entity] else {
      // The store has no number for the entity, so no object of it can have been saved.
      return request.resultType == .countResultType ? [NSNumber(value: 0)] : []
    }
    let maps = maps(of: entity, request).filter { !$0.entity.isAbstract }
    let isForCount = request.resultType == .countResultType
    let choice = RowChoice(request.predicate, store)
    var rest = request
    if choice.isAll(of: request.predicate), let copy = request.copy() as? NSFetchRequest<NSManagedObject> {
      copy.predicate = nil
      rest = copy
    }
    var collector = try RowCollector(rest, of: map, source, isForCount: isForCount)
    if isForCount, request.predicate == nil, request.fetchLimit == 0, request.fetchOffset == 0 {
      return [NSNumber(value: try maps.reduce(0) { $0 + (try source.snapshot.count(in: $1.number)) })]
    }
    if maps.count > 1, !isForCount, request.sortDescriptors?.isEmpty ?? true {
      try merge(maps, choice, source, &collector)
    } else {
      try scan(maps, choice, source, &collector)
    }
    let answer = try self.answer(request, collector)
    if let failure = source.failure { throw failure }
    return answer
  }

  /// The entity, then its subentities if they are to be included.
  private func maps(of entity: NSEntityDescription, _ request: NSFetchRequest<NSManagedObject>) -> [EntityMap] {
    let own = store.access.schema[entity].map { [$0] } ?? []
    guard request.includesSubentities else { return own }
    return entity.subentities.reduce(own) { $0 + maps(of: $1, request) }
  }

  private func scan(
    _ maps: [EntityMap], _ choice: RowChoice, _ source: RowSource,
    _ collector: inout RowCollector
  ) throws {
    var goesOn = true
    for map in maps where goesOn {
      let probe = SourceRow(StoredRow(reference: .integer(0), bytes: [], version: 0, revision: 0), map, source)
      try source.snapshot.forEachRow(in: map.number, choice) { row in
        // Swaps the row in and out, so that its bytes have one owner and are not reference-counted.
        swap(&probe.stored, &row)
        goesOn = collector.offer(probe) { $0.copy() }
        swap(&probe.stored, &row)
        return goesOn && source.failure == nil
      }
    }
    if let failure = source.failure { throw failure }
  }

  /// Without sort descriptors, objects of an entity and of its subentities come in one common order, that of their
  /// references.
  private func merge(
    _ maps: [EntityMap], _ choice: RowChoice, _ source: RowSource,
    _ collector: inout RowCollector
  ) throws {
    var rows = TableMerge(maps, choice, source.snapshot)
    try rows.forEachRow { row, map in
      collector.offer(SourceRow(row, map, source)) { $0 } && source.failure == nil
    }
    if let failure = source.failure { throw failure }
  }

  private func answer(
    _ request: NSFetchRequest<NSManagedObject>, _ collector: RowCollector
  ) throws -> [Any] {
    switch request.resultType {
    case .countResultType: return [NSNumber(value: collector.count)]
    case .dictionaryResultType: return collector.dictionaries
    case .managedObjectIDResultType: return collector.result.map { cached($0, request) }
    default:
      guard let context else {
        throw StoreFailure.make(NSCoreDataError, "Objects cannot be fetched without a context.")
      }
      return collector.result.map { context.object(with: cached($0, request)) }
    }
  }

  /// The identifier of a row. Unless the request excludes property values, the row is put into the row cache, since its
  /// values are likely to be needed soon.
  private func cached(_ row: SourceRow, _ request: NSFetchRequest<NSManagedObject>) -> NSManagedObjectID {
    let id = row.objectID
    if request.includesPropertyValues {
      store.cache.set(row.stored, of: id) { RowNode(row.stored, of: id, row.map, store.access) }
    }
    return id
  }
}
