import OpenCoreData

/// The simplest possible store: a dictionary of rows, written only against the public contract of incremental stores.
final class GraphStore: NSIncrementalStore {
  static let type = "GraphStore"

  private struct Row {
    var values: [String: Any]
    var version: UInt64
  }

  /// Whether saves fail.
  var refuses = false
  private var rows: [NSManagedObjectID: Row] = [:]
  private var lastReference = 0
  /// The versions of deleted rows, which may be inserted again.
  private var deletedVersions: [NSManagedObjectID: UInt64] = [:]

  override func loadMetadata() throws {
    metadata = [NSStoreTypeKey: Self.type, NSStoreUUIDKey: UUID().uuidString]
  }

  override func execute(_ request: NSPersistentStoreRequest, with context: NSManagedObjectContext?) throws -> Any {
    if let save = request as? NSSaveChangesRequest {
      try self.save(save)
      return [Any]()
    }
    guard let fetch = request as? NSFetchRequest<NSManagedObject>, let context else {
      throw NSError(domain: NSCocoaErrorDomain, code: 134091)
    }
    return self.fetch(fetch, context)
  }

  private func fetch(_ fetch: NSFetchRequest<NSManagedObject>, _ context: NSManagedObjectContext) -> Any {
    var found = rows.filter { id, row in
      guard let entity = fetch.entity,
        fetch.includesSubentities ? id.entity.isKindOf(entity: entity) : id.entity == entity
      else { return false }
      return fetch.predicate?.evaluate(with: row.values) ?? true
    }.map { (id: $0.key, values: $0.value.values) }
    found.sort { one, other in
      for descriptor in fetch.sortDescriptors ?? [] {
        switch descriptor.compare(one.values, to: other.values) {
        case .orderedAscending: return true
        case .orderedDescending: return false
        case .orderedSame: continue
        }
      }
      return false
    }
    let ids = found.map(\.id).dropFirst(fetch.fetchOffset).prefix(fetch.fetchLimit == 0 ? .max : fetch.fetchLimit)
    return switch fetch.resultType {
    case .countResultType: [NSNumber(value: ids.count)]
    case .managedObjectIDResultType: Array(ids)
    default: ids.map(context.object(with:))
    }
  }

  private func save(_ request: NSSaveChangesRequest) throws {
    if refuses { throw NSError(domain: NSCocoaErrorDomain, code: GraphModel.refused) }
    for object in request.updatedObjects ?? [] where rows[object.objectID] == nil {
      throw NSError(domain: NSCocoaErrorDomain, code: 133000, userInfo: [NSAffectedObjectsErrorKey: [object]])
    }
    for object in request.insertedObjects ?? [] {
      rows[object.objectID] = Row(
        values: values(of: object, keys: nil), version: (deletedVersions[object.objectID] ?? 0) + 1)
    }
    for object in request.updatedObjects ?? [] {
      let changed = values(of: object, keys: Set(object.changedValues().keys))
      var row = rows[object.objectID] ?? Row(values: [:], version: 0)
      row.values.merge(changed) { $1 }
      row.version += 1
      rows[object.objectID] = row
    }
    for object in request.lockedObjects ?? [] { rows[object.objectID]?.version += 1 }
    for object in request.deletedObjects ?? [] {
      deletedVersions[object.objectID] = rows.removeValue(forKey: object.objectID)?.version
    }
  }

  /// The values of an object, with related objects as their identifiers. If `keys` is not nil, it names the to-many
  /// relationships to include.
  private func values(of object: NSManagedObject, keys: Set<String>?) -> [String: Any] {
    var values: [String: Any] = [:]
    for (name, property) in object.entity.propertiesByName {
      let relationship = property as? NSRelationshipDescription
      if let keys, relationship?.isToMany == true, !keys.contains(name) { continue }
      switch object.value(forKey: name) {
      case let other as NSManagedObject: values[name] = other.objectID
      case let others as NSOrderedSet: values[name] = others.array.map { ($0 as! NSManagedObject).objectID }
      case let others as NSSet: values[name] = others.allObjects.map { ($0 as! NSManagedObject).objectID }
      case let value?: values[name] = value
      case nil: values[name] = NSNull()
      }
    }
    return values
  }

  override func newValuesForObject(
    with objectID: NSManagedObjectID, with context: NSManagedObjectContext
  ) throws -> NSIncrementalStoreNode {
    guard let row = rows[objectID] else { throw NSError(domain: NSCocoaErrorDomain, code: 133000) }
    let values = row.values.filter { name, value in
      guard let relationship = objectID.entity.relationshipsByName[name] else { return !(value is NSNull) }
      return !relationship.isToMany
    }
    return NSIncrementalStoreNode(objectID: objectID, withValues: values, version: row.version)
  }

  override func newValue(
    forRelationship relationship: NSRelationshipDescription, forObjectWith objectID: NSManagedObjectID,
    with context: NSManagedObjectContext?
  ) throws -> Any {
    guard let row = rows[objectID] else { throw NSError(domain: NSCocoaErrorDomain, code: 133000) }
    return row.values[relationship.name] ?? (relationship.isToMany ? [NSManagedObjectID]() : NSNull())
  }

  override func obtainPermanentIDs(for array: [NSManagedObject]) throws -> [NSManagedObjectID] {
    array.map { object in
      lastReference += 1
      return newObjectID(for: object.entity, referenceObject: NSNumber(value: lastReference))
    }
  }
}
