import Foundation
import OpenCoreData
import Testing

/// A store with a keeper and a dog, whose rows have the values that they are told to have.
private final class ToldStore: NSIncrementalStore {
  var values: [String: [String: Any]] = ["Keeper": [:], "Dog": [:]]
  var related: [String: Any] = ["owner": NSNull(), "pets": [NSManagedObjectID]()]
  var fetched: [Any]?

  override func loadMetadata() throws {
    metadata = [NSStoreTypeKey: "Told", NSStoreUUIDKey: UUID().uuidString]
  }

  func id(_ name: String) throws -> NSManagedObjectID {
    let entity = try #require(persistentStoreCoordinator?.managedObjectModel.entitiesByName[name])
    return newObjectID(for: entity, referenceObject: 1)
  }

  override func execute(_ request: NSPersistentStoreRequest, with context: NSManagedObjectContext?) throws -> Any {
    guard let request = request as? NSFetchRequest<NSManagedObject> else { return [Any]() }
    if let fetched { return fetched }
    let id = try id(request.entityName ?? "")
    return request.resultType == .managedObjectIDResultType ? [id] : [try #require(context?.object(with: id))]
  }

  override func newValuesForObject(
    with objectID: NSManagedObjectID, with context: NSManagedObjectContext
  ) throws -> NSIncrementalStoreNode {
    NSIncrementalStoreNode(objectID: objectID, withValues: values[objectID.entity.name ?? ""] ?? [:], version: 1)
  }

  override func newValue(
    forRelationship relationship: NSRelationshipDescription, forObjectWith objectID: NSManagedObjectID,
    with context: NSManagedObjectContext?
  ) throws -> Any { related[relationship.name] ?? NSNull() }
}

@Suite("Values of a wrong type from a store")
struct WrongValueTests {
  private let store: ToldStore
  private let context = NSManagedObjectContext(.privateQueue)

  init() throws {
    NSPersistentStoreCoordinator.registerStoreClass(ToldStore.self, forStoreType: "Told")
    let coordinator = NSPersistentStoreCoordinator(managedObjectModel: Zoo().model)
    store = try #require(
      try coordinator.addPersistentStore(
        ofType: "Told", configurationName: nil, at: URL(filePath: "/tmp/told")) as? ToldStore)
    context.persistentStoreCoordinator = coordinator
  }

  private func expectError(_ texts: String..., when body: () throws -> Void) {
    let error = #expect(throws: NSError.self) { try context.performAndWait(body) }
    #expect(error?.domain == NSCocoaErrorDomain && error?.code == NSPersistentStoreOperationError)
    for text in ["ToldStore at file:///tmp/told"] + texts {
      let description = error?.localizedDescription ?? ""
      #expect(description.contains(text))
    }
  }

  private func fetch(_ name: String, filled: Bool = false, prefetching: [String] = []) throws -> [NSManagedObject] {
    let request = NSFetchRequest<NSManagedObject>(entityName: name)
    request.returnsObjectsAsFaults = !filled
    request.relationshipKeyPathsForPrefetching = prefetching
    return try context.fetch(request)
  }

  @Test("A value of a wrong type is an error of calls that read the object, which stays a fault.")
  func attribute() throws {
    store.values["Dog"] = ["name": "Rex", "tricks": "three"]
    let id = try store.id("Dog")
    let texts = ("the attribute Dog.tricks", "of the type String", "of the type NSNumber")
    expectError(texts.0, texts.1, texts.2) { _ = try context.existingObject(with: id) }
    expectError(texts.0, texts.1, texts.2) { _ = try fetch("Dog", filled: true) }
    try context.performAndWait {
      let dog = try #require(try fetch("Dog").first)
      #expect(dog.isFault)
      expectError(texts.0, texts.1, texts.2) { _ = try context.existingObject(with: id) }
      #expect(dog.isFault)
      store.values["Dog"] = ["name": "Rex", "tricks": 3]
      #expect(dog.value(forKey: "tricks") as? Int == 3)
    }
  }

