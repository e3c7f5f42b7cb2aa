import CairnIncrementalStore
import OpenCoreData

/// A store of items, and its model, which changes.
struct Warehouse {
  private let url: URL
  private var entity = "Item"
  private var attributes: [(name: String, type: NSAttributeType, value: Any?)] = [
    ("number", .integer64AttributeType, nil), ("name", .stringAttributeType, nil), ("date", .dateAttributeType, nil),
    ("flag", .booleanAttributeType, nil),
  ]
  private var renaming: String?

  init(at folder: URL) { url = folder.appending(path: "store") }

  private var model: NSManagedObjectModel {
    let entity = NSEntityDescription()
    (entity.name, entity.renamingIdentifier) = (self.entity, renaming)
    entity.properties = attributes.map { name, type, value in
      let attribute = NSAttributeDescription()
      (attribute.name, attribute.attributeType, attribute.defaultValue) = (name, type, value)
      attribute.isOptional = value == nil
      return attribute
    }
    let model = NSManagedObjectModel()
    model.entities = [entity]
    return model
  }

  private static var options: [AnyHashable: Any] {
    [
      CairnDurabilityOption: "buffered", NSMigratePersistentStoresAutomaticallyOption: true,
      NSInferMappingModelAutomaticallyOption: true,
    ]
  }

  private func work<Result>(_ body: (NSManagedObjectContext) throws -> Result) throws -> Result {
    CairnIncrementalStore.register()
    let coordinator = NSPersistentStoreCoordinator(managedObjectModel: model)
    let store = try coordinator.addPersistentStore(type: .cairn, at: url, options: Self.options)
    defer { try? coordinator.remove(store) }
    let context = NSManagedObjectContext(.privateQueue)
    context.persistentStoreCoordinator = coordinator
    return try context.performAndWait { try body(context) }
  }

  func fill(_ count: Int) throws {
    var next = 0
    let request = NSBatchInsertRequest(entityName: entity) { (item: NSMutableDictionary) in
      guard next < count else { return true }
      item["number"] = next
      item["name"] = "a name of twenty \(1000 + next % 9000)"
      item["date"] = Date(timeIntervalSinceReferenceDate: Double(next))
      item["flag"] = next.isMultiple(of: 2)
      next += 1
      return false
    }
    request.objectsPerSave = 10_000
    _ = try work { try $0.execute(request) }
  }

  /// The milliseconds until the first object is fetched. The store is closed afterwards.
  func open() throws -> Double {
    let start = ContinuousClock.now
    return try work { context in
      try fetchFirst(context)
      return (ContinuousClock.now - start) / .milliseconds(1)
    }
  }

  private func fetchFirst(_ context: NSManagedObjectContext) throws {
    let request = NSFetchRequest<NSManagedObject>(entityName: entity)
    request.fetchLimit = 1
    guard try context.fetch(request).first?.value(forKey: "name") != nil else { fatalError("There is no object.") }
  }

  // MARK: Changes

  mutating func addAttribute() throws -> Double {
    attributes.append(("note \(attributes.count)", .stringAttributeType, nil))
    return try open()
  }

  mutating func addRequiredAttribute() throws -> Double {
    attributes.append(("state \(attributes.count)", .integer16AttributeType, 1))
    return try open()
  }

  mutating func renameEntity() throws -> Double {
    renaming = entity
    entity += "X"
    return try open()
  }

  mutating func convert() throws -> Double {
    attributes[0].type = .stringAttributeType
    return try open()
  }

  /// Copies the store by an inferred mapping model.
  func map() throws -> Double {
    let copy = url.deletingLastPathComponent().appending(path: "copy")
    let model = model
    let start = ContinuousClock.now
    try NSMigrationManager(sourceModel: model, destinationModel: model).migrateStore(
      from: url, type: .cairn, options: Self.options,
      mapping: NSMappingModel.inferredMappingModel(forSourceModel: model, destinationModel: model), to: copy,
      type: .cairn, options: Self.options)
    return (ContinuousClock.now - start) / .milliseconds(1)
  }

  /// Copies the store to another location.
  func move() throws -> Double {
    CairnIncrementalStore.register()
    let coordinator = NSPersistentStoreCoordinator(managedObjectModel: model)
    let store = try coordinator.addPersistentStore(type: .cairn, at: url, options: Self.options)
    let start = ContinuousClock.now
    let moved = try coordinator.migratePersistentStore(
      store, to: url.deletingLastPathComponent().appending(path: "moved"), options: Self.options, type: .cairn)
    defer { try? coordinator.remove(moved) }
    return (ContinuousClock.now - start) / .milliseconds(1)
  }
}
