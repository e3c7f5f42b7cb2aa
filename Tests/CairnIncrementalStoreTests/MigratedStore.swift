import CairnIncrementalStore
import CairnInspection
import CoreData
import Testing

/// A store with objects of a first model, which tests migrate to other models. Its structure is verified after each use.
class MigratedStore {
  let url = FileManager.default.temporaryDirectory.appending(path: "migration \(UUID().uuidString)")
  typealias Property = ModelVersion.Property

  deinit { try? FileManager.default.removeItem(at: url) }

  /// Items in lists, and tags of items.
  let first = ModelVersion(entities: [
    "Item": ModelVersion.Entity(properties: [
      "name": .attribute(.stringAttributeType), "number": .attribute(.integer16AttributeType),
      "list": .toOne("List", "items"), "tags": .toMany("Tag", "items"), "next": .toOne("Item"),
    ]),
    "List": ModelVersion.Entity(properties: [
      "name": .attribute(.stringAttributeType), "items": .toMany("Item", "list"),
    ]),
    "Tag": ModelVersion.Entity(properties: [
      "name": .attribute(.stringAttributeType), "items": .toMany("Item", "tags"),
    ]),
  ])

  func open(
    _ version: ModelVersion, _ options: [AnyHashable: Any] = [:]
  ) throws -> (coordinator: NSPersistentStoreCoordinator, store: CairnIncrementalStore) {
    CairnIncrementalStore.register()
    let coordinator = NSPersistentStoreCoordinator(managedObjectModel: version.model)
    let given: [AnyHashable: Any] = [
      CairnDurabilityOption: "buffered", NSMigratePersistentStoresAutomaticallyOption: true,
      NSInferMappingModelAutomaticallyOption: true, BuildsIndexesFirstOption: true,
    ]
    let store = try coordinator.addPersistentStore(
      type: .cairn, at: url, options: given.merging(options) { $1 })
    return (coordinator, store as! CairnIncrementalStore)
  }

  @discardableResult
  func work<Result>(
    _ version: ModelVersion, _ options: [AnyHashable: Any] = [:], _ body: (NSManagedObjectContext) throws -> Result
  ) throws -> Result {
    let (coordinator, store) = try open(version, options)
    defer {
      try? coordinator.remove(store)
      let damage = (try? Verifier(at: url.path).run().damage.map { "\($0)" }) ?? ["The store cannot be read."]
      #expect(damage == [])
    }
    let context = NSManagedObjectContext(.privateQueue)
    context.persistentStoreCoordinator = coordinator
    return try context.performAndWait { try body(context) }
  }

  /// Saves three items of one list, the first two with a tag, of which the first refers to the second.
  @discardableResult
  func fill(_ version: ModelVersion? = nil) throws -> [URL] {
    try work(version ?? first) { (context) throws in
      let (list, tag) = (context.insert("List", ["name": "l"]), context.insert("Tag", ["name": "t"]))
      let items = (0..<3).map { context.insert("Item", ["name": "i\($0)", "number": $0, "list": list]) }
      for item in items.prefix(2) { item.setValue(NSSet(object: tag), forKey: "tags") }
      items[0].setValue(items[1], forKey: "next")
      try context.save()
      return items.map { $0.objectID.uriRepresentation() }
    }
  }

  func items(_ context: NSManagedObjectContext, _ entity: String = "Item") throws -> [NSManagedObject] {
    try context.all(entity).sorted { ($0.value(forKey: "name") as! String) < ($1.value(forKey: "name") as! String) }
  }

  func names(_ value: Any?) -> [String] {
    let objects = (value as? NSOrderedSet)?.array ?? (value as? NSSet)?.allObjects.map { $0 } ?? []
    return objects.map { ($0 as! NSManagedObject).value(forKey: "name") as! String }
  }

  /// Expects that the migration is refused, that the message has some words, and that nothing changes.
  func refuse(
    _ version: ModelVersion, _ words: String, code: Int = 134190, location: SourceLocation = #_sourceLocation
  ) throws {
    let failure = error { try work(version) { _ in } }
    #expect(failure?.code == code, sourceLocation: location)
    let text = failure?.localizedDescription ?? ""
    #expect(text.contains(words), "\(text)", sourceLocation: location)
    try work(first) { (context) throws in
      let items = try items(context)
      #expect(items.map { $0.value(forKey: "number") as? Int } == [0, 1, 2], sourceLocation: location)
      #expect(names((try context.all("List")).first?.value(forKey: "items")).count == 3, sourceLocation: location)
    }
  }
}
