import Foundation

extension NSManagedObjectContext {
  // MARK: Known objects

  /// The objects of the context that are in memory, in no particular order.
  ///
  /// - Complexity: O(number of objects).
  public var registeredObjects: Set<NSManagedObject> {
    checkQueue()
    forgetFreed()
    return Set(registry.objects)
  }

  /// The objects inserted since the last save.
  ///
  /// - Complexity: O(number of inserted objects). The next two properties have the same complexity.
  public var insertedObjects: Set<NSManagedObject> {
    checkQueue()
    return Set(pending.inserted)
  }

  /// The objects changed since the last save, without those inserted or deleted.
  public var updatedObjects: Set<NSManagedObject> {
    checkQueue()
    return Set(pending.updated)
  }

  /// The objects that the next save deletes.
  public var deletedObjects: Set<NSManagedObject> {
    checkQueue()
    return Set(pending.deleted)
  }

  /// Whether there is anything to save.
  public var hasChanges: Bool {
    checkQueue()
    return !pending.isEmpty
  }

  /// The object with an identifier, if the context has it. Calls no store.
  public func registeredObject(for objectID: NSManagedObjectID) -> NSManagedObject? {
    checkQueue()
    return registry[objectID]
  }

  /// The object with an identifier. If the context does not have it yet, it is a new fault, whether the store has a row
  /// or not.
  public func object(with objectID: NSManagedObjectID) -> NSManagedObject {
    checkQueue()
    forgetFreed(beforeMaking: idInAncestors(objectID))
    return objectOrFault(objectID)
  }

  /// The object with an identifier: the registered one, or a new fault.
  ///
  /// - Parameter isOwn: Whether the identifier is surely one of the context's coordinator.
  private func objectOrFault(_ objectID: NSManagedObjectID, isOwn: Bool = false) -> NSManagedObject {
    let objectID = idInAncestors(objectID)
    if let object = registry[objectID] { return object }
    let object = makeFault(isOwn ? objectID : ownID(objectID))
    guard !objectID.isTemporaryID else { return object }
    if unsafe untold == nil {
      persistentStoreCoordinator?.didRegister([objectID])
    } else {
      unsafe untold?.append(objectID)
    }
    return object
  }

  /// The object of a row that a store of the coordinator has found for a request that wants no faults. If it is a fault,
  /// it takes the row as far as the context can use it now; otherwise the fault fires later.
  ///
  /// - Parameter row: Checks that the row can be decoded.
  package func object(
    with objectID: NSManagedObjectID, realisedBy row: () throws -> ManagedRow
  ) -> NSManagedObject {
    let object = objectOrFault(objectID, isOwn: true)
    guard takesFetchedRows, object.isFault, let row = try? row() else { return object }
    object.take(row)
    unsafe realised.append(object)
    return object
  }

  /// The objects with identifiers. Tells the stores of all new ones in one call.
  func objects(with ids: [NSManagedObjectID]) -> [NSManagedObject] {
    checkQueue()
    forgetFreed()
    registry.reserve(ids.count)
    return registeringTogether { ids.map { objectOrFault($0) } }
  }

  /// Runs a closure, then tells the stores in one call of all objects that it has registered.
  func registeringTogether<Result>(_ body: () throws -> Result) rethrows -> Result {
    guard unsafe untold == nil else { return try body() }
    unsafe untold = []
    defer {
      let ids = unsafe untold ?? []
      unsafe untold = nil
      if !ids.isEmpty { persistentStoreCoordinator?.didRegister(ids) }
    }
    return try body()
  }

  /// The object with an identifier, with its values.
  ///
  /// - Throws: 133000 if the object has no row; any other error of the store.
  public func existingObject(with objectID: NSManagedObjectID) throws -> NSManagedObject {
    checkQueue()
    let objectID = idInAncestors(objectID)
    if try persistentStoreCoordinator?.requireWhole(objectID, self) == true, let object = registry[objectID] {
      refresh(object, mergeChanges: true)
    }
    if let object = registry[objectID] {
      guard !object.isDeleted || !object.isFault else { throw StoreCalls.missing(objectID) }
      try object.realise(self)
      return object
    }
    guard !objectID.isTemporaryID else { throw StoreCalls.missing(objectID) }
    let node = try node(for: objectID)
    let object = object(with: objectID)
    if object.isFault {
      try object.take(node, self)
      object.awakeFromFetch(in: self)
    }
    return object
  }

