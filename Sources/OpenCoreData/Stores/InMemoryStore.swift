import Foundation

/// A store of the type ``NSInMemoryStoreType``: its rows are in memory, and gone when the store is removed.
///
/// It refers to its objects by whole numbers, each of which it gives only once. A fetch evaluates every row of its
/// entity. A save that would violate a uniqueness constraint fails; see ``InMemoryConstraints``.
class InMemoryStore: NSIncrementalStore {
  let rows = InMemoryRows()
  let constraints = InMemoryConstraints()
  private var layouts: [String: InMemoryLayout] = [:]
  var lastReference: Int64 = 0
  /// The highest version of a deleted row. A row that is inserted again must have a version that none of its states had.
  var lastDeletedVersion: UInt64 = 0

  override var type: String { NSInMemoryStoreType }

  override func loadMetadata() throws {
    metadata = [NSStoreTypeKey: NSInMemoryStoreType, NSStoreUUIDKey: UUID().uuidString]
  }

  override class func destroyPersistentStore(at url: URL, options: [AnyHashable: Any]?) throws {}

  override class func replacePersistentStore(
    at destinationURL: URL, destinationOptions: [AnyHashable: Any]?, withPersistentStoreFrom sourceURL: URL,
    sourceOptions: [AnyHashable: Any]?
  ) throws {
    throw CoreDataError.make(NSPersistentStoreOperationError, "Stores in memory are nowhere, and cannot be replaced.")
  }

  // MARK: Requests

  override func execute(_ request: NSPersistentStoreRequest, with context: NSManagedObjectContext?) throws -> Any {
    switch request {
    case let request as NSFetchRequest<NSManagedObject>: return try fetch(request, context)
    case let request as NSSaveChangesRequest:
      try save(request)
      return [Any]()
    case let request as NSBatchInsertRequest: return try insert(request, context)
    case let request as NSBatchUpdateRequest: return try update(request, context)
    case let request as NSBatchDeleteRequest: return try delete(request, context)
    default:
      throw CoreDataError.make(
        NSPersistentStoreUnsupportedRequestTypeError,
        "Stores in memory support fetch, save and batch requests, not \(Swift.type(of: request)).")
    }
  }

  private func fetch(
    _ request: NSFetchRequest<NSManagedObject>, _ context: NSManagedObjectContext?
  ) throws -> [Any] {
    guard let entity = request.entity else {
      throw CoreDataError.make(NSCoreDataError, "A fetch request has no entity.")
    }
    let fetch = try CompiledFetch(request, of: entity, reading: reader(of: entity, context))
    let rows = rows.all(of: entity, includingSubentities: request.includesSubentities)
    switch request.resultType {
    case .managedObjectIDResultType: return fetch.rows(among: rows).map(\.objectID)
    case .dictionaryResultType: return fetch.dictionaries(among: rows)
    case .countResultType: return [NSNumber(value: fetch.count(among: rows))]
    default:
      guard let context else {
        throw CoreDataError.make(NSCoreDataError, "Objects cannot be fetched without a context.")
      }
      return fetch.rows(among: rows).map { context.object(with: $0.objectID) }
    }
  }

  func reader(
    of entity: NSEntityDescription, _ context: NSManagedObjectContext?
  ) -> RowReader<InMemoryRow> {
    let layout = layout(of: entity)
    var reader = RowReader<InMemoryRow> { row in
      context?.object(with: row.objectID)
    } value: { key in
      if let slot = layout.slot(of: key) { return { row in row.predicateValue(at: slot) } }
      return NSManagedObjectID.reader(ofObjectKey: key).map { read in { row in read(row.objectID) } }
    }
    reader.identity = { $0 }
    return reader
  }

  private func save(_ request: NSSaveChangesRequest) throws {
    let inserted: [(NSManagedObject?, InMemoryRow)] = sorted(request.insertedObjects).map { object in
      (object, row(of: object, version: object.state.marks.contains(.reinserted) ? lastDeletedVersion + 1 : 1))
    }
    let updated: [(NSManagedObject?, InMemoryRow)] = try sorted(request.updatedObjects).map { object in
      (object, row(of: object, version: try row(object.objectID).version + 1))
    }
    let locked = try sorted(request.lockedObjects?.subtracting(request.updatedObjects ?? [])).map { object in
      let row = try row(object.objectID)
      return InMemoryRow(row, version: row.version + 1)
    }
    let deleted = (request.deletedObjects ?? []).map(\.objectID)
    try save(updated + inserted, locked: locked, deleted: deleted)
  }

  /// Replaces rows, unless that would violate a constraint.
  ///
  /// - Parameters:
  ///   - changed: inserted and updated rows, each with its object, if there is one.
  ///   - locked: rows with the same values as before.
  func save(
    _ changed: [(object: NSManagedObject?, row: InMemoryRow)], locked: [InMemoryRow], deleted: [NSManagedObjectID]
  ) throws {
    try constraints.save(changed, deleted: deleted, replacing: rows)
    // Nothing fails from here on.
    for row in changed.map(\.row) + locked { rows.set(row) }
    for id in deleted {
      lastDeletedVersion = max(lastDeletedVersion, rows[id]?.version ?? 0)
      rows.remove(id)
    }
  }

  /// The objects in the order in which they got their identifiers.
  private func sorted(_ objects: Set<NSManagedObject>?) -> [NSManagedObject] {
    (objects ?? []).sorted { $0.objectID.reference.precedes($1.objectID.reference) }
  }

  // MARK: Objects

  override func newValuesForObject(
    with objectID: NSManagedObjectID, with context: NSManagedObjectContext
  ) throws -> NSIncrementalStoreNode { InMemoryNode(try row(objectID)) }

  override func newValue(
    forRelationship relationship: NSRelationshipDescription, forObjectWith objectID: NSManagedObjectID,
    with context: NSManagedObjectContext?
  ) throws -> Any {
    try row(objectID).value(of: relationship.name) ?? (relationship.isToMany ? [NSManagedObjectID]() : NSNull())
  }

  override func obtainPermanentIDs(for array: [NSManagedObject]) throws -> [NSManagedObjectID] {
    array.map { object in
      lastReference += 1
      return newObjectID(for: object.entity, referenceObject: lastReference)
    }
  }

  func row(_ objectID: NSManagedObjectID) throws -> InMemoryRow {
    if let row = rows[objectID] { return row }
    throw CoreDataError.make(
      NSManagedObjectReferentialIntegrityError, "There is no object \(objectID) in the store any more.")
  }

  private func row(of object: NSManagedObject, version: UInt64) -> InMemoryRow {
    InMemoryRow(object, version: version, layout(of: object.entity), in: rows)
  }

  func number(of objectID: NSManagedObjectID) -> Int64 {
    if case .integer(let number) = objectID.reference { number } else { 0 }
  }

  func layout(of entity: NSEntityDescription) -> InMemoryLayout {
    let name = entity.name ?? ""
    if let layout = layouts[name] { return layout }
    let layout = InMemoryLayout(entity)
    layouts[name] = layout
    return layout
  }
}
