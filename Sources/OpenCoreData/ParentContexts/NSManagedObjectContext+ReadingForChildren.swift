import Foundation

/// What a child reads from its parent: the rows of the stores with the unsaved changes of all ancestors. Objects that
/// the parent does not have already are read through it without being registered in it.
extension NSManagedObjectContext {
  /// The row of an object.
  ///
  /// - Throws: 133000 if there is no row or the object is deleted here; any error of a store.
  func nodeForChild(_ id: NSManagedObjectID) throws -> NSIncrementalStoreNode {
    guard let object = registry[id] else { return try node(for: id) }
    guard !object.isDeleted else { throw StoreCalls.missing(id) }
    return object.isFault ? try node(for: id) : try ContextRow(object, in: self)
  }

  /// The identifiers at the other end of a relationship.
  ///
  /// - Throws: as ``nodeForChild(_:)``.
  func relatedIDsForChild(
    _ relationship: NSRelationshipDescription, of id: NSManagedObjectID
  ) throws -> [NSManagedObjectID] {
    if let object = registry[id] {
      guard !object.isDeleted else { throw StoreCalls.missing(id) }
      if let related = try object.relatedUnlessFault(relationship, self) { return try permanentIDs(of: related) }
    }
    let ids = try relatedIDs(relationship, of: id)
    return relationship.inverseRelationship == nil ? ids.filter { registry[$0]?.isDeleted != true } : ids
  }
}

extension NSManagedObject {
  /// The objects of a relationship, unless they are those of the row and have not been read.
  fileprivate final func relatedUnlessFault(
    _ relationship: NSRelationshipDescription, _ context: NSManagedObjectContext
  ) throws -> [NSManagedObject]? {
    guard !values.isEmpty, let place = layout.place(of: relationship.name) else { return nil }
    switch values[place] {
    case .members(let members) where !members.isFault || members.hasChanges:
      return try context.throwingErrorsOfFaults { self.members(of: relationship, at: place).elements }
    case .members, .fault: return nil
    default: return toOne(at: place).map { [$0] } ?? []
    }
  }
}
