import Foundation
import OpenCoreData
import Testing

/// People with an address, which has a town and a place of two numbers.
@Suite struct KeyPathSettingTests {
  private let context: NSManagedObjectContext

  init() throws {
    let coordinator = NSPersistentStoreCoordinator(managedObjectModel: Self.model())
    _ = try coordinator.addPersistentStore(type: .inMemory, at: URL(filePath: "/nowhere"))
    context = NSManagedObjectContext(.privateQueue)
    context.persistentStoreCoordinator = coordinator
  }

  private static func model() -> NSManagedObjectModel {
    func attribute<A: NSAttributeDescription>(_ made: A, _ name: String, _ type: NSAttributeType) -> A {
      (made.name, made.attributeType, made.isOptional) = (name, type, true)
      return made
    }
    func composite(_ name: String, _ elements: [NSAttributeDescription]) -> NSCompositeAttributeDescription {
      let made = attribute(NSCompositeAttributeDescription(), name, .compositeAttributeType)
      made.elements = elements
      return made
    }
    let place = composite(
      "place", ["x", "y"].map { attribute(NSAttributeDescription(), $0, .integer32AttributeType) })
    let town = attribute(NSAttributeDescription(), "town", .stringAttributeType)
    let (person, friends) = (NSEntityDescription(), NSRelationshipDescription())
    person.name = "Person"
    (friends.name, friends.destinationEntity, friends.inverseRelationship) = ("friends", person, friends)
    person.properties = [
      attribute(NSAttributeDescription(), "name", .stringAttributeType), composite("address", [town, place]), friends,
    ]
    let model = NSManagedObjectModel()
    model.entities = [person]
    return model
  }

  private func person(_ name: String) -> NSManagedObject {
    let person = NSEntityDescription.insertNewObject(forEntityName: "Person", into: context)
    person["name"] = name
    return person
  }

  @Test("Setting an element of a composite attribute by its key path keeps the other elements, and is saved.")
  func elements() throws {
    try context.performAndWait {
      let ada = person("Ada")
      ada.setValue("London", forKeyPath: "address.town")
      ada.setValue(3, forKeyPath: "address.place.x")
      try context.save()
      ada.setValue(4, forKeyPath: "address.place.y")
      #expect(ada.hasPersistentChangedValues)
      try context.save()
      context.refresh(ada, mergeChanges: false)
      #expect(ada.value(forKeyPath: "address.town") as? String == "London")
      #expect(ada.value(forKeyPath: "address.place.x") as? Int == 3)
      #expect(ada.value(forKeyPath: "address.place.y") as? Int == 4)
      ada.setValue(nil, forKeyPath: "address.town")
      #expect(ada.value(forKeyPath: "address.town") == nil)
      #expect(ada.value(forKeyPath: "address.place.x") as? Int == 3)
    }
  }

  @Test("A key path through a relationship sets the value of each object there, and of none if there is none.")
  func relationships() {
    context.performAndWait {
      let (ada, bob, cleo) = (person("Ada"), person("Bob"), person("Cleo"))
      ada.setValue("nobody", forKeyPath: "friends.name")
      ada["friends"] = NSSet(array: [bob, cleo])
      ada.setValue("York", forKeyPath: "friends.address.town")
      for friend in [bob, cleo] { #expect(friend.value(forKeyPath: "address.town") as? String == "York") }
      #expect(ada["address"] == nil)
    }
  }

  @Test(
    "Setting a value at a key path that cannot be followed ends the program with a message that names the key.",
    arguments: [
      ("name.length", "\"length\" cannot be set in Person.name"), ("adress.town", "no property \"adress\""),
      ("address.twon", "has no element \"twon\""), ("address.town.length", "\"length\" cannot be set in address.town"),
      ("friends.@count", "no property \"@count\""),
    ])
  func impossible(_ path: String, _ message: String) async throws {
    let result = await #expect(processExitsWith: .failure, observing: [\.standardErrorContent]) {
      [path = path as String] in
      let context = try KeyPathSettingTests().context
      context.performAndWait {
        let ada = NSEntityDescription.insertNewObject(forEntityName: "Person", into: context)
        let bob = NSEntityDescription.insertNewObject(forEntityName: "Person", into: context)
        (ada["name"], ada["friends"]) = ("Ada", NSSet(object: bob))
        ada.setValue(1, forKeyPath: path)
      }
    }
    let errors = String(decoding: try #require(result).standardErrorContent, as: UTF8.self)
    #expect(errors.contains(message))
  }
}
