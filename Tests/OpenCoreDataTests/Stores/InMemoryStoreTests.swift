import Testing

@testable import OpenCoreData

/// The in-memory store, called through the coordinator as contexts call it.
@Suite struct InMemoryStoreTests {
  let zoo = Zoo()
  let coordinator: NSPersistentStoreCoordinator
  let store: NSPersistentStore
  let context = NSManagedObjectContext(concurrencyType: .privateQueueConcurrencyType)

  init() throws {
    coordinator = NSPersistentStoreCoordinator(managedObjectModel: zoo.model)
    store = try coordinator.addPersistentStore(ofType: NSInMemoryStoreType, configurationName: nil, at: nil)
    context.persistentStoreCoordinator = coordinator
  }

  /// Runs the block on the context's queue with ten saved dogs, the first five of which belong to a keeper.
  func withDogs(
    _ body: (_ keeper: OpenCoreData.NSManagedObject, _ dogs: [OpenCoreData.NSManagedObject]) throws -> Void
  ) throws {
    try context.performAndWait {
      let keeper = OpenCoreData.NSManagedObject(entity: zoo.keeper, insertInto: context)
      keeper.setValue("Ann", forKey: "name")
      let dogs = (0..<10).map { number in
        let dog = OpenCoreData.NSManagedObject(entity: zoo.dog, insertInto: context)
        dog.setValue("Dog \(number)", forKey: "name")
        dog.setValue(number, forKey: "tricks")
        if number < 5 { dog.setValue(keeper, forKey: "owner") }
        return dog
      }
      try context.save()
      try body(keeper, dogs)
    }
  }

  /// The identifiers that the store returns, in its order.
  func identifiers(_ entity: String, _ predicate: NSPredicate? = nil) throws -> [NSManagedObjectID] {
    let request = NSFetchRequest<NSManagedObjectID>(entityName: entity)
    request.resultType = .managedObjectIDResultType
    request.predicate = predicate
    return try #require(try coordinator.execute(request, with: context) as? [NSManagedObjectID])
  }

  @Test func rowsComeInTheOrderOfInsertion() throws {
    try withDogs { (keeper, dogs) throws in
      #expect(try identifiers("Dog") == dogs.map(\.objectID))
      #expect(try identifiers("Animal") == dogs.map(\.objectID))
      #expect(try identifiers("Keeper") == [keeper.objectID])
      for dog in dogs[1..<9] { context.delete(dog) }
      try context.save()
      #expect(try identifiers("Dog") == [dogs[0], dogs[9]].map(\.objectID))
    }
  }

  @Test func manyDeletionsKeepTheOrder() throws {
    try withDogs { (_, dogs) throws in
      let more = (0..<100).map { _ in OpenCoreData.NSManagedObject(entity: zoo.dog, insertInto: context) }
      try context.save()
      for dog in more[..<90] { context.delete(dog) }
      try context.save()
      more[95].setValue("last", forKey: "name")
      try context.save()
      #expect(try identifiers("Dog") == (dogs + more[90...]).map(\.objectID))
      #expect(try identifiers("Dog", NSPredicate(format: "name == 'last'")) == [more[95].objectID])
    }
  }

