import CoreData
import Testing

/// On Apple's platforms only SQLite stores execute batch requests.
#if !canImport(Darwin)
  @Suite("Batch requests of the in-memory store")
  struct BatchRequestTests {
    private let stack: InMemoryStack

    init() throws { stack = try InMemoryStack() }

    @Test("A batch insertion bypasses contexts, hooks and validation rules, and applies default values.")
    func insertion() throws {
      try stack.work { context throws in
        let request = NSBatchInsertRequest(
          entityName: "Person", objects: [["name": "Ada"], ["name": "Bob", "age": -1]])
        request.resultType = .objectIDs
        let result = try #require(try context.execute(request) as? NSBatchInsertResult)
        let ids = try #require(result.result as? [NSManagedObjectID])
        #expect(context.registeredObjects.isEmpty && !context.hasChanges)
        #expect(ids.map { context.object(with: $0)["age"] as? Int } == [18, -1])
        let unknown = NSBatchInsertRequest(entityName: "Person", objects: [["shoeSize": 43]])
        #expect(thrown { try context.execute(unknown) } != nil)
      }
      try stack.work { context throws in #expect(try context.names() == "Ada Bob") }
    }

    @Test("A handler ends a batch insertion by returning true, without inserting what it was given.")
    func handler() throws {
      try stack.work { context throws in
        var names = ["Ada", "Bob"][...]
        let request = NSBatchInsertRequest(entityName: "Person") { (values: NSMutableDictionary) in
          guard let name = names.popFirst() else {
            values["name"] = "Nobody"
            return true
          }
          values["name"] = name
          return false
        }
        request.resultType = .count
        #expect((try context.execute(request) as? NSBatchInsertResult)?.result as? Int == 2)
        #expect(try context.names() == "Ada Bob")
      }
    }

    @Test("After a batch update, objects in memory are out of date until they are refreshed.")
    func update() throws {
      try stack.work { context throws in
        let ada = context.make("Person", ["name": "Ada", "age": 36])
        context.make("Child", ["name": "Bob", "age": 7])
        try context.save()
        let request = NSBatchUpdateRequest(entityName: "Person")
        request.predicate = NSPredicate(format: "age > 10")
        request.propertiesToUpdate = ["age": NSExpression(format: "age + 1"), "nickname": "old"]
        request.resultType = .updatedObjectIDsResultType
        let result = try #require(try context.execute(request) as? NSBatchUpdateResult)
        #expect(result.result as? [NSManagedObjectID] == [ada.objectID])
        #expect(ada["age"] as? Int == 36)
        NSManagedObjectContext.mergeChanges(
          fromRemoteContextSave: [NSUpdatedObjectIDsKey: [ada.objectID]], into: [context])
        #expect(ada["age"] as? Int == 37 && ada["nickname"] as? String == "old")
      }
    }

    @Test("A batch deletion applies the delete rules: it cascades and nullifies, and a denied one fails.")
    func deletion() throws {
      try stack.work { context throws in
        let house = context.make("House", ["street": "Elm"])
        let ada = context.make("Person", ["name": "Ada", "home": house])
        let pet = context.make("Pet", ["name": "Rex", "owner": ada])
        try context.save()
        let houses = NSBatchDeleteRequest(fetchRequest: NSFetchRequest<any NSFetchRequestResult>(entityName: "House"))
        #expect(thrown { try context.execute(houses) }?.code == 1600)
        #expect(thrown { try context.execute(NSBatchDeleteRequest(objectIDs: [ada.objectID, house.objectID])) } != nil)
        let people = NSBatchDeleteRequest(objectIDs: [ada.objectID])
        people.resultType = .resultTypeObjectIDs
        let result = try #require(try context.execute(people) as? NSBatchDeleteResult)
        #expect(Set(result.result as? [NSManagedObjectID] ?? []) == [ada.objectID, pet.objectID])
        context.reset()
        #expect(context.object(with: house.objectID).objectIDs(forRelationshipNamed: "residents").isEmpty)
        #expect((try context.execute(houses) as? NSBatchDeleteResult)?.result as? Bool == true)
      }
    }
  }
#endif
