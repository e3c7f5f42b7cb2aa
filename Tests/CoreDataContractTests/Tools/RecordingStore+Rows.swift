import CoreData

extension RecordingStore {
  var backing: Backing { options![Backing.option] as! Backing }

  func record(_ call: StoreCall) throws {
    calls.append(call)
    if let method = call.method, backing.failing.contains(method) { throw Refusal(method: method) }
  }

  func entity(_ name: String) -> NSEntityDescription {
    persistentStoreCoordinator!.managedObjectModel.entitiesByName[name]!
  }

  /// The identifier of a row.
  func identifier(_ number: Int) -> NSManagedObjectID {
    newObjectID(for: entity(backing.rows[number]!.entityName), referenceObject: NSNumber(value: number))
  }

  /// The number of the row that an identifier stands for. It is a string in an identifier that was a URI.
  func number(_ objectID: NSManagedObjectID) -> Int { Int("\(referenceObject(for: objectID))")! }

  func name(_ objectID: NSManagedObjectID) -> String {
    "\(objectID.entity.name!)/\(objectID.isTemporaryID ? "temporary" : "\(number(objectID))")"
  }

  func row(_ objectID: NSManagedObjectID) throws -> Backing.Row {
    guard let row = backing.rows[number(objectID)] else { throw cocoaError(133000) }
    return row
  }

  /// The numbers of the rows at the other end of a to-many relationship.
  func members(_ relationship: NSRelationshipDescription, of number: Int) -> [Int] {
    if isKept(relationship) { return backing.rows[number]?.toMany[relationship.name] ?? [] }
    let inverse = relationship.inverseRelationship!.name
    return backing.rows.keys.filter { backing.rows[$0]!.toOne[inverse] == number }.sorted()
  }

  /// Whether the row itself has the members of a to-many relationship: the other end does not say which they are.
  func isKept(_ relationship: NSRelationshipDescription) -> Bool {
    relationship.isToMany && (relationship.isOrdered || relationship.inverseRelationship?.isToMany != false)
  }
}

func cocoaError(_ code: Int, _ userInfo: [String: Any] = [:]) -> NSError {
  NSError(domain: NSCocoaErrorDomain, code: code, userInfo: userInfo)
}
