import CoreData
import Testing

/// What the context finds while one of its objects is being deinitialised.
private struct Finding {
  let registered: NSManagedObject?
  let object: NSManagedObject
}

final class Lamp: NSManagedObject {
  var isFreed: ((NSManagedObjectID, NSManagedObjectContext) -> Void)?

  deinit {
    if let context = managedObjectContext { isFreed?(objectID, context) }
  }
}

@Suite("Objects that are being freed")
struct FreedObjectTests {
  private let container: NSPersistentContainer

  init() throws {
    let entity = NSEntityDescription()
    (entity.name, entity.managedObjectClassName) = ("Lamp", NSStringFromClass(Lamp.self))
    let model = NSManagedObjectModel()
    model.entities = [entity]
    container = NSPersistentContainer(name: "Lamps", managedObjectModel: model)
    container.persistentStoreDescriptions[0].type = NSInMemoryStoreType
    var failure: (any Error)?
    container.loadPersistentStores { _, error in failure = error }
    if let failure { throw failure }
  }

  @Test("An object that is being freed is not found, and another object takes its place.")
  func successor() throws {
    let context = container.newBackgroundContext()
    try context.performAndWait {
      var lamp: Lamp? = Lamp(context: context)
      try context.save()
      let id = try #require(lamp?.objectID)
      var finding: Finding?
      lamp?.isFreed = { id, context in
        finding = Finding(registered: context.registeredObject(for: id), object: context.object(with: id))
      }
      lamp = nil
      let found = try #require(finding)
      #expect(found.registered == nil)
      // The end of the first object does not remove the second from the context.
      #expect(context.registeredObject(for: id) === found.object)
      #expect(context.registeredObjects == [found.object])
      #expect(found.object.objectID == id)
    }
  }
}
