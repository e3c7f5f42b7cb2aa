import Cairn
import CairnIncrementalStore
import CairnSimulation
import IncrementalStore
import OpenCoreData
import Testing

/// Power losses while a store is migrated. The new model renames an entity, removes another one, adds an attribute,
/// requires one that may be nil, makes texts of the numbers of another one, makes a to-one relationship to-many, gives
/// another one an ordered inverse, and has a uniqueness constraint. The rows and entries take several saves.
@Suite("Power losses during a migration")
struct MigrationTests {
  private static let count = 60

  @Test("After a power loss, the store belongs to one of the models, with all its objects.")
  func powerLoss() throws {
    let machine = SimulatedMachine(MemoryFileLayer(), seed: 1)
    try Self.work(machine, Self.former) { context in
      var (last, first): (NSManagedObject?, NSManagedObject?)
      for number in 0..<Self.count {
        let item = NSEntityDescription.insertNewObject(forEntityName: "Item", into: context)
        item.setValue("item \(number)", forKey: "name")
        if number.isMultiple(of: 2) { item.setValue(number, forKey: "number") }
        item.setValue(number, forKey: "size")
        item.setValue(last, forKey: "next")
        item.setValue(first, forKey: "leader")
        (last, first) = (item, first ?? item)
        _ = NSEntityDescription.insertNewObject(forEntityName: "Note", into: context)
      }
      try context.save()
    }
    let power = PowerCut(seed: 1, oneIn: 3)
    power.watch(machine.files)
    try Self.work(machine, Self.present, migrates: true) { _ in }
    machine.files.gate = nil

    var belongsTo: [Bool: Int] = [:]
    for disk in power.takeDisks() {
      func check(_ model: NSManagedObjectModel, isMigrated: Bool, migrates: Bool = false) throws {
        // Each check begins with the disk as it was after the power loss.
        let machine = SimulatedMachine(disk.files.crash(.kept).files, seed: 2)
        try Self.work(machine, model, migrates: migrates) { try Self.check($0, isMigrated, disk.place) }
      }
      do {
        try check(Self.former, isMigrated: false)
        belongsTo[false, default: 0] += 1
      } catch CocoaError.persistentStoreIncompatibleVersionHash {
        try check(Self.present, isMigrated: true)
        belongsTo[true, default: 0] += 1
      }
      try check(Self.present, isMigrated: true, migrates: true)
    }
    #expect(belongsTo[false] ?? 0 > 10 && belongsTo[true] ?? 0 > 3)
  }

  private static func check(_ context: NSManagedObjectContext, _ isMigrated: Bool, _ place: String) throws {
    let request = NSFetchRequest<NSManagedObject>(entityName: isMigrated ? "Thing" : "Item")
    request.sortDescriptors = [NSSortDescriptor(key: "name", ascending: true)]
    let items = try context.fetch(request)
    #expect(items.count == count, "\(place)")
    for item in items {
      guard let name = item.value(forKey: "name") as? String, let number = Int(name.dropFirst("item ".count)) else {
        Issue.record("\(place): an object has no name")
        continue
      }
      let expected = number.isMultiple(of: 2) ? number : isMigrated ? -1 : nil
      #expect(item.value(forKey: "number") as? Int == expected, "\(place)")
      let size = item.value(forKey: "size")
      #expect(isMigrated ? size as? String == "\(number)" : size as? Int == number, "\(place)")
      let next = item.value(forKey: "next")
      let names =
        isMigrated
        ? (next as? NSSet)?.compactMap { ($0 as? NSManagedObject)?.value(forKey: "name") as? String }
        : [(next as? NSManagedObject)?.value(forKey: "name") as? String].compactMap(\.self)
      #expect(names == (number == 0 ? [] : ["item \(number - 1)"]), "\(place)")
      let leader = (item.value(forKey: "leader") as? NSManagedObject)?.value(forKey: "name") as? String
      #expect(leader == (number == 0 ? nil : "item 0"), "\(place)")
      guard isMigrated else { continue }
      #expect(item.value(forKey: "state") as? String == "new", "\(place)")
      let led = (item.value(forKey: "led") as? NSOrderedSet)?.compactMap { follower in
        (follower as? NSManagedObject)?.value(forKey: "name") as? String
      }
      #expect(led == (number == 0 ? (1..<count).map { "item \($0)" } : []), "\(place)")
    }
    if isMigrated {
      let double = NSEntityDescription.insertNewObject(forEntityName: "Thing", into: context)
      double.setValue("item 7", forKey: "name")
      #expect(throws: CocoaError.self, "\(place)") { try context.save() }
      context.rollback()
    }
    if !isMigrated {
      #expect(try context.count(for: NSFetchRequest<NSManagedObject>(entityName: "Note")) == count, "\(place)")
    }
  }

