import CoreData

/// The model of the objects of a simulated service.
enum Tracker {
  static func model() -> NSManagedObjectModel {
    let bug = entity(
      "Bug",
      [
        "title": .stringAttributeType, "state": .stringAttributeType, "priority": .integer64AttributeType,
        "token": .stringAttributeType, "serial": .integer64AttributeType,
      ])
    let user = entity("User", ["name": .stringAttributeType, "token": .stringAttributeType])
    let tag = entity("Tag", ["name": .stringAttributeType, "token": .stringAttributeType])
    relate(bug, "assignee", isToMany: false, user, "assigned")
    relate(bug, "tags", isToMany: true, tag, "bugs")
    let model = NSManagedObjectModel()
    model.entities = [bug, user, tag]
    return model
  }

  private static func entity(_ name: String, _ attributes: [String: NSAttributeType]) -> NSEntityDescription {
    let entity = NSEntityDescription()
    entity.name = name
    entity.properties = attributes.sorted { $0.key < $1.key }.map { name, type in
      let attribute = NSAttributeDescription()
      (attribute.name, attribute.attributeType, attribute.isOptional) = (name, type, true)
      return attribute
    }
    return entity
  }

  private static func relate(
    _ one: NSEntityDescription, _ name: String, isToMany: Bool, _ other: NSEntityDescription, _ inverse: String
  ) {
    let (there, back) = (NSRelationshipDescription(), NSRelationshipDescription())
    (there.name, there.destinationEntity, there.maxCount) = (name, other, isToMany ? 0 : 1)
    (back.name, back.destinationEntity, back.maxCount) = (inverse, one, 0)
    for relationship in [there, back] {
      relationship.isOptional = true
      relationship.deleteRule = .nullifyDeleteRule
    }
    (there.inverseRelationship, back.inverseRelationship) = (back, there)
    one.properties.append(there)
    other.properties.append(back)
  }
}
