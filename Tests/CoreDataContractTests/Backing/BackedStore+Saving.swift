import CoreData

extension BackedStore {
  /// Applies a save. A new row has version 1; every later save that includes the object adds 1.
  func apply(_ request: NSSaveChangesRequest) {
    backing.metadata = metadata
    for object in request.insertedObjects ?? [] { backing.rows[number(object.objectID)] = newRow(object) }
    for object in request.updatedObjects ?? [] { update(object) }
    for object in request.lockedObjects ?? [] { backing.rows[number(object.objectID)]?.version += 1 }
    for object in request.deletedObjects ?? [] { backing.rows[number(object.objectID)] = nil }
  }

  private func newRow(_ object: NSManagedObject) -> BackingRow {
    let relationships = object.entity.relationshipsByName.values
    return BackingRow(
      entityName: object.entity.name!, attributes: attributes(object), toOne: toOne(object),
      toMany: members(object, relationships.filter(isKept)))
  }

  private func update(_ object: NSManagedObject) {
    let number = number(object.objectID)
    guard var row = backing.rows[number] else { return }
    row.version += 1
    row.attributes = attributes(object)
    row.toOne = toOne(object)
    let kept = object.entity.relationshipsByName.values.filter(isKept)
    if !kept.isEmpty {
      let changed = object.changedValues().keys
      row.toMany.merge(members(object, kept.filter { changed.contains($0.name) })) { $1 }
    }
    backing.rows[number] = row
  }

  private func attributes(_ object: NSManagedObject) -> [String: Any] {
    object.entity.attributesByName.filter { !$0.value.isTransient }.compactMapValues { object.value(forKey: $0.name) }
  }

  private func toOne(_ object: NSManagedObject) -> [String: Int] {
    object.entity.relationshipsByName.filter { !$0.value.isToMany }.compactMapValues { relationship in
      (object.value(forKey: relationship.name) as? NSManagedObject).map { number($0.objectID) }
    }
  }

  private func members(
    _ object: NSManagedObject, _ relationships: [NSRelationshipDescription]
  ) -> [String: [Int]] {
    var members: [String: [Int]] = [:]
    for relationship in relationships {
      members[relationship.name] = object.members(relationship.name).map { number($0.objectID) }
    }
    return members
  }
}
