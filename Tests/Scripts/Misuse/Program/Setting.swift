import CoreData
import Foundation

final class Person: NSManagedObject {}
final class Pet: NSManagedObject {}
final class Stranger: NSManagedObject {}

/// People and their pets, in memory or in a store that gives what it is told to give.
struct Setting {
  let container: NSPersistentContainer
  let context: NSManagedObjectContext

  init(_ type: String = NSInMemoryStoreType) throws {
    NSPersistentStoreCoordinator.registerStoreClass(GivingStore.self, forStoreType: "Giving")
    container = NSPersistentContainer(name: "Pets", managedObjectModel: Self.model())
    container.persistentStoreDescriptions[0].type = type
    var failure: (any Error)?
    container.loadPersistentStores { _, error in failure = error }
    if let failure { throw failure }
    context = container.newBackgroundContext()
    context.name = "cellar"
  }

  static func model() -> NSManagedObjectModel {
    let (being, person, pet) = (NSEntityDescription(), NSEntityDescription(), NSEntityDescription())
    being.name = "Being"
    being.isAbstract = true
    (person.name, person.managedObjectClassName) = ("Person", "Person")
    (pet.name, pet.managedObjectClassName) = ("Pet", NSStringFromClass(Pet.self))
    let (name, number) = (NSAttributeDescription(), NSAttributeDescription())
    (name.name, name.attributeType) = ("name", .stringAttributeType)
    (number.name, number.attributeType) = ("number", .integer16AttributeType)
    let (pets, owner) = (NSRelationshipDescription(), NSRelationshipDescription())
    (pets.name, pets.destinationEntity, pets.inverseRelationship) = ("pets", pet, owner)
    (owner.name, owner.destinationEntity, owner.inverseRelationship) = ("owner", person, pets)
    let (guests, host) = (NSRelationshipDescription(), NSRelationshipDescription())
    (guests.name, guests.destinationEntity, guests.inverseRelationship) = ("guests", pet, host)
    (host.name, host.destinationEntity, host.inverseRelationship) = ("host", person, guests)
    (owner.maxCount, host.maxCount, guests.isOrdered) = (1, 1, true)
    person.properties = [name, number, pets, guests]
    pet.properties = [owner, host]
    let model = NSManagedObjectModel()
    model.entities = [being, person, pet]
    return model
  }

  func fault() throws -> NSManagedObject {
    let store = container.persistentStoreCoordinator.persistentStores[0] as! GivingStore
    let entity = container.managedObjectModel.entitiesByName["Person"]!
    return context.object(with: store.newObjectID(for: entity, referenceObject: 1))
  }
}

/// A store with one person, whose row it cannot read, or whose number is a text.
final class GivingStore: NSIncrementalStore {
  nonisolated(unsafe) static var error: NSError?

  override func loadMetadata() throws {
    metadata = [NSStoreTypeKey: "Giving", NSStoreUUIDKey: "0"]
  }

  override func newValuesForObject(
    with objectID: NSManagedObjectID, with context: NSManagedObjectContext
  ) throws -> NSIncrementalStoreNode {
    if let error = unsafe Self.error { throw error }
    return NSIncrementalStoreNode(objectID: objectID, withValues: ["name": "Ann", "number": "twelve"], version: 1)
  }
}