  private static func work(
    _ machine: SimulatedMachine, _ model: NSManagedObjectModel, migrates: Bool = false,
    _ body: (NSManagedObjectContext) throws -> Void
  ) throws {
    NSPersistentStoreCoordinator.registerStoreClass(SimulatedStore.self, forStoreType: SimulatedStore.storeType)
    let coordinator = NSPersistentStoreCoordinator(managedObjectModel: model)
    defer { machine.scheduler.drain() }
    let store = try coordinator.addPersistentStore(
      ofType: SimulatedStore.storeType, configurationName: nil, at: URL(filePath: "/simulated store"),
      options: [
        SimulatedStore.machineOption: machine, BuildsIndexesFirstOption: true, StoreMigration.stepOption: 11,
        NSMigratePersistentStoresAutomaticallyOption: NSNumber(value: migrates),
        NSInferMappingModelAutomaticallyOption: true,
      ])
    let context = NSManagedObjectContext(.privateQueue)
    context.persistentStoreCoordinator = coordinator
    try context.performAndWait { try body(context) }
    try coordinator.remove(store)
  }

  // MARK: Models

  private static var former: NSManagedObjectModel {
    model(
      "Item", [attribute("name", .string), attribute("number", .integer32), attribute("size", .integer16)],
      others: ["Note"], isMigrated: false)
  }

  private static var present: NSManagedObjectModel {
    let (number, state) = (attribute("number", .integer32), attribute("state", .string))
    (number.isOptional, number.defaultValue) = (false, -1)
    (state.isOptional, state.defaultValue) = (false, "new")
    let model = model(
      "Thing", [attribute("name", .string), number, state, attribute("size", .string)], others: [], isMigrated: true)
    model.entitiesByName["Thing"]?.renamingIdentifier = "Item"
    model.entitiesByName["Thing"]?.uniquenessConstraints = [["name"]]
    return model
  }

  private static func model(
    _ name: String, _ attributes: [NSAttributeDescription], others: [String], isMigrated: Bool
  ) -> NSManagedObjectModel {
    let entities = ([name] + others).map { name in
      let entity = NSEntityDescription()
      entity.name = name
      return entity
    }
    let next = NSRelationshipDescription()
    (next.name, next.destinationEntity, next.maxCount) = ("next", entities[0], isMigrated ? 0 : 1)
    let leader = NSRelationshipDescription()
    (leader.name, leader.destinationEntity, leader.maxCount) = ("leader", entities[0], 1)
    entities[0].properties = attributes + [next, leader]
    if isMigrated {
      let led = NSRelationshipDescription()
      (led.name, led.destinationEntity, led.maxCount, led.isOrdered) = ("led", entities[0], 0, true)
      entities[0].properties.append(led)
      (led.inverseRelationship, leader.inverseRelationship) = (leader, led)
    }
    let model = NSManagedObjectModel()
    model.entities = entities
    return model
  }

  private static func attribute(
    _ name: String, _ type: NSAttributeDescription.AttributeType
  ) -> NSAttributeDescription {
    let attribute = NSAttributeDescription()
    (attribute.name, attribute.type, attribute.isOptional) = (name, type, true)
    return attribute
  }
}