  private func ownID(_ id: NSManagedObjectID) -> NSManagedObjectID { persistentStoreCoordinator?.ownID(id) ?? id }

  /// Makes a fault, whether the store has a row or not.
  ///
  /// - Parameter id: An identifier of the context's coordinator.
  func makeFault(_ id: NSManagedObjectID) -> NSManagedObject {
    faultInTheMaking = id
    return id.entity.objectClass.init(entity: id.entity, insertInto: self)
  }

  func register(_ object: NSManagedObject) {
    object.registry = registry
    registry.add(object)
    if isRetaining { retained.append(object) }
  }

  /// Tells the stores which objects have been freed.
  func forgetFreed() { unregister(registry.takeFreed) }

  /// Tells the stores which objects have been freed, once they are many, or if the object that is going to be made is
  /// among them: stores learn that an object is gone before they learn that it is there again.
  private func forgetFreed(beforeMaking id: NSManagedObjectID) {
    unregister { registry.takeFreed(ifManyOr: id) }
  }

  private func unregister(_ takeFreed: () -> [NSManagedObjectID]) {
    // Stores must learn of new objects first.
    guard unsafe untold == nil else { return }
    let freed = takeFreed()
    if !freed.isEmpty { persistentStoreCoordinator?.didUnregister(freed) }
  }

  // MARK: Inserting and deleting

  /// Inserts an object, which the next save stores as a new row. If the object is in this context already, nothing
  /// happens, except that a deleted object is no longer deleted.
  ///
  /// Objects that the inserted object refers to refer to it again. An object whose deletion has been saved gets a new
  /// identifier.
  public func insert(_ object: NSManagedObject) {
    checkQueue()
    if bringIn(object) { object.awake { $0.awakeFromInsert() } }
  }

  /// As ``insert(_:)``, but does not call `awakeFromInsert()`. Returns whether the object was not in the context before.
  @discardableResult
  func bringIn(_ object: NSManagedObject) -> Bool {
    undoRecorder?.note(object)
    if object.registry === registry {
      guard object.state.change == .deleted else { return false }
      if pending.revive(object) { object.relateAgain() }
      readMembersOfOwnersAgain()
      if object.hasChangedValues { object.noteChange() }
      return false
    }
    require(object.registry == nil, "The object \(object.objectID) is in another context.")
    object.leaveRow()
    register(object)
    pending.insert(object)
    object.relateAgain()
    return true
  }

  /// Deletes an object; the next save deletes its row. ``propagatesDeletesAtEndOfEvent`` determines when the deletion
  /// reaches related objects.
  ///
  /// An object that was never saved leaves the context.
  public func delete(_ object: NSManagedObject) {
    checkQueue()
    require(object.registry === registry, "The object \(object.objectID) is in another context.")
    guard !object.isDeleted, !object.state.marks.contains(.preparing) else { return }
    undoRecorder?.note(object)
    object.callPrepareForDeletion()
    pending.delete(object)
  }

  /// Applies the delete rules of deleted objects, and of the objects that these rules delete in turn. Those of objects
  /// that cannot be read, or whose related objects cannot be read, are to be applied later. Does nothing outside of a
  /// save if the context propagates deletions only then.
  ///
  /// - Returns: the error of the first such object.
  @discardableResult
  func propagateDeletions() -> (any Error)? {
    guard !isPropagating, propagatesDeletesAtEndOfEvent || isSaving else { return nil }
    isPropagating = true
    defer { isPropagating = false }
    var waiting: [NSManagedObject] = []
    var deleted: [NSManagedObject] = []
    var first: (any Error)?
    while !pending.propagating.isEmpty {
      var rest = pending.takePropagating()[...]
      while !rest.isEmpty {
        let objects = rest.prefix(Self.objectsReadTogether)
        rest = rest.dropFirst(objects.count)
        readForDeleteRules(objects)
        for object in objects where object.isDeleted {
          do {
            try throwingErrorsOfFaults { propagateDeletion(of: object) }
            if object.isInserted { forget(object) }
            deleted.append(object)
          } catch {
            waiting.append(object)
            first = first ?? error
          }
        }
      }
    }
    pending.propagate(waiting)
    dropFromOwners(deleted)
    return first
  }

  /// As ``propagateDeletions()``, but throws the error.
  func propagateAllDeletions() throws {
    if let error = propagateDeletions() { throw error }
  }

