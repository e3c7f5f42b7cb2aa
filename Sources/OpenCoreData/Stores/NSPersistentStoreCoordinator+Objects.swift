import Foundation

/// The calls of contexts that concern single objects.
extension NSPersistentStoreCoordinator {
  /// The row of an object.
  ///
  /// - Throws: ``NSManagedObjectReferentialIntegrityError`` if the store is gone or the identifier is temporary; any
  ///   error of the store.
  func node(
    for objectID: NSManagedObjectID, _ context: NSManagedObjectContext
  ) throws -> NSIncrementalStoreNode {
    try prepareValues(of: CollectionOfOne(objectID), context)
    return try withStoresToRead {
      try store(of: objectID).newValuesForObject(with: objectID, with: context).atThisMoment
    }
  }

  /// The identifiers of the objects at the other end of a relationship; at most one for a to-one relationship.
  ///
  /// - Throws: ``NSManagedObjectReferentialIntegrityError`` as ``node(for:_:)``; ``NSPersistentStoreOperationError`` if
  ///   the store answers with anything but identifiers; any other error of the store.
  func relatedIDs(
    _ relationship: NSRelationshipDescription, of objectID: NSManagedObjectID, _ context: NSManagedObjectContext
  ) throws -> [NSManagedObjectID] {
    try prepare(relationship, of: objectID, context)
    return try withStoresToRead {
      let store = try store(of: objectID)
      let answer = try store.newValue(forRelationship: relationship, forObjectWith: objectID, with: context)
      if let identifiers = relationship.identifiers(in: answer) { return identifiers }
      throw CoreDataError.wrongAnswer(answer, of: store, for: relationship, of: objectID)
    }
  }

  /// Tells stores that a context has begun to use their objects. Temporary identifiers are left out.
  func didRegister(_ objectIDs: [NSManagedObjectID]) {
    forEachStore(of: objectIDs) { $0.managedObjectContextDidRegisterObjects(with: $1) }
  }

  /// Tells stores that a context has ceased to use their objects. Temporary identifiers are left out.
  func didUnregister(_ objectIDs: [NSManagedObjectID]) {
    forEachStore(of: objectIDs) { $0.managedObjectContextDidUnregisterObjects(with: $1) }
  }

  /// Tells the stores that cache rows that those of some objects may be out of date.
  func rowsMayBeStale(_ objectIDs: [NSManagedObjectID]) {
    withStoreLock {
      forEachStore(of: objectIDs.map(ownID)) { ($0 as? any RowCachingStore)?.rowsMayBeStale($1) }
    }
  }

  /// The store for new objects of an entity: the one to which they were assigned, otherwise the first that is not
  /// read-only and whose configuration has the entity.
  ///
  /// - Throws: ``NSPersistentStoreSaveError`` if there is none.
  func store(for entity: NSEntityDescription, assigned: NSPersistentStore?) throws -> NSPersistentStore {
    let name = entity.name ?? ""
    let candidates = try assigned.map { [try own($0)] } ?? stores
    if let store = candidates.first(where: { !$0.isReadOnly && $0.entityNames.contains(name) }) { return store }
    let reason =
      switch (assigned, candidates.isEmpty) {
      case (_?, _): "the store they were assigned to is read-only, or its configuration lacks the entity"
      case (nil, true): "the coordinator has no stores"
      case (nil, false): "no store that can be written to has a configuration with the entity"
      }
    throw CoreDataError.make(NSPersistentStoreSaveError, "Objects of the entity \(name) cannot be saved: \(reason).")
  }

  /// Identifiers for objects that are going to be inserted into the store, in their order.
  ///
  /// - Throws: ``NSPersistentStoreOperationError`` if the store answers with anything else; any error of the store.
  func obtainPermanentIDs(
    for objects: [NSManagedObject], in store: NSPersistentStore
  ) throws -> [NSManagedObjectID] {
    try withStoresToRead {
      let store = try own(store)
      let identifiers = try store.obtainPermanentIDs(for: objects)
      guard identifiers.count == objects.count else {
        throw wrongIdentifiers(of: store, "\(identifiers.count) identifiers for \(objects.count) objects")
      }
      for (identifier, object) in zip(identifiers, objects) {
        guard let identity = identifier.identity else {
          throw wrongIdentifiers(of: store, "a temporary identifier")
        }
        guard identity === store.identity || identity.uuid == store.identity?.uuid else {
          throw wrongIdentifiers(of: store, "an identifier of another store")
        }
        guard identifier.entity === object.entity || identifier.entity.name == object.entity.name else {
          throw wrongIdentifiers(
            of: store,
            "an identifier of the entity \(identifier.entity.name ?? "") for an object of the entity "
              + "\(object.entity.name ?? "")")
        }
      }
      return identifiers
    }
  }