  @Test("A value of a wrong type for a to-one relationship is an error.", arguments: ["a text", "a dog"])
  func toOne(kind: String) throws {
    let dog = try store.id("Dog")
    let wrong: Any = kind == "a dog" ? dog : "keeper 1"
    let given = kind == "a dog" ? "an identifier of the entity Dog" : "of the type String"
    store.values["Dog"] = ["owner": wrong]
    expectError("the relationship Dog.owner", given, "of the entity Keeper") {
      _ = try context.existingObject(with: dog)
    }
    store.values["Dog"] = [:]
    store.related["owner"] = wrong
    expectError("the relationship Dog.owner", given, "of the entity Keeper") { _ = try fetch("Dog", filled: true) }
    store.related["owner"] = try store.id("Keeper")
    try context.performAndWait {
      let owner = try fetch("Dog", filled: true).first?.value(forKey: "owner") as? NSManagedObject
      let expected = try store.id("Keeper")
      #expect(owner?.objectID == expected)
    }
  }

  @Test("A value of a wrong type among the members of a relationship fails a fetch that prefetches them.")
  func members() throws {
    store.related["pets"] = [try store.id("Dog"), try store.id("Keeper")]
    expectError("the relationship Keeper.pets", "identifiers of the entities Dog, Keeper", "of the entity Animal") {
      _ = try fetch("Keeper", prefetching: ["pets"])
    }
    store.related["pets"] = [try store.id("Dog")]
    try context.performAndWait {
      let keeper = try #require(try fetch("Keeper", prefetching: ["pets"]).first)
      #expect((keeper.value(forKey: "pets") as? NSSet)?.count == 1)
    }
  }

  @Test("A value of a wrong type fails a fetch that evaluates a predicate for changed objects.")
  func predicate() throws {
    store.values["Keeper"] = ["name": 7]
    let keeper = try store.id("Keeper")
    store.values["Dog"] = ["owner": keeper]
    let dog = try store.id("Dog")
    let request = NSFetchRequest<NSManagedObject>(entityName: "Dog")
    request.predicate = NSPredicate(format: "owner.name == 'Ann'")
    try context.performAndWait { try context.existingObject(with: dog).setValue("Rex", forKey: "name") }
    expectError("the attribute Keeper.name", "of the type Int", "of the type NSString") {
      _ = try context.fetch(request)
    }
    expectError("the attribute Keeper.name") { _ = try context.count(for: request) }
    store.values["Keeper"] = ["name": "Ann"]
    try context.performAndWait {
      let count = try context.fetch(request).count
      #expect(count == 1)
    }
  }

  @Test("A value of a wrong type fails a save that must read it for a deletion, which succeeds once it can be read.")
  func deletion() throws {
    store.values["Keeper"] = ["name": 7]
    store.related["pets"] = [try store.id("Dog")]
    let (keeper, dog) = try context.performAndWait {
      let keeper = try #require(try fetch("Keeper").first)
      let dog = try #require(try fetch("Dog").first)
      context.delete(keeper)
      context.processPendingChanges()
      #expect(keeper.isDeleted && !dog.isDeleted)
      return (keeper, dog)
    }
    expectError("the attribute Keeper.name") { try context.save() }
    expectError("the attribute Keeper.name") { _ = try fetch("Dog") }
    store.values["Keeper"] = ["name": "Ann"]
    try context.performAndWait {
      #expect(keeper.isDeleted)
      context.processPendingChanges()
      #expect(dog.isDeleted)
      try context.save()
    }
  }

  @Test("Reading a property whose value has a wrong type ends the program with the reason.")
  func property() async {
    let result = await #expect(processExitsWith: .failure, observing: [\.standardErrorContent]) {
      let tests = try WrongValueTests()
      tests.store.values["Dog"] = ["tricks": "three"]
      try tests.context.performAndWait {
        _ = try tests.context.object(with: tests.store.id("Dog")).value(forKey: "name")
      }
    }
    let message = String(decoding: result?.standardErrorContent ?? [], as: UTF8.self)
    for text in ["ToldStore at file:///tmp/told", "Dog.tricks", "String", "NSNumber"] {
      #expect(message.contains(text))
    }
  }
}
