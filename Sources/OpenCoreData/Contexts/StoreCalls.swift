import Foundation

/// The error for a missing row, and the assignment of inserted objects to stores.
enum StoreCalls {
  /// The error for an identifier that has no row.
  static func missing(_ id: NSManagedObjectID) -> NSError {
    CoreDataError.make(
      NSManagedObjectReferentialIntegrityError, "There is no row of \(id.uriRepresentation().absoluteString).",
      [NSAffectedObjectsErrorKey: [id]])
  }

  /// Whether an error says that there is no row.
  static func isMissing(_ error: any Error) -> Bool {
    let error = error as NSError
    return error.domain == NSCocoaErrorDomain && error.code == NSManagedObjectReferentialIntegrityError
  }

  /// Groups inserted objects by the stores that they are saved to, in their order.
  static func byStore(
    _ objects: [NSManagedObject], _ context: NSManagedObjectContext, _ coordinator: NSPersistentStoreCoordinator
  ) throws -> [(store: NSPersistentStore, objects: [NSManagedObject])] {
    var groups: [(store: NSPersistentStore, objects: [NSManagedObject])] = []
    for object in objects {
      let assigned = context.assignedStores[ObjectIdentifier(object)]
      let store = try coordinator.store(for: object.entity, assigned: assigned)
      if let group = groups.firstIndex(where: { $0.store === store }) {
        groups[group].objects.append(object)
      } else {
        groups.append((store, [object]))
      }
    }
    return groups
  }
}

extension NSManagedObjectContext {
  /// Reads the row of an object.
  func node(for id: NSManagedObjectID) throws -> NSIncrementalStoreNode {
    guard !id.isTemporaryID, let coordinator = persistentStoreCoordinator else { throw StoreCalls.missing(id) }
    return try coordinator.node(for: id, self)
  }

  /// The identifiers at the other end of a relationship.
  func relatedIDs(
    _ relationship: NSRelationshipDescription, of id: NSManagedObjectID
  ) throws -> [NSManagedObjectID] {
    guard !id.isTemporaryID, let coordinator = persistentStoreCoordinator else { return [] }
    return try coordinator.relatedIDs(relationship, of: id, self)
  }

  /// Ends the program unless the error says that the row of an object is gone.
  func requireMissingRow(of object: NSManagedObject, _ error: any Error) {
    guard StoreCalls.isMissing(error) else {
      preconditionFailure("\(label) could not read \(object.objectID): \(error.localizedDescription)")
    }
  }

  /// Handles a fault whose row cannot be read: gives it no values and deletes it, or ends the program.
  func handleInaccessible(_ object: NSManagedObject, _ key: String?, _ error: any Error) {
    let property = key.flatMap { object.entity.propertiesByName[$0] }
    guard StoreCalls.isMissing(error),
      shouldHandleInaccessibleFault(object, for: object.objectID, triggeredByProperty: property)
    else {
      preconditionFailure("\(label) could not fulfil a fault of \(object.objectID): \(error.localizedDescription)")
    }
    // All that is known of a fault is the objects that were related to it here.
    object.forEachKnownRelated { other, inverse in other.dropInverse(object, inverse) }
    object.values = object.layout.slots.map { slot in
      guard case .toMany(let relationship) = slot.kind else { return .null }
      return .members(RelatedObjects(isOrdered: relationship.isOrdered, members: ObjectList()))
    }
    object.state.remove(.fault)
    object.state.insert(.inaccessible)
    guard !object.isDeleted else { return }
    pending.updated.remove(object)
    object.state.remove(.updated)
    object.state.insert(.deleted)
    pending.deleted.append(object)
    pending.event.deleted.append(object)
  }
}
