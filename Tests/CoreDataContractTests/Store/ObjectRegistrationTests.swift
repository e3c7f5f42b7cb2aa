import CoreData
import Testing

@Suite("Registration of objects with a store", .anyStore)
struct ObjectRegistrationTests {
  private let stack: Stack<RecordingStore>

  init() throws { stack = try Stack() }

  @Test("Each context registers its objects, so that an identifier may be registered several times.")
  func counts() throws {
    let (first, second) = (stack.context(), stack.context())
    let rex = stack.store.identifier(5)
    let kept = first.performAndWait { first.object(with: rex) }
    let calls = stack.calls { second.performAndWait { withExtendedLifetime(second.object(with: rex)) {} } }
    #expect(calls.first == .register(["Pet/5"]))
    withExtendedLifetime(kept) {}
  }

  @Test("An object that nobody refers to is unregistered by the end of the event.")
  func freed() throws {
    let context = stack.context()
    context.performAndWait { _ = context.object(with: stack.store.identifier(5)) }
    context.performAndWait { context.processPendingChanges() }
    #expect(stack.store.calls.contains(.unregister(["Pet/5"])))
  }

  @Test("An object that is made again is unregistered before it is registered again.")
  func madeAgain() throws {
    let context = stack.context()
    let (rex, anna) = (stack.store.identifier(5), stack.store.identifier(1))
    let calls = stack.calls { context.performAndWait { for id in [rex, anna, rex] { _ = context.object(with: id) } } }
    #expect(
      calls == [.register(["Pet/5", "Person/1"]), .unregister(["Pet/5", "Person/1"]), .register(["Pet/5"])])
  }

  @Test("Objects that are made and freed one by one do not stay registered.")
  func freedOneByOne() throws {
    let context = stack.context()
    let entity = stack.store.identifier(5).entity
    context.performAndWait {
      for number in 100..<1100 {
        _ = context.object(with: stack.store.newObjectID(for: entity, referenceObject: NSNumber(value: number)))
      }
    }
    let unregistered = stack.store.calls.map { if case .unregister(let names) = $0 { names.count } else { 0 } }
    #expect(unregistered.reduce(0, +) > 900)
  }

  @Test("Identifiers are unregistered as often as they were registered.")
  func balance() throws {
    try stack.work { context in
      let kept = try context.all("Person")
      context.reset()
      _ = kept
      withExtendedLifetime(try context.all("Person")) {}
      context.reset()
    }
    var counts: [String: Int] = [:]
    for call in stack.store.calls {
      if case .register(let names) = call { for name in names { counts[name, default: 0] += 1 } }
      if case .unregister(let names) = call { for name in names { counts[name, default: 0] -= 1 } }
      #expect(counts.values.allSatisfy { $0 >= 0 })
    }
    #expect(Set(counts.keys) == ["Person/1", "Person/2", "Child/3"])
    #expect(Set(counts.values) == [0])
  }

  @Test("A new object is not registered before it is saved.")
  func inserted() throws {
    try stack.work { context in
      let dan = context.make("Person", ["name": "Dan"])
      #expect(!stack.store.calls.contains { $0.method == nil })
      try context.save()
      #expect(stack.store.calls.contains(.register(["Person/8"])))
      _ = dan
    }
  }

  @Test("A store need not implement registration.")
  func silentStore() throws {
    let coordinator = NSPersistentStoreCoordinator(managedObjectModel: Town.model())
    let type = NSPersistentStore.StoreType(rawValue: "SmallestStore")
    NSPersistentStoreCoordinator.registerStoreClass(SmallestStore.self, type: type)
    _ = try coordinator.addPersistentStore(type: type, at: URL(filePath: "/nowhere/smallest"))
    let context = NSManagedObjectContext(.privateQueue)
    context.persistentStoreCoordinator = coordinator
    let names = try context.performAndWait { try context.all("Pet").map { $0["name"] as? String } }
    #expect(names == ["Rex"])
  }
}

/// The smallest possible store, which always contains one pet.
private final class SmallestStore: NSIncrementalStore {
  override func loadMetadata() throws {
    metadata = [NSStoreTypeKey: "SmallestStore", NSStoreUUIDKey: "smallest"]
  }

  override func execute(_ request: NSPersistentStoreRequest, with context: NSManagedObjectContext?) throws -> Any {
    guard let entity = (request as? NSFetchRequest<NSManagedObject>)?.entity else { return [Any]() }
    return [context!.object(with: newObjectID(for: entity, referenceObject: NSNumber(value: 1)))]
  }

  override func newValuesForObject(
    with objectID: NSManagedObjectID, with context: NSManagedObjectContext
  ) throws -> NSIncrementalStoreNode {
    NSIncrementalStoreNode(objectID: objectID, withValues: ["name": "Rex", "owner": NSNull()], version: 1)
  }
}