  @Test func predicatesFollowRelationships() throws {
    try withDogs { (keeper, dogs) throws in
      let owned = dogs[..<5].map(\.objectID)
      #expect(try identifiers("Dog", NSPredicate(format: "owner.name == 'Ann'")) == owned)
      #expect(try identifiers("Dog", NSPredicate(format: "owner == %@", keeper)) == owned)
      #expect(try identifiers("Dog", NSPredicate(format: "owner == %@", keeper.objectID)) == owned)
      #expect(try identifiers("Dog", NSPredicate(format: "owner == nil")) == dogs[5...].map(\.objectID))
      #expect(try identifiers("Animal", NSPredicate(format: "ANY owner.pets.name == 'Dog 3'")) == owned)
      #expect(try identifiers("Keeper", NSPredicate(format: "pets.@count == 5")) == [keeper.objectID])
      #expect(
        try identifiers("Keeper", NSPredicate(format: "SUBQUERY(pets, $p, $p.name == 'Dog 1').@count == 1"))
          == [keeper.objectID])
    }
  }

  @Test func aKeptPredicateFindsAnObjectAmongOthersAlsoOnceItIsSaved() throws {
    try context.performAndWait {
      let dogs = (0..<2).map { _ in OpenCoreData.NSManagedObject(entity: zoo.dog, insertInto: context) }
      let isFirst = NSPredicate(format: "SELF IN %@", [dogs[0]])
      #expect(isFirst.evaluate(with: dogs[0]) && !isFirst.evaluate(with: dogs[1]))
      try context.save()
      #expect(isFirst.evaluate(with: dogs[0]) && isFirst.evaluate(with: dogs[0].objectID))
      #expect(!isFirst.evaluate(with: dogs[1]))
    }
  }

  @Test func aFetchedPropertyRefersToItsUserInfo() throws {
    let (zoo, context) = (Zoo(), NSManagedObjectContext(concurrencyType: .privateQueueConcurrencyType))
    zoo.dog.userInfo = ["kind": "pet"]
    let request = NSFetchRequest<any NSFetchRequestResult>(entityName: "Dog")
    request.predicate = NSPredicate(
      format: "name LIKE[c] $FETCHED_PROPERTY.userInfo.pattern AND entity.userInfo.kind == 'pet'")
    let fetched = NSFetchedPropertyDescription()
    fetched.name = "sought"
    fetched.userInfo = ["pattern": "re*"]
    fetched.fetchRequest = request
    zoo.keeper.properties.append(fetched)
    context.persistentStoreCoordinator = NSPersistentStoreCoordinator(managedObjectModel: zoo.model)
    try context.persistentStoreCoordinator?.addPersistentStore(
      ofType: NSInMemoryStoreType, configurationName: nil, at: nil)
    try context.performAndWait {
      let keeper = OpenCoreData.NSManagedObject(entity: zoo.keeper, insertInto: context)
      keeper.setValue("Ann", forKey: "name")
      let dogs = ["Rex", "Bo"].map { name in
        let dog = OpenCoreData.NSManagedObject(entity: zoo.dog, insertInto: context)
        dog.setValue(name, forKey: "name")
        return dog
      }
      try context.save()
      #expect(keeper.value(forKey: "sought") as? [OpenCoreData.NSManagedObject] == [dogs[0]])
    }
  }

  @Test func aFetchFindsObjectsByTheIdentifiersThatTheyHadBeforeTheyWereSaved() throws {
    try context.performAndWait {
      let dogs = (0..<3).map { _ in OpenCoreData.NSManagedObject(entity: zoo.dog, insertInto: context) }
      let ids = dogs[..<2].map(\.objectID)
      for isSaved in [false, true] {
        if isSaved { try context.save() }
        for (format, value, expected) in [
          ("SELF == %@", ids[0], [dogs[0]]), ("objectID IN %@", ids, [dogs[0], dogs[1]]),
          ("NOT SELF IN %@", Set(ids), [dogs[2]]), ("SELF == %@", NSManagedObjectID(temporaryFor: zoo.dog), []),
          ("SUBQUERY(%@, $id, $id == SELF).@count == 1", NSSet(array: ids), [dogs[0], dogs[1]]),
        ] as [(String, Any, [OpenCoreData.NSManagedObject])] {
          let request = NSFetchRequest<OpenCoreData.NSManagedObject>(entityName: "Dog")
          request.predicate = try NSPredicate(parsing: format, arguments: [value])
          #expect(Set(try context.fetch(request)) == Set(expected), "\(format), saved: \(isSaved)")
        }
      }
    }
  }

  @Test func dictionariesOfSeveralStoresAreInTheOrderOfAKeyPath() throws {
    let stores = [store, try coordinator.addPersistentStore(type: .inMemory, at: URL(filePath: "/dev/null"))]
    try context.performAndWait {
      for (number, name) in ["Cleo", "Ann", "Dan", "Bob"].enumerated() {
        let keeper = OpenCoreData.NSManagedObject(entity: zoo.keeper, insertInto: context)
        keeper.setValue(name, forKey: "name")
        let dogs = (0...number).map { _ in OpenCoreData.NSManagedObject(entity: zoo.dog, insertInto: context) }
        for object in dogs + [keeper] { context.assign(object, to: stores[number % 2]) }
        for dog in dogs { dog.setValue(keeper, forKey: "owner") }
      }
      try context.save()
      let request = NSFetchRequest<NSDictionary>(entityName: "Dog")
      request.resultType = .dictionaryResultType
      request.propertiesToFetch = ["owner.name", "owner.pets.@count"]
      request.returnsDistinctResults = true
      request.sortDescriptors = [NSSortDescriptor(key: "owner.name", ascending: true)]
      #expect(try context.fetch(request).map { $0["owner.name"] as? String } == ["Ann", "Bob", "Cleo", "Dan"])
      request.sortDescriptors = [NSSortDescriptor(key: "owner.pets.@count", ascending: false)]
      #expect(try context.fetch(request).map { $0["owner.name"] as? String } == ["Bob", "Dan", "Ann", "Cleo"])
    }
  }

  @Test func theObjectItselfIsComparedByItsIdentifier() throws {
    try withDogs { (_, dogs) throws in
      let wanted = [dogs[1].objectID, dogs[7].objectID]
      #expect(try identifiers("Dog", NSPredicate(format: "SELF IN %@", wanted)) == wanted)
      #expect(try identifiers("Dog", NSPredicate(format: "SELF == %@", dogs[1])) == [wanted[0]])
      #expect(try identifiers("Dog", NSPredicate(format: "SELF.name == 'Dog 7'")) == [wanted[1]])
    }
  }

  @Test func blocksGetObjects() throws {
    try withDogs { (_, dogs) throws in
      let predicate = NSPredicate { object, _ in
        (object as? OpenCoreData.NSManagedObject)?.value(forKey: "name") as? String == "Dog 7"
      }
      #expect(try identifiers("Dog", predicate) == [dogs[7].objectID])
    }
  }

  @Test func allResultTypesAreGiven() throws {
    try withDogs { (keeper, dogs) throws in
      let request = NSFetchRequest<NSDictionary>(entityName: "Dog")
      request.sortDescriptors = [NSSortDescriptor(key: "tricks", ascending: false)]
      request.fetchOffset = 5
      request.fetchLimit = 2
      #expect(
        try coordinator.execute(request, with: context) as? [OpenCoreData.NSManagedObject] == [dogs[4], dogs[3]])
      request.resultType = .countResultType
      #expect(try coordinator.execute(request, with: context) as? [NSNumber] == [2])
      request.resultType = .dictionaryResultType
      request.propertiesToFetch = ["name", "owner"]
      let rows = try #require(try coordinator.execute(request, with: context) as? [NSDictionary])
      #expect(rows.map { $0["name"] as? String } == ["Dog 4", "Dog 3"])
      #expect(rows[0]["owner"] as? NSManagedObjectID == keeper.objectID)
    }
  }

  @Test func nodesHaveWhatARowHasButNoToMany() throws {
    try withDogs { (keeper, dogs) throws in
      let node = try coordinator.node(for: dogs[0].objectID, context)
      #expect(node.version == 1)
      #expect(node.value(for: zoo.name) as? String == "Dog 0")
      #expect(node.value(for: zoo.owner) as? NSManagedObjectID == keeper.objectID)
      #expect(try coordinator.node(for: dogs[9].objectID, context).value(for: zoo.owner) is NSNull)
      #expect(try coordinator.node(for: keeper.objectID, context).value(for: zoo.pets) == nil)
      #expect(
        try Set(coordinator.relatedIDs(zoo.pets, of: keeper.objectID, context)) == Set(dogs[..<5].map(\.objectID)))
    }
  }

  @Test func versionsCountSaves() throws {
    try withDogs { (_, dogs) throws in
      dogs[0].setValue("new", forKey: "name")
      try context.save()
      #expect(try coordinator.node(for: dogs[0].objectID, context).version == 2)
      #expect(try coordinator.node(for: dogs[1].objectID, context).version == 1)
      context.delete(dogs[0])
      try context.save()
      #expect(
        errorCode { _ = try coordinator.node(for: dogs[0].objectID, context) }
          == NSManagedObjectReferentialIntegrityError)
    }
  }

  @Test func aSaveIsWholeOrNothing() throws {
    try withDogs { (_, dogs) throws in
      context.delete(dogs[1])
      try context.save()
      dogs[0].setValue("new", forKey: "name")
      let request = NSSaveChangesRequest(inserted: [], updated: [dogs[0], dogs[1]], deleted: [dogs[2]], locked: [])
      #expect(
        errorCode { try coordinator.save(request, in: store, context) } == NSManagedObjectReferentialIntegrityError)
      #expect(try identifiers("Dog", NSPredicate(format: "name == 'new'")).isEmpty)
      #expect(try identifiers("Dog").count == 9)
    }
  }

  @Test func objectsHaveAnIdentifierAndAnEntityAsKeys() throws {
    try withDogs { (keeper, dogs) throws in
      let (ids, all) = (dogs.map(\.objectID), dogs.count)
      #expect(try identifiers("Dog", NSPredicate(format: "objectID == %@", ids[2])) == [ids[2]])
      #expect(
        try identifiers("Dog", NSPredicate(format: "self.objectID IN %@", [ids[1], ids[3]])) == [ids[1], ids[3]])
      #expect(try identifiers("Dog", NSPredicate(format: "owner.objectID == %@", keeper.objectID)) == Array(ids[..<5]))
      #expect(
        try identifiers("Animal", NSPredicate(format: "entity == %@ AND entity.name == 'Dog'", zoo.dog)).count == all)
      #expect(try identifiers("Animal", NSPredicate(format: "entity.name != 'Dog' OR entity == %@", zoo.animal)) == [])
    }
  }

  @Test func unknownRequestsAreRefused() {
    #expect(
      errorCode { _ = try coordinator.forward(UnknownRequest(), context) }
        == NSPersistentStoreUnsupportedRequestTypeError)
  }
}

private final class UnknownRequest: NSPersistentStoreRequest {
  override var requestType: NSPersistentStoreRequestType { .batchDeleteRequestType }
}
