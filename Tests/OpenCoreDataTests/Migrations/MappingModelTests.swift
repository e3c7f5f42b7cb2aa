import OpenCoreData
import Testing

/// Migrations by the expressions of mapping models.
@Suite("Migrations by a mapping model")
struct MappingModelTests {
  @Test(
    "Expressions give attributes and relationships, in their order and over all mappings, and the metadata stay.",
    arguments: [StoreKind.rows, .cairn])
  func expressions(_ kind: StoreKind) throws {
    let registry = try Registry(kind)
    try registry.fill()
    try registry.migrate(by: .people())
    #expect(
      try registry.people() == [
        "Person Ada - 36 Rex+Tom Bob Stone -", "Student Bob Stone - 7  Ada -", "Person Eve - 0   -",
      ])
    try registry.check()
    try registry.work(registry.second, at: registry.destination) { (context) throws in
      let store = try #require(context.persistentStoreCoordinator?.persistentStores.first)
      #expect(store.metadata["note"] as? String == "kept")
      let ada = try context.fetch(NSFetchRequest<NSManagedObject>(entityName: "Person"))
        .first { $0.value(forKey: "first") as? String == "Ada" }
      #expect(ada?.value(forKey: "photo") as? Data == Data([1, 2]))
    }
  }

  @Test("The metadata of a store without objects stay, too.", arguments: [StoreKind.rows, .cairn])
  func metadata(_ kind: StoreKind) throws {
    let registry = try Registry(kind)
    try registry.work(registry.first) { (context) throws in
      context.persistentStoreCoordinator?.persistentStores[0].metadata["note"] = "kept"
      try context.save()
    }
    try registry.migrate(by: .people())
    try registry.work(registry.second, at: registry.destination) { (context) throws in
      let store = try #require(context.persistentStoreCoordinator?.persistentStores.first)
      #expect(store.metadata["note"] as? String == "kept")
    }
  }

  @Test("The older form of the method migrates as the newer one does, and needs a mapping model.")
  func olderForm() throws {
    let registry = try Registry()
    try registry.fill()
    let manager = NSMigrationManager(sourceModel: registry.first, destinationModel: registry.second)
    func migrate(_ mappings: NSMappingModel?) throws {
      try manager.migrateStore(
        from: registry.source, sourceType: registry.type.rawValue, options: registry.options(), with: mappings,
        toDestinationURL: registry.destination, destinationType: registry.type.rawValue,
        destinationOptions: registry.options())
    }
    #expect(code { try migrate(nil) } == 134140)
    try migrate(.people())
    #expect(try registry.people().count == 3)
    #expect(manager.migrationProgress == 1)
    manager.reset()
    #expect(manager.migrationProgress == 0)
  }

  @Test(
    "A mapping reads the objects that its source expression fetches or lists, and others are left out.",
    arguments: [
      "FETCH(FUNCTION($manager, 'fetchRequestForSourceEntityNamed:predicateString:', 'Pet', 'name = \"Tom\"'), $manager.sourceContext, NO)",
      "FUNCTION($manager, 'fetchRequestForSourceEntityNamed:predicateString:', 'Pet', 'name = \"Tom\"')",
      "FETCH($manager.userInfo.request, $manager.sourceContext, NO)[FIRST]",
    ])
  func sources(_ expression: String) throws {
    let registry = try Registry()
    try registry.fill()
    let mappings = NSMappingModel.people()
    mappings.entityMappings[2].sourceExpression = NSExpression(format: expression)
    try registry.migrate(by: mappings) { manager in
      let request = NSFetchRequest<NSManagedObject>(entityName: "Pet")
      request.predicate = NSPredicate(format: "name = 'Tom'")
      manager.userInfo = ["request": request]
    }
    #expect(try registry.people().first == "Person Ada - 36 Tom Bob Stone -")
  }

  @Test(
    "A mapping that copies and names no properties copies those that both entities have; one that removes makes none.")
  func copies() throws {
    let registry = try Registry()
    try registry.fill()
    let copy = NSEntityMapping("people", from: "Student", to: "Student")
    (copy.attributeMappings, copy.relationshipMappings) = (nil, nil)
    copy.mappingType = .copyEntityMappingType
    let pets = NSEntityMapping("pets", from: "Pet", to: nil)
    pets.mappingType = .removeEntityMappingType
    let error = error { try registry.migrate(by: NSMappingModel(copy, pets)) }
    // The age of the first version is a text.
    #expect(error?.code == 134110)
    #expect(
      error?.localizedDescription.contains("people gives Student.age a value of the type String, which") == true,
      "\(error?.localizedDescription ?? "")")
    let same = NSMigrationManager(sourceModel: registry.first, destinationModel: registry.first)
    copy.name = "students"
    let people = NSEntityMapping("people", from: "Person", to: "Person")
    (people.attributeMappings, people.relationshipMappings) = (nil, nil)
    people.mappingType = .copyEntityMappingType
    try same.migrateStore(
      from: registry.source, type: registry.type, options: registry.options(),
      mapping: NSMappingModel(copy, people, pets), to: registry.destination, type: registry.type,
      options: registry.options())
    try registry.work(registry.first, at: registry.destination) { (context) throws in
      let request = NSFetchRequest<NSManagedObject>(entityName: "Person")
      request.sortDescriptors = [NSSortDescriptor(key: "name", ascending: true)]
      let found = try context.fetch(request)
      #expect(found.map { $0.value(forKey: "age") as? String } == ["36", "7", nil])
      #expect((found[0].value(forKey: "friends") as? NSSet)?.anyObject() as? NSManagedObject === found[1])
      #expect(found[1].value(forKey: "grade") as? Int == 2)
      #expect(try context.count(for: NSFetchRequest<NSManagedObject>(entityName: "Pet")) == 0)
    }
  }

  @Test("Objects of several batches keep their relationships, and neither context keeps objects of former batches.")
  func batches() throws {
    let registry = try Registry()
    try registry.work(registry.first) { (context) throws in
      for number in 0..<1200 {
        let person = NSEntityDescription.insertNewObject(forEntityName: "Person", into: context)
        let pet = NSEntityDescription.insertNewObject(forEntityName: "Pet", into: context)
        person.setValue("p\(number)", forKey: "name")
        pet.setValue("\(number)", forKey: "name")
        pet.setValue(person, forKey: "owner")
      }
      try context.save()
    }
    try registry.migrate(by: .people(policy: CountingPolicy.self)) { $0.userInfo = ["counts": Counts()] }
    try registry.work(registry.second, at: registry.destination) { (context) throws in
      let people = try context.fetch(NSFetchRequest<NSManagedObject>(entityName: "Person"))
      #expect(people.count == 1200)
      for person in people {
        let pet = (person.value(forKey: "pets") as? NSOrderedSet)?.firstObject as? NSManagedObject
        #expect(person.value(forKey: "first") as? String == "p\(pet?.value(forKey: "name") as? String ?? "")")
      }
    }
    try registry.check()
  }

  // MARK: Inferred

  @Test("An inferred mapping model has a mapping for each entity, with what stays, and migrates a store.")
  func inferred() throws {
    let registry = try Registry()
    try registry.fill()
    let same = try NSMappingModel.inferredMappingModel(
      forSourceModel: registry.first, destinationModel: registry.first)
    #expect(Set(same.entityMappingsByName.keys) == ["IEM_Copy_Person", "IEM_Copy_Pet", "IEM_Copy_Student"])
    #expect(same.entityMappings.allSatisfy { $0.mappingType == .copyEntityMappingType })

    let error = error {
      _ = try NSMappingModel.inferredMappingModel(forSourceModel: registry.first, destinationModel: registry.second)
    }
    #expect(error?.code == 134190 && error?.userInfo["destinationEntity"] as? String != nil)
    #expect(error?.userInfo["reason"] as? String == "Source and destination attribute types of age are incompatible")

    let renamed = try #require(registry.second.copy() as? NSManagedObjectModel)
    for name in ["Person", "Student"] {
      guard let person = renamed.entitiesByName[name] else { continue }
      person.attributesByName["first"]?.renamingIdentifier = "name"
      person.attributesByName["age"]?.attributeType = .stringAttributeType
      person.attributesByName["age"]?.defaultValue = "unknown"
      if name == "Person" { (person.name, person.renamingIdentifier) = ("Human", "Person") }
    }
    let mappings = try NSMappingModel.inferredMappingModel(
      forSourceModel: registry.first, destinationModel: renamed)
    #expect(
      mappings.entityMappings.map(\.name).sorted { $0 < $1 } == [
        "IEM_Add_Address", "IEM_Transform_Human", "IEM_Transform_Pet", "IEM_Transform_Student",
      ])
    let human = try #require(mappings.entityMappingsByName["IEM_Transform_Human"])
    #expect(human.sourceEntityName == "Person" && human.destinationEntityName == "Human")
    let first = human.attributeMappings?.first { $0.name == "first" }
    #expect(first?.valueExpression?.description == "$source.name")
    let manager = NSMigrationManager(sourceModel: registry.first, destinationModel: renamed)
    try manager.migrateStore(
      from: registry.source, type: registry.type, options: registry.options(), mapping: mappings,
      to: registry.destination, type: registry.type, options: registry.options())
    try registry.work(renamed, at: registry.destination) { (context) throws in
      let request = NSFetchRequest<NSManagedObject>(entityName: "Human")
      request.sortDescriptors = [NSSortDescriptor(key: "first", ascending: true)]
      let found = try context.fetch(request)
      #expect(found.map { $0.value(forKey: "first") as? String } == ["Ada", "Bob Stone", "Eve"])
      #expect(found.map { $0.value(forKey: "age") as? String } == ["36", "7", "unknown"])
      #expect((found[0].value(forKey: "pets") as? NSOrderedSet)?.count == 2)
    }
    try registry.check()
  }

  // MARK: Progress

  @Test("The progress of a migration rises, is part of the thread's progress, and cancelling it ends the migration.")
  func progress() throws {
    let registry = try Registry()
    try registry.fill()
    let whole = Progress(totalUnitCount: 10)
    whole.becomeCurrent(withPendingUnitCount: 10)
    try registry.migrate(by: .people())
    whole.resignCurrent()
    #expect(whole.completedUnitCount == 10)
    let other = try Registry()
    try other.fill()
    let cancelled = Progress(totalUnitCount: 10)
    cancelled.cancel()
    cancelled.becomeCurrent(withPendingUnitCount: 10)
    defer { cancelled.resignCurrent() }
    #expect(code { try other.migrate(by: .people()) } == 134120)
    try other.expectUnchanged()
  }

  @Test("A manager can be told to end a migration with an error, and migrate another time.")
  func cancelled() throws {
    let registry = try Registry()
    try registry.fill()
    let manager = NSMigrationManager(sourceModel: registry.first, destinationModel: registry.second)
    func migrate(_ policy: NSEntityMigrationPolicy.Type?) throws {
      try manager.migrateStore(
        from: registry.source, type: registry.type, options: registry.options(), mapping: .people(policy: policy),
        to: registry.destination, type: registry.type, options: registry.options())
    }
    #expect(error { try migrate(CancellingPolicy.self) } == CancellingPolicy.error)
    try registry.expectUnchanged()
    try migrate(nil)
    #expect(try registry.people().count == 3)
  }
}

