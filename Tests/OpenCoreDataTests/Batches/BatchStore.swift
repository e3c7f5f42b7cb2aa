import CairnIncrementalStore
import CairnInspection
import OpenCoreData
import Testing

/// A store of items in boxes, on which batch requests are executed.
///
/// No two items have the same `uid`, and no two the same `code`. Items need a `weight`; their `rank` is 7 unless set,
/// and their `search` is derived from their `name`. The `count` of a crate is derived from its content.
final class BatchStore {
  enum Kind: CaseIterable, Sendable {
    case memory, rows, cairn
  }

  let kind: Kind
  let coordinator: NSPersistentStoreCoordinator
  let context: NSManagedObjectContext
  let url = FileManager.default.temporaryDirectory.appending(path: "batches \(UUID().uuidString)")

  init(_ kind: Kind) throws {
    self.kind = kind
    coordinator = try Self.coordinator(kind, url)
    context = NSManagedObjectContext(.privateQueue)
    context.persistentStoreCoordinator = coordinator
  }

  deinit {
    for store in coordinator.persistentStores { try? coordinator.remove(store) }
    TestRowStore.forget(url)
    try? FileManager.default.removeItem(at: url)
  }

  static func coordinator(_ kind: Kind, _ url: URL, isReadOnly: Bool = false) throws -> NSPersistentStoreCoordinator {
    let coordinator = NSPersistentStoreCoordinator(managedObjectModel: makeModel())
    var options: [AnyHashable: Any] = [NSReadOnlyPersistentStoreOption: isReadOnly]
    switch kind {
    case .memory:
      _ = try coordinator.addPersistentStore(
        ofType: NSInMemoryStoreType, configurationName: nil, at: nil, options: options)
    case .rows:
      NSPersistentStoreCoordinator.registerStoreClass(TestRowStore.self, forStoreType: TestRowStore.storeType)
      _ = try coordinator.addPersistentStore(
        ofType: TestRowStore.storeType, configurationName: nil, at: url, options: options)
    case .cairn:
      CairnIncrementalStore.register()
      options[CairnDurabilityOption] = "buffered"
      _ = try coordinator.addPersistentStore(type: .cairn, at: url, options: options)
    }
    return coordinator
  }

  private static func makeModel() -> NSManagedObjectModel {
    func attribute(_ name: String, _ type: NSAttributeType, isOptional: Bool = true) -> NSAttributeDescription {
      let attribute = NSAttributeDescription()
      (attribute.name, attribute.attributeType, attribute.isOptional) = (name, type, isOptional)
      return attribute
    }
    func toOne(_ name: String, to entity: NSEntityDescription) -> NSRelationshipDescription {
      let relationship = NSRelationshipDescription()
      (relationship.name, relationship.destinationEntity, relationship.maxCount) = (name, entity, 1)
      return relationship
    }
    func toMany(
      _ name: String, to entity: NSEntityDescription, inverse: NSRelationshipDescription
    ) -> NSRelationshipDescription {
      let relationship = NSRelationshipDescription()
      (relationship.name, relationship.destinationEntity, relationship.maxCount) = (name, entity, 0)
      (relationship.inverseRelationship, inverse.inverseRelationship) = (inverse, relationship)
      return relationship
    }
    func entity(_ name: String) -> NSEntityDescription {
      let entity = NSEntityDescription()
      entity.name = name
      return entity
    }
    let (item, box, crate, shelf) = (entity("Item"), entity("Box"), entity("Crate"), entity("Shelf"))
    let rank = attribute("rank", .integer16AttributeType)
    rank.defaultValue = 7
    let hint = attribute("hint", .stringAttributeType)
    hint.isTransient = true
    let search = NSDerivedAttributeDescription()
    (search.name, search.attributeType) = ("search", .stringAttributeType)
    search.derivationExpression = NSExpression(format: "canonical:(name)")
    let (home, crateOfItem) = (toOne("box", to: box), toOne("crate", to: crate))
    let items = toMany("items", to: item, inverse: home)
    let content = toMany("content", to: item, inverse: crateOfItem)
    let twin = toOne("twin", to: item)
    twin.inverseRelationship = twin
    item.properties = [
      attribute("uid", .integer64AttributeType), attribute("code", .stringAttributeType),
      attribute("name", .stringAttributeType), rank, attribute("weight", .doubleAttributeType, isOptional: false),
      attribute("since", .dateAttributeType), hint, search, home, crateOfItem, twin,
    ]
    item.uniquenessConstraints = [["uid"], ["code"]]
    let place = toOne("shelf", to: shelf)
    place.isOptional = false
    box.properties = [attribute("name", .stringAttributeType), items, place]
    let boxes = toMany("boxes", to: box, inverse: place)
    shelf.properties = [attribute("name", .stringAttributeType), boxes]
    let count = NSDerivedAttributeDescription()
    (count.name, count.attributeType) = ("count", .integer64AttributeType)
    count.derivationExpression = NSExpression(format: "content.@count")
    crate.properties = [count, content]
    let model = NSManagedObjectModel()
    model.entities = [item, box, crate, shelf]
    return model
  }