  private func wrongIdentifiers(of store: NSIncrementalStore, _ what: String) -> NSError {
    CoreDataError.make(
      NSPersistentStoreOperationError, "\(type(of: store)) answered \(what) when it was asked for permanent ones.",
      [NSAffectedStoresErrorKey: [store]])
  }

  /// The store of an object. An identifier may come from another coordinator that has a store with the same identifier.
  ///
  /// - Throws: ``NSManagedObjectReferentialIntegrityError`` if the store is gone or the identifier is temporary.
  func store(of objectID: NSManagedObjectID) throws -> NSIncrementalStore {
    if let store = presentStore(of: objectID) { return store }
    throw CoreDataError.make(
      NSManagedObjectReferentialIntegrityError,
      objectID.isTemporaryID
        ? "The object \(objectID) has not been saved." : "The store of the object \(objectID) has been removed.")
  }

  /// The identifier with this coordinator's store and entity. An identifier from another coordinator is equal to it,
  /// but refers to that coordinator's store and entity.
  func ownID(_ objectID: NSManagedObjectID) -> NSManagedObjectID {
    guard let foreign = objectID.identity, !stores.contains(where: { $0.identity === foreign }),
      foreign.store?.persistentStoreCoordinator !== self, let own = presentStore(of: objectID)?.identity,
      let entity = objectID.entity.name.flatMap({ managedObjectModel.entitiesByName[$0] })
    else { return objectID }
    return NSManagedObjectID(entity, own, objectID.reference)
  }

  /// The store of an object; nil if the store is gone or the identifier is temporary.
  func presentStore(of objectID: NSManagedObjectID) -> NSIncrementalStore? {
    guard let identity = objectID.identity else { return nil }
    return stores.first { $0.identity === identity } ?? stores.first { $0.identity?.uuid == identity.uuid }
  }

  /// Whether the store of an object is one of some stores.
  func isObject(_ object: NSManagedObject, ofOneOf some: [NSPersistentStore]) -> Bool {
    guard let store = presentStore(of: object.objectID) else { return false }
    return some.contains { $0 === store }
  }

  private func forEachStore(
    of objectIDs: [NSManagedObjectID], _ tell: (NSIncrementalStore, [NSManagedObjectID]) -> Void
  ) {
    withStoresToRead {
      if let store = objectIDs.first.flatMap(presentStore),
        objectIDs.allSatisfy({ $0.identity === store.identity })
      {
        return tell(store, objectIDs)
      }
      for store in stores {
        let own = objectIDs.filter { presentStore(of: $0) === store }
        if !own.isEmpty { tell(store, own) }
      }
    }
  }
}

extension NSRelationshipDescription {
  /// The identifiers in a store's answer; nil if the answer is anything else, or if they are of objects that cannot be
  /// at the other end.
  func identifiers(in answer: Any) -> [NSManagedObjectID]? {
    guard let identifiers = anyIdentifiers(in: answer) else { return nil }
    guard let destination = destinationEntity else { return identifiers }
    var accepted = destination
    for identifier in identifiers where identifier.entity !== accepted {
      guard identifier.entity.isOrInherits(from: destination) else { return nil }
      accepted = identifier.entity
    }
    return identifiers
  }

  private func anyIdentifiers(in answer: Any) -> [NSManagedObjectID]? {
    guard isToMany else {
      if let identifier = answer as? NSManagedObjectID { return [identifier] }
      return answer is NSNull ? [] : nil
    }
    switch answer {
    case let identifiers as [NSManagedObjectID]: return identifiers
    case let identifiers as Set<NSManagedObjectID>: return Array(identifiers)
    case let array as NSArray: return Self.identifiers(array, count: array.count)
    case let set as NSOrderedSet: return Self.identifiers(set, count: set.count)
    case let set as NSSet: return Self.identifiers(set, count: set.count)
    default: return nil
    }
  }

  private static func identifiers(_ elements: some Sequence, count: Int) -> [NSManagedObjectID]? {
    let identifiers = elements.compactMap { $0 as? NSManagedObjectID }
    return identifiers.count == count ? identifiers : nil
  }
}
