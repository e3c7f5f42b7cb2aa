import CoreData
import Testing

@Suite("Several stores of one coordinator", .anyStore)
struct AffectedStoreTests {
  private let coordinator: NSPersistentStoreCoordinator
  private let town: RecordingStore
  private let village: RecordingStore

  init() throws {
    coordinator = NSPersistentStoreCoordinator(managedObjectModel: Town.model())
    town = try coordinator.add(RecordingStore.self, .town())
    village = try coordinator.add(RecordingStore.self, Backing())
    village.backing.add("Person", ["name": "Zoe", "age": 80])
    village.backing.add("House", ["street": "Mill"])
    village.backing.add("Person", ["name": "Abe", "age": 81])
  }

  private func work<Result>(_ body: (NSManagedObjectContext) throws -> Result) rethrows -> Result {
    let context = NSManagedObjectContext(.privateQueue)
    context.persistentStoreCoordinator = coordinator
    return try context.performAndWait { try body(context) }
  }

  @Test("A fetch asks all stores of the coordinator, and sorts their objects together.")
  func all() throws {
    #expect(try work { try $0.names() } == "Abe Ada Bob Cleo Zoe")
    #expect(try work { try $0.count(for: people()) } == 5)
  }

  @Test("The offset and limit of a fetch count over all stores.")
  func window() throws {
    let request = people()
    request.fetchOffset = 1
    request.fetchLimit = 3
    #expect(try work { try $0.names(request) } == "Ada Bob Cleo")
    request.fetchOffset = 3
    #expect(try work { try $0.names(request) } == "Cleo Zoe")
  }

  @Test("A fetch of identifiers from several stores returns them in order.")
  func identifiersInOrder() throws {
    let request = NSFetchRequest<NSManagedObjectID>(entityName: "Person")
    request.resultType = .managedObjectIDResultType
    request.sortDescriptors = [NSSortDescriptor(key: "name", ascending: true)]
    request.fetchLimit = 2
    try work { context throws in
      #expect(try context.fetch(request).map { context.object(with: $0)["name"] as? String } == ["Abe", "Ada"])
    }
  }

  @Test("A fetch of dictionaries from several stores returns them in order.")
  func dictionariesInOrder() throws {
    let request = NSFetchRequest<NSDictionary>(entityName: "Person")
    request.resultType = .dictionaryResultType
    request.propertiesToFetch = ["name"]
    request.sortDescriptors = [NSSortDescriptor(key: "name", ascending: true)]
    request.fetchLimit = 2
    try work { context throws in
      #expect(try context.fetch(request).map { $0["name"] as? String } == ["Abe", "Ada"])
    }
  }

  @Test("A fetch asks only the stores that it is restricted to.")
  func affected() throws {
    let request = people()
    request.affectedStores = [village]
    try work { context throws in
      #expect(try context.names(request) == "Abe Zoe")
      #expect(try context.count(for: request) == 2)
    }
    #expect(!town.calls.contains { $0.method == .fetch })
  }

  @Test("A new object is saved in the store that it is assigned to.")
  func assigned() throws {
    try work { context in
      let dan = context.make("Person", ["name": "Dan"])
      context.assign(dan, to: village)
      try context.save()
      #expect(dan.objectID.persistentStore === village)
    }
    #expect(village.backing.rows.values.contains { $0.attributes["name"] as? String == "Dan" })
  }

  @Test("Objects of two stores have different identifiers, even with the same reference.")
  func identifiers() {
    #expect(town.identifier(1) != village.identifier(1))
  }

  @Test("A save refuses a relationship between objects of two stores.")
  func acrossStores() throws {
    try work { context in
      let ada = try context.person("Ada")
      ada["home"] = try context.all("House", "street = 'Mill'")[0]
      let error = try #require(thrown { try context.save() })
      #expect(error.domain == NSCocoaErrorDomain && error.code == 133010)
    }
  }

  @Test("A store with a configuration contains only objects of its entities.")
  func configurations() throws {
    let model = Town.model()
    model.setEntities(["House"].map { model.entitiesByName[$0]! }, forConfigurationName: "Houses")
    model.setEntities(
      ["Person", "Child", "Pet", "Errand"].map { model.entitiesByName[$0]! }, forConfigurationName: "People")
    let coordinator = NSPersistentStoreCoordinator(managedObjectModel: model)
    let houses = try coordinator.add(RecordingStore.self, Backing(), configuration: "Houses")
    let people = try coordinator.add(RecordingStore.self, Backing(), configuration: "People")
    #expect(houses.configurationName == "Houses")
    let context = NSManagedObjectContext(.privateQueue)
    context.persistentStoreCoordinator = coordinator
    try context.performAndWait {
      let (house, ada) = (context.make("House"), context.make("Person", ["name": "Ada"]))
      try context.save()
      #expect(house.objectID.persistentStore === houses)
      #expect(ada.objectID.persistentStore === people)
      houses.calls = []
      _ = try context.all("Person")
      #expect(houses.calls == [])
    }
  }
}
