import OpenCoreData

/// A small model made in code: keepers with pets, of which some are dogs.
struct Zoo {
  let model = NSManagedObjectModel()
  let animal = NSEntityDescription()
  let dog = NSEntityDescription()
  let keeper = NSEntityDescription()
  let name = NSAttributeDescription()
  let tricks = NSAttributeDescription()
  let keeperName = NSAttributeDescription()
  let owner = NSRelationshipDescription()
  let pets = NSRelationshipDescription()

  init() {
    animal.name = "Animal"
    animal.isAbstract = true
    dog.name = "Dog"
    keeper.name = "Keeper"

    name.name = "name"
    name.type = .string
    tricks.name = "tricks"
    tricks.type = .integer16
    tricks.defaultValue = 0
    keeperName.name = "name"
    keeperName.type = .string
    keeperName.isOptional = false

    owner.name = "owner"
    owner.destinationEntity = keeper
    owner.inverseRelationship = pets
    owner.maxCount = 1
    pets.name = "pets"
    pets.destinationEntity = animal
    pets.inverseRelationship = owner
    pets.deleteRule = .cascadeDeleteRule

    animal.properties = [name, owner]
    animal.subentities = [dog]
    dog.properties = [tricks]
    keeper.properties = [keeperName, pets]
    model.entities = [animal, dog, keeper]
  }
}
