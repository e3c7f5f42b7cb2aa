import CoreData

extension BackedStore {
  var backing: Backing { options![Backing.option] as! Backing }

  func entity(_ name: String) -> NSEntityDescription {
    persistentStoreCoordinator!.managedObjectModel.entitiesByName[name]!
  }

  /// The identifier of a row.
  func identifier(_ number: Int) -> NSManagedObjectID {
    newObjectID(for: entity(backing.rows[number]!.entityName), referenceObject: NSNumber(value: number))
  }

  /// The number of the row that an identifier stands for. In an identifier made from a URI, the number is a string.
  func number(_ objectID: NSManagedObjectID) -> Int { Int("\(referenceObject(for: objectID))")! }

  func row(_ objectID: NSManagedObjectID) throws -> BackingRow {
    guard let row = backing.rows[number(objectID)] else { throw cocoaError(133000) }
    return row
  }

  /// The numbers of the rows at the other end of a to-many relationship.
  func members(_ relationship: NSRelationshipDescription, of number: Int) -> [Int] {
    if isKept(relationship) { return backing.rows[number]?.toMany[relationship.name] ?? [] }
    let inverse = relationship.inverseRelationship!.name
    return backing.rows.keys.filter { backing.rows[$0]!.toOne[inverse] == number }.sorted()
  }

  /// Whether the row itself lists the members of a to-many relationship, because they do not follow from the other end.
  func isKept(_ relationship: NSRelationshipDescription) -> Bool {
    relationship.isToMany && (relationship.isOrdered || relationship.inverseRelationship?.isToMany != false)
  }
}
