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
    // Most objects are of the same entity as the one before, and in the same store.
    var last: (entity: NSEntityDescription, group: Int)?
    for object in objects {
      let assigned = context.assignedStores[ObjectIdentifier(object)]
      if assigned == nil, let last, last.entity === object.entity {
        groups[last.group].objects.append(object)
        continue
      }
      let store = try coordinator.store(for: object.entity, assigned: assigned)
      let group = groups.firstIndex { $0.store === store } ?? groups.count
      if group == groups.count { groups.append((store, [])) }
      groups[group].objects.append(object)
      last = assigned == nil ? (object.entity, group) : nil
    }
    return groups
  }
}

extension NSManagedObjectContext {
  /// Reads the row of an object, as the stores or the parent have it.
  func node(for id: NSManagedObjectID) throws -> NSIncrementalStoreNode {
    if let parent { return try parent.performAndWait { try parent.nodeForChild(id) } }
    guard !id.isTemporaryID, let coordinator = persistentStoreCoordinator else { throw StoreCalls.missing(id) }
    return try coordinator.node(for: id, self)
  }

  /// The identifiers at the other end of a relationship, as the stores or the parent have them.
  func relatedIDs(
    _ relationship: NSRelationshipDescription, of id: NSManagedObjectID
  ) throws -> [NSManagedObjectID] {
    if let parent { return try parent.performAndWait { try parent.relatedIDsForChild(relationship, of: id) } }
    guard !id.isTemporaryID, let coordinator = persistentStoreCoordinator else { return [] }
    return try coordinator.relatedIDs(relationship, of: id, self)
  }

  /// Whether an error says that the row of an object is gone. Handles any other error as that of an unreadable fault.
  func isRowGone(of object: NSManagedObject, _ error: any Error) -> Bool {
    if StoreCalls.isMissing(error) { return true }
    handleUnreadable(object, error)
    return false
  }

  /// Handles a fault whose row cannot be read: gives it no values and deletes it, or handles it as unreadable.
  func handleInaccessible(_ object: NSManagedObject, _ key: String?, _ error: any Error) {
    let property = key.flatMap { object.entity.propertiesByName[$0] }
    guard StoreCalls.isMissing(error),
      shouldHandleInaccessibleFault(object, for: object.objectID, triggeredByProperty: property)
    else {
      handleUnreadable(object, error, property)
      return
    }
    // All that is known of a fault is the objects that were related to it here.
    var related: [(other: NSManagedObject, inverse: NSRelationshipDescription)] = []
    object.forEachKnownRelated { other, inverse in if other !== object { related.append((other, inverse)) } }
    object.becomeInaccessible()
    // They may be gone, too.
    for (other, inverse) in related { other.dropInverse(object, inverse) }
    dropFromOwners([object])
    if !object.isDeleted { pending.delete(inaccessible: object) }
  }
}

/// The errors of faults that fire while a call that can throw is reading values.
final class UnreadableFaults {
  fileprivate(set) var error: (any Error)?
}

extension NSManagedObjectContext {
  /// Runs a closure that reads values, and throws the error of the first fault that could not be read meanwhile. Such a
  /// fault has no values for the closure, so what the closure makes of them is not used.
  func throwingErrorsOfFaults<Result>(_ body: () throws -> Result) throws -> Result {
    let (outer, own) = (unreadable, UnreadableFaults())
    unreadable = own
    defer { unreadable = outer }
    let result = try body()
    if let error = own.error { throw error }
    return result
  }

  /// Runs a method of the application. It must not mistake an unreadable fault for one without values, so such a fault
  /// ends the program.
  func endingTheProgramOnUnreadableFaults(_ body: () -> Void) {
    let outer = unreadable
    unreadable = nil
    body()
    unreadable = outer
  }

  /// Records the error of a fault that cannot be read for the call that throws it, or ends the program.
  func handleUnreadable(_ object: NSManagedObject, _ error: any Error, _ property: NSPropertyDescription? = nil) {
    guard let unreadable else {
      let what = property.map { "\($0.name) of \(object.objectID)" } ?? "a fault of \(object.objectID)"
      fatalError("\(label) could not fulfil \(what): \(error.localizedDescription)")
    }
    unreadable.error = unreadable.error ?? error
  }
}