/// The error that the block throws; nil if it throws none.
func error(_ body: () throws -> Void) -> NSError? {
  do {
    try body()
    return nil
  } catch {
    return error as NSError
  }
}

/// Notes how many objects the contexts have.
final class Counts {
  var calls = 0
  var largest = 0
}

final class CountingPolicy: NSEntityMigrationPolicy {
  override func createRelationships(
    forDestination dInstance: NSManagedObject, in mapping: NSEntityMapping, manager: NSMigrationManager
  ) throws {
    try super.createRelationships(forDestination: dInstance, in: mapping, manager: manager)
    let counts = manager.userInfo?["counts"] as? Counts
    counts?.calls += 1
    guard (counts?.calls ?? 0) % 50 == 0 else { return }
    let count = manager.sourceContext.registeredObjects.count + manager.destinationContext.registeredObjects.count
    counts?.largest = max(counts?.largest ?? 0, count)
  }

  override func endRelationshipCreation(forMapping mapping: NSEntityMapping, manager: NSMigrationManager) throws {
    let largest = (manager.userInfo?["counts"] as? Counts)?.largest ?? 0
    // A person and a pet of each side, for each of the thousand objects of a batch.
    #expect((500...4100).contains(largest), "\(largest)")
  }
}

final class CancellingPolicy: NSEntityMigrationPolicy {
  static let error = NSError(domain: "test", code: 7)

  override func begin(_ mapping: NSEntityMapping, with manager: NSMigrationManager) {
    manager.cancelMigrationWithError(Self.error)
  }
}