  private func propagateDeletion(of object: NSManagedObject) {
    for (place, slot) in object.layout.slots.enumerated() {
      guard let relationship = slot.relationship else { continue }
      // No object may keep referring to an object that was never saved.
      let isNullified = object.isInserted && relationship.deleteRule != .cascadeDeleteRule
      let rule = isNullified ? .nullifyDeleteRule : relationship.deleteRule
      guard rule == .cascadeDeleteRule || rule == .nullifyDeleteRule else { continue }
      if rule == .nullifyDeleteRule, relationship.inverseRelationship == nil { continue }
      object.fireFault(slot.name)
      guard !object.isFault, !object.isInaccessible else { return }
      let related =
        slot.isToMany
        ? object.members(of: relationship, at: place).elements : object.toOne(at: place).map { [$0] } ?? []
      for other in related where isPresent(other) || object.isInserted && other.registry === registry {
        if rule == .cascadeDeleteRule {
          delete(other)
        } else if let inverse = relationship.inverseRelationship {
          other.dropInverse(object, inverse)
        }
      }
    }
  }

  /// Removes an object that was inserted and never saved from the context.
  func forget(_ object: NSManagedObject) {
    if object.state.marks.contains(.reinserted) { persistentStoreCoordinator?.didUnregister([object.objectID]) }
    pending.forget(object)
    registry.remove(object.objectID)
    retained.remove(object)
    assignedStores[ObjectIdentifier(object)] = nil
    object.registry = nil
    departed.append(object)
  }

  /// Chooses the store that an inserted object is saved to, if several stores could save it.
  public func assign(_ object: Any, to store: NSPersistentStore) {
    checkQueue()
    guard let object = object as? NSManagedObject else { fatalError("\(object) is no managed object.") }
    require(object.registry === registry, "The object \(object.objectID) is in another context.")
    require(object.objectID.isTemporaryID, "The object \(object.objectID) is in a store already.")
    assignedStores[ObjectIdentifier(object)] = store
  }

  /// Gives inserted objects the permanent identifiers of their stores before they are saved. Objects that are not in
  /// the context keep theirs.
  public func obtainPermanentIDs(for objects: [NSManagedObject]) throws {
    checkQueue()
    let wanted = ObjectList(objects.filter { $0.registry === registry && $0.objectID.isTemporaryID }).elements
    guard !wanted.isEmpty, let coordinator = persistentStoreCoordinator else { return }
    for (store, objects) in try StoreCalls.byStore(wanted, self, coordinator) {
      let ids = try coordinator.obtainPermanentIDs(for: objects, in: store)
      for (object, id) in zip(objects, ids) { registry.rename(object, to: id) }
    }
  }

  /// Makes the next save check that nobody else has changed an object, even if it is unchanged here.
  public func detectConflicts(for object: NSManagedObject) {
    checkQueue()
    require(object.registry === registry, "The object \(object.objectID) is in another context.")
    pending.lock(object)
  }

  // MARK: Entities

  /// The entity that has a class. The model of the coordinator must have exactly one.
  func entity(of type: NSManagedObject.Type) -> NSEntityDescription {
    guard let model = persistentStoreCoordinator?.managedObjectModel else {
      fatalError("\(label) has no coordinator, and so no model with the class \(type).")
    }
    guard let entity = model.entity(of: type) else {
      fatalError("The model has no entity, or several, of the class \(type): name the entity.")
    }
    return entity
  }
}

extension NSEntityDescription {
  /// The entity with a name in the model of a context's coordinator.
  public class func entity(
    forEntityName entityName: String, in context: NSManagedObjectContext
  ) -> NSEntityDescription? {
    context.persistentStoreCoordinator?.managedObjectModel.entitiesByName[entityName]
  }

  /// Inserts a new object of the entity with a name, and of the entity's class, into a context. There must be such an
  /// entity.
  public class func insertNewObject(
    forEntityName entityName: String, into context: NSManagedObjectContext
  ) -> NSManagedObject {
    guard let entity = entity(forEntityName: entityName, in: context) else {
      fatalError("\(context.label) knows no entity named \"\(entityName)\".")
    }
    return entity.objectClass.init(entity: entity, insertInto: context)
  }

  var objectClass: NSManagedObject.Type {
    guard let type = managedObjectClass else {
      fatalError(
        "The entity \(name ?? "") has the class \(managedObjectClassName ?? ""), which is not in the program.")
    }
    return type
  }
}
