import CoreData

/// Always answers with the same version, as a store does that does not count versions.
final class ConstantVersionStore: RecordingStore {
  override func newValuesForObject(
    with objectID: NSManagedObjectID, with context: NSManagedObjectContext
  ) throws -> NSIncrementalStoreNode {
    let node = try super.newValuesForObject(with: objectID, with: context)
    node.update(withValues: values(of: try row(objectID)), version: 1)
    return node
  }
}

/// Leaves relationships out of its nodes.
final class AttributesOnlyStore: RecordingStore {
  override func values(of row: BackingRow) -> [String: Any] { row.attributes }
}

/// Puts everything into its nodes, including to-many relationships and a key that the model does not know.
final class EverythingStore: RecordingStore {
  override func newValuesForObject(
    with objectID: NSManagedObjectID, with context: NSManagedObjectContext
  ) throws -> NSIncrementalStoreNode {
    let node = try super.newValuesForObject(with: objectID, with: context)
    let row = try row(objectID)
    var values = values(of: row)
    for relationship in objectID.entity.relationshipsByName.values where relationship.isToMany {
      values[relationship.name] = members(relationship, of: number(objectID)).map(identifier)
    }
    values["shoeSize"] = 43
    node.update(withValues: values, version: row.version)
    return node
  }
}
