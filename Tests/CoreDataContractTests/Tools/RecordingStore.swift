import CoreData

/// A store that records its calls, and refuses those that its backing tells it to refuse.
///
/// Each subclass does one thing differently.
class RecordingStore: BackedStore {
  /// How old values may be in the contexts of a ``Stack``: no age is allowed, as if the store had no cache.
  class var stalenessInterval: TimeInterval { 0 }

  /// The calls to the store, in order. Consecutive registrations are joined into one call, and so are unregistrations.
  var calls: [StoreCall] = []
  /// The last fetch request among the calls.
  private(set) var fetchRequest: NSFetchRequest<NSManagedObject>?

  override func loadMetadata() throws {
    try record(.loadMetadata)
    try super.loadMetadata()
  }

  override func execute(_ request: NSPersistentStoreRequest, with context: NSManagedObjectContext?) throws -> Any {
    switch request.requestType {
    case .fetchRequestType:
      fetchRequest = (request as! NSFetchRequest<NSManagedObject>)
      return try fetch(request as! NSFetchRequest<NSManagedObject>, with: context!)
    case .saveRequestType: return try save(request as! NSSaveChangesRequest, with: context)
    default:
      try record(.other)
      return try super.execute(request, with: context)
    }
  }

  override func newValuesForObject(
    with objectID: NSManagedObjectID, with context: NSManagedObjectContext
  ) throws -> NSIncrementalStoreNode {
    try record(.values(name(objectID)))
    return try super.newValuesForObject(with: objectID, with: context)
  }

  override func newValue(
    forRelationship relationship: NSRelationshipDescription, forObjectWith objectID: NSManagedObjectID,
    with context: NSManagedObjectContext?
  ) throws -> Any {
    try record(.relationship(relationship.name, of: name(objectID)))
    return try super.newValue(forRelationship: relationship, forObjectWith: objectID, with: context)
  }

  override func obtainPermanentIDs(for array: [NSManagedObject]) throws -> [NSManagedObjectID] {
    try record(.permanentIDs(array.map { $0.entity.name! }))
    return try super.obtainPermanentIDs(for: array)
  }

  override func managedObjectContextDidRegisterObjects(with objectIDs: [NSManagedObjectID]) {
    super.managedObjectContextDidRegisterObjects(with: objectIDs)
    var names = objectIDs.map(name)
    if case .register(let before) = calls.last { names = before + names }
    if case .register = calls.last { calls.removeLast() }
    calls.append(.register(names))
  }

  override func managedObjectContextDidUnregisterObjects(with objectIDs: [NSManagedObjectID]) {
    super.managedObjectContextDidUnregisterObjects(with: objectIDs)
    var names = objectIDs.map(name)
    if case .unregister(let before) = calls.last { names = before + names }
    if case .unregister = calls.last { calls.removeLast() }
    calls.append(.unregister(names))
  }

  override func willRemove(from coordinator: NSPersistentStoreCoordinator?) {
    calls.append(.willRemove)
    super.willRemove(from: coordinator)
  }

  /// Applies a save request to the rows.
  func save(_ request: NSSaveChangesRequest, with context: NSManagedObjectContext?) throws -> Any {
    try record(call(for: request))
    return try super.execute(request, with: context)
  }

  /// Answers a fetch request.
  func fetch(_ request: NSFetchRequest<NSManagedObject>, with context: NSManagedObjectContext) throws -> Any {
    try record(.fetch(request.entityName!))
    return try super.execute(request, with: context)
  }

  // MARK: Writing down

  func record(_ call: StoreCall) throws {
    calls.append(call)
    if let method = call.method, backing.failing.contains(method) { throw Refusal(method: method) }
  }

  func name(_ objectID: NSManagedObjectID) -> String {
    "\(objectID.entity.name!)/\(objectID.isTemporaryID ? "temporary" : "\(number(objectID))")"
  }

  func call(for request: NSSaveChangesRequest) -> StoreCall {
    let sets = [request.insertedObjects, request.updatedObjects, request.deletedObjects, request.lockedObjects]
    if sets.allSatisfy({ $0 == nil }) { return .saveMetadata }
    let names = sets.map { ($0 ?? []).map { name($0.objectID) }.sorted() }
    return .save(inserted: names[0], updated: names[1], deleted: names[2], locked: names[3])
  }
}

func cocoaError(_ code: Int, _ userInfo: [String: Any] = [:]) -> NSError {
  NSError(domain: NSCocoaErrorDomain, code: code, userInfo: userInfo)
}
