import CoreData

/// An incremental store that keeps its rows in a ``Backing``, and numbers their versions from 1.
class BackedStore: NSIncrementalStore {
  class var storeType: String { String(reflecting: self) }

  override func loadMetadata() throws {
    metadata = backing.metadata.merging([NSStoreTypeKey: Self.storeType, NSStoreUUIDKey: backing.identifier]) { $1 }
  }

  override func execute(_ request: NSPersistentStoreRequest, with context: NSManagedObjectContext?) throws -> Any {
    switch request.requestType {
    case .fetchRequestType: return results(of: request as! NSFetchRequest<NSManagedObject>, context!)
    case .saveRequestType:
      apply(request as! NSSaveChangesRequest)
      return [Any]()
    default: throw cocoaError(134091)
    }
  }

  override func newValuesForObject(
    with objectID: NSManagedObjectID, with context: NSManagedObjectContext
  ) throws -> NSIncrementalStoreNode {
    let row = try row(objectID)
    return NSIncrementalStoreNode(objectID: objectID, withValues: values(of: row), version: row.version)
  }

  override func newValue(
    forRelationship relationship: NSRelationshipDescription, forObjectWith objectID: NSManagedObjectID,
    with context: NSManagedObjectContext?
  ) throws -> Any {
    let row = try row(objectID)
    if relationship.isToMany { return members(relationship, of: number(objectID)).map(identifier) }
    return row.toOne[relationship.name].map(identifier) ?? NSNull()
  }

  override func obtainPermanentIDs(for array: [NSManagedObject]) throws -> [NSManagedObjectID] {
    array.map { newObjectID(for: $0.entity, referenceObject: NSNumber(value: backing.reserveNumber())) }
  }

  /// The values of a row's node: its attributes and its to-one relationships.
  func values(of row: BackingRow) -> [String: Any] {
    var values = row.attributes
    for relationship in entity(row.entityName).relationshipsByName.values where !relationship.isToMany {
      values[relationship.name] = row.toOne[relationship.name].map(identifier) ?? NSNull()
    }
    return values
  }
}
