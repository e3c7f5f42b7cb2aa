import OpenCoreData

/// A model with attributes of all types, subentities, constraints, and relationships of every kind.
enum Example {
  static var model: NSManagedObjectModel {
    let (person, animal, dog, cat) = (entity("Person"), entity("Animal"), entity("Dog"), entity("Cat"))
    animal.subentities = [dog, cat]

    let pets = toMany("pets", animal)
    let owner = toOne("owner", person)
    join(pets, owner)
    let friends = toMany("friends", person)
    join(friends, friends)
    let favourites = toMany("favourites", animal)
    favourites.isOrdered = true
    let admirers = toMany("admirers", person)
    join(favourites, admirers)

    let email = attribute("email", .stringAttributeType)
    email.preservesValueInHistoryOnDeletion = true
    person.properties = [
      attribute("name", .stringAttributeType), attribute("born", .dateAttributeType), email, pets, friends, favourites,
    ]
    person.uniquenessConstraints = [["name"], ["email", "born"]]
    person.indexes = [index(["born", "name"], of: person), index(["name"], of: person, where: "born != nil")]
    // `walker` and `seen` have no inverse. When the objects that they refer to are deleted, `walker` keeps its reference
    // and `seen` loses its member.
    animal.properties = [
      attribute("name", .stringAttributeType), owner, admirers, toOne("walker", person), toMany("seen", person),
    ]
    animal.uniquenessConstraints = [["name"]]
    animal.indexes = [index(["owner"], of: animal)]
    cat.properties = [attribute("lives", .integer16AttributeType)]

    let model = NSManagedObjectModel()
    model.entities = [person, animal, dog, cat, sample]
    return model
  }

  private static var sample: NSEntityDescription {
    let transformed = attribute("transformed", .transformableAttributeType)
    transformed.valueTransformerName = "Reversing"
    let position = NSCompositeAttributeDescription()
    position.name = "position"
    position.elements = [attribute("latitude", .doubleAttributeType), attribute("longitude", .doubleAttributeType)]
    let place = NSCompositeAttributeDescription()
    place.name = "place"
    place.elements = [attribute("city", .stringAttributeType), position]

    let sample = entity("Sample")
    sample.properties = [
      attribute("short", .integer16AttributeType), attribute("middle", .integer32AttributeType),
      attribute("long", .integer64AttributeType), attribute("decimal", .decimalAttributeType),
      attribute("double", .doubleAttributeType), attribute("float", .floatAttributeType),
      attribute("string", .stringAttributeType), attribute("flag", .booleanAttributeType),
      attribute("date", .dateAttributeType), attribute("data", .binaryDataAttributeType),
      attribute("uuid", .UUIDAttributeType), attribute("link", .URIAttributeType),
      attribute("target", .objectIDAttributeType), transformed, place,
    ]
    sample.indexes = ["short", "double", "float", "string", "flag", "date", "data", "uuid", "decimal"].map {
      index([$0], of: sample)
    }
    sample.indexes += [
      index(["long"], of: sample, where: "flag == YES AND double < 1000"),
      index(["date"], of: sample, where: "string >= 'a' AND short != 1"),
    ]
    return sample
  }

  private static func index(
    _ names: [String], of entity: NSEntityDescription, where condition: String? = nil
  ) -> NSFetchIndexDescription {
    let elements = names.compactMap { entity.propertiesByName[$0] }
      .map { NSFetchIndexElementDescription(property: $0, collationType: .binary) }
    let index = NSFetchIndexDescription(name: names.joined(separator: " "), elements: elements)
    index.partialIndexPredicate = condition.map { NSPredicate(format: $0) }
    return index
  }

  private static func entity(_ name: String) -> NSEntityDescription {
    let entity = NSEntityDescription()
    entity.name = name
    return entity
  }

  private static func attribute(_ name: String, _ type: NSAttributeType) -> NSAttributeDescription {
    let attribute = NSAttributeDescription()
    (attribute.name, attribute.attributeType, attribute.isOptional) = (name, type, true)
    return attribute
  }

  private static func toMany(_ name: String, _ destination: NSEntityDescription) -> NSRelationshipDescription {
    let relationship = NSRelationshipDescription()
    (relationship.name, relationship.destinationEntity, relationship.isOptional) = (name, destination, true)
    relationship.deleteRule = .nullifyDeleteRule
    return relationship
  }

  private static func toOne(_ name: String, _ destination: NSEntityDescription) -> NSRelationshipDescription {
    let relationship = toMany(name, destination)
    relationship.maxCount = 1
    return relationship
  }

  private static func join(_ one: NSRelationshipDescription, _ other: NSRelationshipDescription) {
    (one.inverseRelationship, other.inverseRelationship) = (other, one)
  }
}