  // MARK: Requests

  func insert(
    _ items: [[String: Any]], _ policy: NSMergePolicy = .error, objectsPerSave: Int = 0
  ) throws -> [NSManagedObjectID] {
    let request = NSBatchInsertRequest(entityName: "Item", objects: items)
    request.resultType = .objectIDs
    request.objectsPerSave = objectsPerSave
    return try context.performAndWait {
      context.mergePolicy = policy
      let result = try context.execute(request)
      return try #require((result as? NSBatchInsertResult)?.result as? [NSManagedObjectID])
    }
  }

  func update(_ format: String?, _ properties: [AnyHashable: Any], objectsPerSave: Int = 0) throws -> Int {
    let request = NSBatchUpdateRequest(entityName: "Item")
    request.predicate = format.map { NSPredicate(format: $0) }
    request.propertiesToUpdate = properties
    request.resultType = .updatedObjectsCountResultType
    request.objectsPerSave = objectsPerSave
    return try context.performAndWait {
      try #require((try context.execute(request) as? NSBatchUpdateResult)?.result as? Int)
    }
  }

  func delete(_ entity: String, _ format: String?, objectsPerSave: Int = 0) throws -> Int {
    let fetch = NSFetchRequest<any NSFetchRequestResult>(entityName: entity)
    fetch.predicate = format.map { NSPredicate(format: $0) }
    let request = NSBatchDeleteRequest(fetchRequest: fetch)
    request.resultType = .resultTypeCount
    request.objectsPerSave = objectsPerSave
    return try context.performAndWait {
      try #require((try context.execute(request) as? NSBatchDeleteResult)?.result as? Int)
    }
  }

  /// Inserts an object by a context.
  func make(_ entity: String, _ values: [String: Any] = [:]) throws -> NSManagedObject {
    try context.performAndWait {
      let object = NSEntityDescription.insertNewObject(forEntityName: entity, into: context)
      for (key, value) in values { object.setValue(value, forKey: key) }
      try context.save()
      return object
    }
  }

  // MARK: Contents

  /// The values of an attribute of all objects in their order by another attribute, as a new context reads them.
  func values(_ key: String, of entity: String = "Item", by order: String = "uid") throws -> [String] {
    let context = NSManagedObjectContext(.privateQueue)
    context.persistentStoreCoordinator = coordinator
    let request = NSFetchRequest<NSManagedObject>(entityName: entity)
    request.sortDescriptors = [NSSortDescriptor(key: order, ascending: true)]
    return try context.performAndWait {
      try context.fetch(request).map { $0.value(forKey: key).map { "\($0)" } ?? "nil" }
    }
  }

  /// The uids of the items that a box has, in ascending order, as the inverse of their boxes.
  func items(of box: NSManagedObject) throws -> [Int] {
    let context = NSManagedObjectContext(.privateQueue)
    context.persistentStoreCoordinator = coordinator
    return try context.performAndWait {
      let box = try context.existingObject(with: box.objectID)
      let items = try #require(box.value(forKey: "items") as? Set<NSManagedObject>)
      for item in items { #expect(item.value(forKey: "box") as? NSManagedObject === box) }
      return items.compactMap { $0.value(forKey: "uid") as? Int }.sorted()
    }
  }

  /// Checks that the bytes on disk agree with each other.
  func check() throws {
    guard kind == .cairn else { return }
    #expect(try Verifier(at: url.path).run().findings.map { "\($0)" } == [])
  }
}

/// The code of the error that the block throws; nil if it throws none.
func code(_ body: () throws -> some Any) -> Int? {
  do {
    _ = try body()
    return nil
  } catch {
    return (error as NSError).code
  }
}
