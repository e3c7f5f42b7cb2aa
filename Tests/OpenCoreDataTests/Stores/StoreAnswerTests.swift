import Testing

@testable import OpenCoreData

/// The answers of a store are checked before contexts see them.
@Suite struct StoreAnswerTests {
  let zoo = Zoo()
  let coordinator: NSPersistentStoreCoordinator
  let store: TestStore
  let context = NSManagedObjectContext(concurrencyType: .privateQueueConcurrencyType)

  init() throws {
    coordinator = NSPersistentStoreCoordinator(managedObjectModel: zoo.model)
    store = try coordinator.addTestStore()
  }

  func dog(_ number: Int) -> NSManagedObjectID { store.newObjectID(for: zoo.dog, referenceObject: number) }

  @Test func anyCollectionAnswersAToMany() throws {
    let keeper = store.newObjectID(for: zoo.keeper, referenceObject: 1)
    let dogs = [dog(2), dog(1)]
    for answer in [dogs, dogs as [Any], NSArray(array: dogs), NSOrderedSet(array: dogs)] as [Any] {
      store.answer = answer
      #expect(try coordinator.relatedIDs(zoo.pets, of: keeper, context) == dogs)
    }
    for answer in [Set(dogs), NSSet(array: dogs)] as [Any] {
      store.answer = answer
      #expect(try Set(coordinator.relatedIDs(zoo.pets, of: keeper, context)) == Set(dogs))
    }
    for answer in [NSNull(), dogs[0], [dogs[0], NSNull()], ["a": dogs[0]]] as [Any] {
      store.answer = answer
      let ask = { _ = try coordinator.relatedIDs(zoo.pets, of: keeper, context) }
      #expect(errorCode(ask) == NSPersistentStoreOperationError)
      #expect(errorText(ask).contains("TestStore") && errorText(ask).contains("pets"))
    }
  }

  @Test func anIdentifierOrNullAnswersAToOne() throws {
    let keeper = store.newObjectID(for: zoo.keeper, referenceObject: 1)
    store.answer = keeper
    #expect(try coordinator.relatedIDs(zoo.owner, of: dog(1), context) == [keeper])
    store.answer = NSNull()
    #expect(try coordinator.relatedIDs(zoo.owner, of: dog(1), context).isEmpty)
    store.answer = [keeper]
    #expect(
      errorCode { _ = try coordinator.relatedIDs(zoo.owner, of: dog(1), context) } == NSPersistentStoreOperationError)
  }

  @Test func whatNoStoreHasIsMissing() throws {
    let lost = dog(1)
    try coordinator.remove(store)
    #expect(errorCode { _ = try coordinator.node(for: lost, context) } == NSManagedObjectReferentialIntegrityError)
    let temporary = NSManagedObjectID(temporaryFor: zoo.dog)
    #expect(temporary.isTemporaryID && temporary.persistentStore == nil)
    #expect(temporary != NSManagedObjectID(temporaryFor: zoo.dog))
    #expect(errorCode { _ = try coordinator.node(for: temporary, context) } == NSManagedObjectReferentialIntegrityError)
    #expect(temporary.uriRepresentation().absoluteString.hasPrefix("x-coredata:///Dog/t"))
    #expect(coordinator.managedObjectID(forURIRepresentation: temporary.uriRepresentation()) == nil)
  }

  @Test func eachStoreIsToldOfItsObjects() throws {
    let other = try coordinator.addTestStore()
    let others = other.newObjectID(for: zoo.dog, referenceObject: 1)
    coordinator.didRegister([dog(1), others, dog(2), NSManagedObjectID(temporaryFor: zoo.dog)])
    #expect(store.registered == [[dog(1), dog(2)]] && other.registered == [[others]])
    coordinator.didRegister([dog(3), dog(4)])
    coordinator.didRegister([])
    #expect(store.registered.count == 2 && other.registered.count == 1)
  }

  @Test func objectsGoToTheFirstStoreThatTakesThem() throws {
    let coordinator = NSPersistentStoreCoordinator(managedObjectModel: zoo.model)
    #expect(errorCode { _ = try coordinator.store(for: zoo.dog, assigned: nil) } == NSPersistentStoreSaveError)
    let fixed = try coordinator.addTestStore(options: [NSReadOnlyPersistentStoreOption: true])
    #expect(errorCode { _ = try coordinator.store(for: zoo.dog, assigned: nil) } == NSPersistentStoreSaveError)
    let first = try coordinator.addTestStore()
    let second = try coordinator.addTestStore()
    #expect(try coordinator.store(for: zoo.dog, assigned: nil) === first)
    #expect(try coordinator.store(for: zoo.dog, assigned: second) === second)
    #expect(errorCode { _ = try coordinator.store(for: zoo.dog, assigned: fixed) } == NSPersistentStoreSaveError)
  }

  @Test func fetchesGoToTheStoresConcerned() throws {
    let other = try coordinator.addTestStore()
    store.answer = [1]
    other.answer = NSArray(array: [2])
    let request = NSFetchRequest<NSNumber>(entityName: "Dog")
    #expect(try coordinator.execute(request, with: context) as? [Int] == [1, 2])
    request.affectedStores = [other]
    #expect(try coordinator.execute(request, with: context) as? [Int] == [2])
    other.answer = 2
    #expect(errorCode { _ = try coordinator.execute(request, with: context) } == NSPersistentStoreOperationError)
    let unknown = NSFetchRequest<NSNumber>(entityName: "Cat")
    #expect(errorCode { _ = try coordinator.execute(unknown, with: context) } == NSCoreDataError)
  }

  @Test func otherRequestsGoToOneStore() throws {
    let request = OtherRequest()
    store.answer = "done"
    #expect(try coordinator.execute(request, with: context) as? String == "done")
    _ = try coordinator.addTestStore()
    #expect(errorCode { _ = try coordinator.execute(request, with: context) } == NSPersistentStoreOperationError)
    request.affectedStores = [store]
    #expect(try coordinator.execute(request, with: context) as? String == "done")
  }

  @Test("A context refuses to execute a fetch or a save as a request with a result, and asks no store.")
  func requestsWithoutResult() throws {
    let context = NSManagedObjectContext(.privateQueue)
    context.persistentStoreCoordinator = coordinator
    let requests = [
      NSFetchRequest<NSManagedObject>(entityName: "Dog"),
      NSSaveChangesRequest(inserted: nil, updated: nil, deleted: nil, locked: nil),
    ]
    for request in requests {
      let code = context.performAndWait { errorCode { _ = try context.execute(request) } }
      #expect(code == NSPersistentStoreUnsupportedRequestTypeError)
    }
    #expect(store.requests.isEmpty)
  }

  @Test func nodesGiveWhatTheyHold() {
    let node = NSIncrementalStoreNode(
      objectID: dog(1), withValues: ["name": "Rex", "owner": NSNull(), "unknown": 1], version: 3)
    #expect(node.value(for: zoo.name) as? String == "Rex")
    #expect(node.value(for: zoo.owner) is NSNull)
    #expect(node.value(for: zoo.tricks) == nil)
    node.update(withValues: ["tricks": 2], version: 4)
    #expect(node.value(for: zoo.name) == nil)
    #expect(node.value(for: zoo.tricks) as? Int == 2)
    #expect(node.version == 4)
  }
}

private final class OtherRequest: NSPersistentStoreRequest {
  override var requestType: NSPersistentStoreRequestType { .batchUpdateRequestType }
}
