import Foundation
import OpenCoreData
import Testing

@Suite("Entities")
struct EntityTests {
  @Test("An entity has the properties it inherits, followed by its own.")
  func inheritance() {
    let zoo = Zoo()
    #expect(zoo.dog.superentity === zoo.animal)
    #expect(zoo.dog.properties == [zoo.name, zoo.owner, zoo.tricks])
    #expect(Set(zoo.dog.attributesByName.keys) == ["name", "tricks"])
    #expect(zoo.dog.relationshipsByName["owner"] === zoo.owner)
    #expect(zoo.owner.entity === zoo.animal)
    #expect(zoo.animal.properties == [zoo.name, zoo.owner])
    #expect(zoo.animal.subentitiesByName["Dog"] === zoo.dog)
  }

  @Test("An entity is a kind of itself and of its ancestors.")
  func kinds() {
    let zoo = Zoo()
    #expect(zoo.dog.isKindOf(entity: zoo.dog))
    #expect(zoo.dog.isKindOf(entity: zoo.animal))
    #expect(!zoo.animal.isKindOf(entity: zoo.dog))
    #expect(!zoo.dog.isKindOf(entity: zoo.keeper))
  }

  @Test("An entity that gets another superentity leaves the former one.")
  func otherSuperentity() {
    let (zoo, robot) = (Zoo(), NSEntityDescription())
    robot.subentities = [zoo.dog]
    #expect(zoo.dog.superentity === robot && zoo.animal.subentities.isEmpty)
    zoo.animal.subentities = [zoo.keeper]
    #expect(zoo.dog.superentity === robot && robot.subentities == [zoo.dog])
    #expect(zoo.keeper.superentity === zoo.animal)
    robot.subentities = []
    #expect(zoo.dog.superentity == nil)
  }

  @Test("Adding a property to a subentity's properties does not declare the inherited ones again.")
  func appending() {
    let zoo = Zoo()
    let breed = NSAttributeDescription()
    breed.name = "breed"
    zoo.dog.properties.append(breed)
    #expect(breed.entity === zoo.dog)
    #expect(zoo.name.entity === zoo.animal)
    #expect(zoo.dog.properties.map(\.name) == ["name", "owner", "tricks", "breed"])
  }

  @Test("Relationships are found by their destination.")
  func destinations() {
    let zoo = Zoo()
    #expect(zoo.dog.relationships(forDestination: zoo.keeper) == [zoo.owner])
    #expect(zoo.dog.relationships(forDestination: zoo.dog).isEmpty)
  }

  @Test("A new attribute is optional, stored and of no type; a new relationship is to-many and nullifies.")
  func defaults() {
    let attribute = NSAttributeDescription()
    #expect(attribute.isOptional && !attribute.isTransient)
    #expect(attribute.type == .undefined)
    #expect(attribute.attributeValueClassName == nil)
    attribute.type = .integer32
    #expect(attribute.attributeValueClassName == "NSNumber")
    let relationship = NSRelationshipDescription()
    #expect(relationship.isToMany && !relationship.isOrdered)
    #expect(relationship.deleteRule == .nullifyDeleteRule)
    relationship.maxCount = 1
    #expect(!relationship.isToMany)
    #expect(NSEntityDescription().managedObjectClassName == "NSManagedObject")
    #expect(NSCompositeAttributeDescription().type == .composite)
  }

  @Test("The renaming identifier is the name unless it is set.")
  func renaming() {
    let zoo = Zoo()
    #expect(zoo.dog.renamingIdentifier == "Dog" && zoo.name.renamingIdentifier == "name")
    zoo.dog.renamingIdentifier = "Hound"
    zoo.name.renamingIdentifier = "title"
    #expect(zoo.dog.renamingIdentifier == "Hound" && zoo.name.renamingIdentifier == "title")
  }

  @Test("Equal descriptions are equal, whatever model they belong to.")
  func equality() {
    let (zoo, other) = (Zoo(), Zoo())
    #expect(zoo.dog == other.dog && zoo.owner == other.owner && zoo.model == other.model)
    #expect(Set([zoo.name, other.name]).count == 1)
    #expect(zoo.name != other.keeperName)
    other.tricks.defaultValue = 1
    #expect(zoo.tricks != other.tricks && zoo.dog != other.dog && zoo.model != other.model)
    #expect(zoo.keeper == other.keeper)
  }

  @Test("Different predicates make requests and properties different.")
  func predicates() {
    func attribute(_ predicate: NSPredicate) -> NSAttributeDescription {
      let attribute = NSAttributeDescription()
      attribute.setValidationPredicates([predicate], withValidationWarnings: ["no"])
      return attribute
    }
    func all(_ formats: String...) -> NSPredicate {
      NSCompoundPredicate(type: .and, subpredicates: formats.map { NSPredicate(format: $0) })
    }
    #expect(attribute(all("SELF > 1", "SELF < 5")) == attribute(NSPredicate(format: "SELF > 1 AND SELF < 5")))
    #expect(attribute(all("SELF > 1", "SELF < 5")) != attribute(all("SELF > 1", "SELF < 6")))
    #expect(attribute(all("SELF > 1")) != attribute(NSPredicate(value: true)))
  }

  @Test("An entity that would inherit from itself ends the program.")
  func circle() async {
    await #expect(processExitsWith: .failure) {
      let zoo = Zoo()
      zoo.dog.subentities = [zoo.animal]
    }
  }
}
