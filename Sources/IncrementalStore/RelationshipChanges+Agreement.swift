import CoreData

/// Whether both ends of each relationship agree after a save. They do if the context knew both ends; if it did not,
/// because somebody else has changed one of them, the save must not take place.
extension RelationshipChanges {
  /// Whether an object has a row before or after the save.
  func exists(_ object: ObjectReference) throws -> Bool {
    try saved(object) != nil || snapshot.row(object.reference, in: object.entity) != nil
  }

  /// Checks the other ends of a changed to-one relationship: the new object must exist, and if the inverse is to-one,
  /// refer back; the old one must not refer back any more.
  mutating func check(
    _ object: SavedObject, _ relationship: NSRelationshipDescription, _ inverse: EntityMap.Inverse,
    _ old: ObjectReference?, _ new: ObjectReference?
  ) throws {
    if let new, !isDeleted(new), try !exists(new) { contradicted.insert(new) }
    guard case .toOne(let field) = inverse else { return }
    if let new, object.change != .deleted, !isDeleted(new),
      try end(of: field, in: new) != object.reference
    {
      contradicted.insert(new)
    }
    let mayDangle = object.change == .deleted && relationship.deleteRule == .noActionDeleteRule
    if let old, !mayDangle, !isDeleted(old), try end(of: field, in: old) == object.reference {
      contradicted.insert(old)
    }
  }

  /// Checks that the members of a deleted owner do not refer to the owner any more.
  mutating func checkLeft(
    _ members: [ObjectReference], by owner: SavedObject, _ set: EntityMap.StoredSet, _ field: UInt32
  ) throws {
    guard owner.map.entity.relationshipsByName[set.name]?.deleteRule != .noActionDeleteRule else { return }
    for member in members where !isDeleted(member) {
      if try end(of: field, in: member) == owner.reference { contradicted.insert(owner.reference) }
    }
  }

  /// The object that a to-one relationship of another object refers to after the save.
  private func end(of field: UInt32, in object: ObjectReference) throws -> ObjectReference? {
    let bytes =
      if let saved = saved(object) { saved.bytes } else {
        try snapshot.row(object.reference, in: object.entity)?.bytes
      }
    guard let bytes else { return nil }
    return try StoreFailure.reading("The row of \(object)") {
      try FieldReader.field(field, of: bytes)?.object(in: bytes)
    }
  }
}
