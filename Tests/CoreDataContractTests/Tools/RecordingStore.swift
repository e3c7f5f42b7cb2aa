import CoreData

/// An incremental store that keeps its rows in memory, counts their versions from 1, and writes down what it is asked.
///
/// Subclasses do one thing differently each.
class RecordingStore: NSIncrementalStore {
  class var storeType: String { "\(self)" }

  /// What it was asked, in order; identifiers that are registered one by one stand together.
  var calls: [StoreCall] = []
  /// The last fetch request among it.
  private(set) var fetchRequest: NSFetchRequest<NSManagedObject>?

  override func loadMetadata() throws {
    try record(.loadMetadata)
    metadata = backing.metadata.merging([NSStoreTypeKey: Self.storeType, NSStoreUUIDKey: backing.identifier]) { $1 }
  }

  override func execute(_ request: NSPersistentStoreRequest, with context: NSManagedObjectContext?) throws -> Any {
    switch request.requestType {
    case .fetchRequestType:
      fetchRequest = (request as! NSFetchRequest<NSManagedObject>)
      return try fetch(request as! NSFetchRequest<NSManagedObject>, context!)
    case .saveRequestType:
      try save(request as! NSSaveChangesRequest)
      return [Any]()
    default:
      try record(.other)
      throw cocoaError(134091)
    }
  }

  override func newValuesForObject(
    with objectID: NSManagedObjectID, with context: NSManagedObjectContext
  ) throws -> NSIncrementalStoreNode {
    try record(.values(name(objectID)))
    let row = try row(objectID)
    return NSIncrementalStoreNode(objectID: objectID, withValues: values(of: row), version: row.version)
  }

  override func newValue(
    forRelationship relationship: NSRelationshipDescription, forObjectWith objectID: NSManagedObjectID,
    with context: NSManagedObjectContext?
  ) throws -> Any {
    try record(.relationship(relationship.name, of: name(objectID)))
    let row = try row(objectID)
    if relationship.isToMany { return members(relationship, of: number(objectID)).map(identifier) }
    return row.toOne[relationship.name].map(identifier) ?? NSNull()
  }

  override func obtainPermanentIDs(for array: [NSManagedObject]) throws -> [NSManagedObjectID] {
    try record(.permanentIDs(array.map { $0.entity.name! }))
    return array.map { newObjectID(for: $0.entity, referenceObject: NSNumber(value: backing.reserveNumber())) }
  }

  override func managedObjectContextDidRegisterObjects(with objectIDs: [NSManagedObjectID]) {
    var names = objectIDs.map(name)
    if case .register(let before) = calls.last { names = before + names }
    if case .register = calls.last { calls.removeLast() }
    calls.append(.register(names))
  }

  override func managedObjectContextDidUnregisterObjects(with objectIDs: [NSManagedObjectID]) {
    var names = objectIDs.map(name)
    if case .unregister(let before) = calls.last { names = before + names }
    if case .unregister = calls.last { calls.removeLast() }
    calls.append(.unregister(names))
  }

  override func willRemove(from coordinator: NSPersistentStoreCoordinator?) {
    calls.append(.willRemove)
    super.willRemove(from: coordinator)
  }

  /// What a node has of a row: its attributes and its to-one relationships.
  func values(of row: Backing.Row) -> [String: Any] {
    var values = row.attributes
    for relationship in entity(row.entityName).relationshipsByName.values where !relationship.isToMany {
      values[relationship.name] = row.toOne[relationship.name].map(identifier) ?? NSNull()
    }
    return values
  }

  /// Applies a save request to the rows.
  func save(_ request: NSSaveChangesRequest) throws {
    try record(call(for: request))
    apply(request)
  }

  /// Gives what a fetch request asks for.
  func fetch(_ request: NSFetchRequest<NSManagedObject>, _ context: NSManagedObjectContext) throws -> Any {
    try record(.fetch(request.entityName!))
    return results(of: request, context)
  }
}
