import CoreData

/// The model of most tests: people with houses, pets, friends and errands.
///
/// | relationship | to | rule when its owner is deleted |
/// |---|---|---|
/// | `Person.home` | one `House` | nullify |
/// | `Person.friends` | many `Person`s, which are friends in turn | nullify |
/// | `Person.pets` | many `Pet`s | cascade |
/// | `Person.errands` | many `Errand`s in order | no action |
/// | `House.residents` | many `Person`s | deny |
/// | `Pet.owner`, `Errand.person` | one `Person` | nullify |
enum Town {
  static func model(personClass: NSManagedObject.Type = NSManagedObject.self) -> NSManagedObjectModel {
    let person = entity("Person", of: personClass)
    let child = entity("Child", of: personClass)
    let house = entity("House")
    let pet = entity("Pet")
    let errand = entity("Errand")
    let home = relationship("home", to: house, isToMany: false)
    let residents = relationship("residents", to: person, rule: .denyDeleteRule)
    let friends = relationship("friends", to: person)
    let pets = relationship("pets", to: pet, rule: .cascadeDeleteRule)
    let owner = relationship("owner", to: person, isToMany: false)
    let errands = relationship("errands", to: errand, isOrdered: true, rule: .noActionDeleteRule)
    let errandOf = relationship("person", to: person, isToMany: false)
    for (one, other) in [(home, residents), (friends, friends), (pets, owner), (errands, errandOf)] {
      one.inverseRelationship = other
      other.inverseRelationship = one
    }
    let name = attribute("name", .string)
    name.isOptional = false
    let age = attribute("age", .integer16)
    age.defaultValue = 18
    age.setValidationPredicates([NSPredicate(format: "SELF >= 0")], withValidationWarnings: ["not born yet"])
    let mood = attribute("mood", .string)
    mood.isTransient = true
    person.properties = [name, age, attribute("nickname", .string), mood, home, friends, pets, errands]
    child.properties = [attribute("grade", .integer16)]
    person.subentities = [child]
    house.properties = [attribute("street", .string), residents]
    pet.properties = [attribute("name", .string), owner]
    errand.properties = [attribute("title", .string), errandOf]
    let model = NSManagedObjectModel()
    model.entities = [person, child, house, pet, errand]
    return model
  }

  static func entity(_ name: String, of type: NSManagedObject.Type = NSManagedObject.self) -> NSEntityDescription {
    let entity = NSEntityDescription()
    entity.name = name
    entity.managedObjectClassName = NSStringFromClass(type)
    return entity
  }

  static func attribute(_ name: String, _ type: NSAttributeDescription.AttributeType) -> NSAttributeDescription {
    let attribute = NSAttributeDescription()
    attribute.name = name
    attribute.type = type
    attribute.isOptional = true
    return attribute
  }

  static func relationship(
    _ name: String, to destination: NSEntityDescription, isToMany: Bool = true, isOrdered: Bool = false,
    rule: NSDeleteRule = .nullifyDeleteRule
  ) -> NSRelationshipDescription {
    let relationship = NSRelationshipDescription()
    relationship.name = name
    relationship.destinationEntity = destination
    relationship.minCount = 0
    relationship.maxCount = isToMany ? 0 : 1
    relationship.isOrdered = isOrdered
    relationship.isOptional = true
    relationship.deleteRule = rule
    return relationship
  }
}
