import Foundation
import OpenCoreData
import Testing

/// Objects outlive a context to which nothing refers any more.
@Suite("Objects whose context is gone")
struct GoneContextTests {
  private let zoo = Zoo()
  private let coordinator: NSPersistentStoreCoordinator

  init() throws {
    coordinator = NSPersistentStoreCoordinator(managedObjectModel: zoo.model)
    _ = try coordinator.addPersistentStore(ofType: NSInMemoryStoreType, configurationName: nil, at: nil)
    let context = context()
    try context.performAndWait {
      let keeper = NSEntityDescription.insertNewObject(forEntityName: "Keeper", into: context)
      keeper.setValue("Ann", forKey: "name")
      let dog = NSEntityDescription.insertNewObject(forEntityName: "Dog", into: context)
      dog.setValue(keeper, forKey: "owner")
      dog.setValue(3, forKey: "tricks")
      try context.save()
    }
  }

  private func context() -> NSManagedObjectContext {
    let context = NSManagedObjectContext(.privateQueue)
    context.persistentStoreCoordinator = coordinator
    return context
  }

  private func fetch(_ name: String, in context: NSManagedObjectContext, reading: Bool) throws -> NSManagedObject {
    try context.performAndWait {
      let object = try #require(try context.fetch(NSFetchRequest<NSManagedObject>(entityName: name)).first)
      if reading {
        for key in object.entity.propertiesByName.keys { #expect(object.value(forKey: key) != nil || key == "name") }
      }
      return object
    }
  }

  @Test("An object without its context has no values, whether they were read before or not.", arguments: [false, true])
  func values(reading: Bool) throws {
    for name in ["Keeper", "Dog"] {
      let object = try fetch(name, in: context(), reading: reading)
      #expect(object.managedObjectContext == nil && object.isFault)
      for key in object.entity.propertiesByName.keys {
        #expect(object.value(forKey: key) == nil)
        #expect(object.primitiveValue(forKey: key) == nil)
        #expect(object.predicateValue(forKey: key).isNull)
      }
      #expect(object.entity.name == name && !object.objectID.isTemporaryID)
      #expect(object.changedValues().isEmpty && object.changedValuesForCurrentEvent().isEmpty)
      #expect(object.committedValues(forKeys: nil).values.allSatisfy { $0 is NSNull })
      #expect(object.description.contains("<fault>"))
      #expect(throws: Never.self) { try object.validateForUpdate() }
      #expect(throws: Never.self) { try object.validateForDelete() }
    }
  }

  @Test("An object without its context has no members in relationships.")
  func members() throws {
    let keeper = try fetch("Keeper", in: context(), reading: true)
    #expect(keeper.objectIDs(forRelationshipNamed: "pets").isEmpty)
    #expect(keeper.hasFault(forRelationshipNamed: "pets"))
    #expect(keeper.mutableSetValue(forKey: "pets").count == 0)
    #expect(!NSPredicate(format: "ANY pets.tricks == 3").evaluate(with: keeper))
  }

  @Test("An object has no values after its context was reset.")
  func reset() throws {
    let context = context()
    let dog = try fetch("Dog", in: context, reading: true)
    context.performAndWait { context.reset() }
    #expect(dog.value(forKey: "tricks") == nil && dog.value(forKey: "owner") == nil)
  }

  @Test("An object that was never saved has no values after its context is gone.")
  func unsaved() throws {
    var former: NSManagedObjectContext? = context()
    let dog = try #require(
      former?.performAndWait { former.map { NSEntityDescription.insertNewObject(forEntityName: "Dog", into: $0) } })
    former = nil
    #expect(dog.value(forKey: "tricks") == nil)
  }

  @Test("Changing an object without its context ends the program with the reason.")
  func change() async {
    let result = await #expect(processExitsWith: .failure, observing: [\.standardErrorContent]) {
      let tests = try GoneContextTests()
      try tests.fetch("Dog", in: tests.context(), reading: true).setValue("Rex", forKey: "name")
    }
    let message = String(decoding: result?.standardErrorContent ?? [], as: UTF8.self)
    #expect(message.contains("Dog.name of"))
  }

  @Test("Changing the members of an object without its context ends the program with the reason.")
  func changedMembers() async {
    let result = await #expect(processExitsWith: .failure, observing: [\.standardErrorContent]) {
      let tests = try GoneContextTests()
      let keeper = try tests.fetch("Keeper", in: tests.context(), reading: true)
      keeper.mutableSetValue(forKey: "pets").add(NSManagedObject(entity: tests.zoo.dog, insertInto: nil))
    }
    let message = String(decoding: result?.standardErrorContent ?? [], as: UTF8.self)
    #expect(message.contains("Keeper.pets"))
  }
}
