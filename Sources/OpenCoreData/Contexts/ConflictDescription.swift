import Foundation

/// The texts by which conflicts describe themselves.
enum ConflictDescription {
  /// The class, the entity and the identifier of an object. Fires no fault.
  static func text(of object: NSManagedObject) -> String {
    "\(type(of: object)) (entity: \(object.entity.name ?? ""); id: \(object.objectID.uriRepresentation().absoluteString))"
  }

  /// The values of a snapshot in the order of their names; "none" if there is no snapshot.
  static func text(of snapshot: [AnyHashable: Any]?) -> String {
    guard let snapshot else { return "none" }
    let values = snapshot.map { ("\($0.key.base)", text(ofValue: $0.value)) }.sorted { $0.0 < $1.0 }
    return "{" + values.map { "\($0) = \($1)" }.joined(separator: "; ") + "}"
  }

  private static func text(ofValue value: Any) -> String {
    switch value {
    case is NSNull: "nil"
    case let id as NSManagedObjectID: id.uriRepresentation().absoluteString
    case let object as NSManagedObject: object.objectID.uriRepresentation().absoluteString
    default: "\(value)"
    }
  }
}

extension NSMergeConflict {
  /// The object, its versions and the snapshots as a text.
  var text: String {
    """
    NSMergeConflict for \(ConflictDescription.text(of: sourceObject)): oldVersion = \(oldVersionNumber), \
    newVersion = \(newVersionNumber), objectSnapshot = \(ConflictDescription.text(of: objectSnapshot)), \
    cachedSnapshot = \(ConflictDescription.text(of: cachedSnapshot)), \
    persistedSnapshot = \(ConflictDescription.text(of: persistedSnapshot))
    """
  }
}

extension NSConstraintConflict {
  /// The constraint, its values, the objects and their snapshots as a text.
  var text: String {
    let objects = zip(conflictingObjects, conflictingSnapshots).map { object, snapshot in
      "\(ConflictDescription.text(of: object)) with the snapshot \(ConflictDescription.text(of: snapshot))"
    }
    return """
      NSConstraintConflict for (\(constraint.joined(separator: ", "))): \
      constraintValues = \(ConflictDescription.text(of: constraintValues)), \
      databaseObject = \(databaseObject.map { ConflictDescription.text(of: $0) } ?? "none"), \
      databaseSnapshot = \(ConflictDescription.text(of: databaseSnapshot)), \
      conflictingObjects = [\(objects.joined(separator: ", "))]
      """
  }
}
