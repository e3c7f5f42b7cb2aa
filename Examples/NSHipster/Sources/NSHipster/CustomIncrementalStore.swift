import CoreData

/// Keeps objects of any model whose attributes are numbers, strings, dates and data, and whose entities do not inherit.
///
/// Prints each call by Core Data, so that readers see when Core Data asks for what.
class CustomIncrementalStore: NSIncrementalStore {
  var table = Table()

  /// The type that the store is registered under, which its metadata must name.
  class var type: String { "CustomIncrementalStore" }

  /// Call this before the first store is added.
  class func register() {
    NSPersistentStoreCoordinator.registerStoreClass(self, type: NSPersistentStore.StoreType(rawValue: type))
  }

  // MARK: - Metadata

  override func loadMetadata() throws {
    say("loadMetadata")
    if Table.exists(at: url!) {
      table = try Table(contentsOf: url!)
    } else {
      let uuid = CustomIncrementalStore.identifierForNewStore(at: url!)
      table.metadata = [NSStoreUUIDKey: uuid, NSStoreTypeKey: CustomIncrementalStore.type]
      try table.write(to: url!)
    }
    metadata = table.metadata
  }

  override class func metadataForPersistentStore(with url: URL) throws -> [String: Any] {
    try Table(contentsOf: url).metadata
  }

  override class func setMetadata(_ metadata: [String: Any]?, forPersistentStoreAt url: URL) throws {
    var table = try Table(contentsOf: url)
    table.metadata = metadata ?? [:]
    try table.write(to: url)
  }

  // MARK: - Requests

  override func execute(_ request: NSPersistentStoreRequest, with context: NSManagedObjectContext?) throws -> Any {
    switch request.requestType {
    case .fetchRequestType:
      return try fetch(request as! NSFetchRequest<NSManagedObject>, with: context!)
    case .saveRequestType:
      try save(request as! NSSaveChangesRequest)
      return [Any]()
    default:
      throw CocoaError(CocoaError.Code(rawValue: NSPersistentStoreUnsupportedRequestTypeError))
    }
  }

  // MARK: - Objects

  /// Gives each new object a number. Nothing is saved yet, and perhaps never will be.
  override func obtainPermanentIDs(for array: [NSManagedObject]) throws -> [NSManagedObjectID] {
    say("obtainPermanentIDs for \(array.count) objects")
    return array.map { object in
      table.lastNumber += 1
      return newObjectID(for: object.entity, referenceObject: NSNumber(value: table.lastNumber))
    }
  }

  /// The attributes of an object, and the objects at the other ends of its to-one relationships.
  override func newValuesForObject(
    with objectID: NSManagedObjectID, with context: NSManagedObjectContext
  ) throws -> NSIncrementalStoreNode {
    say("newValuesForObject \(name(objectID))")
    let row = try row(objectID)
    var values = row.values
    for relationship in objectID.entity.relationshipsByName.values {
      let value = values.removeValue(forKey: relationship.name)
      if !relationship.isToMany { values[relationship.name] = self.objectID(of: value, relationship) ?? NSNull() }
    }
    return NSIncrementalStoreNode(objectID: objectID, withValues: values, version: row.version)
  }

  /// The object or objects at the other end of one relationship. Core Data asks for them when the relationship is first
  /// read.
  override func newValue(
    forRelationship relationship: NSRelationshipDescription, forObjectWith objectID: NSManagedObjectID,
    with context: NSManagedObjectContext?
  ) throws -> Any {
    say("newValue forRelationship \(relationship.name) of \(name(objectID))")
    let value = try row(objectID).values[relationship.name]
    if !relationship.isToMany { return self.objectID(of: value, relationship) ?? NSNull() }
    return (value as? [Any] ?? []).map { self.objectID(of: $0, relationship)! }
  }
}
