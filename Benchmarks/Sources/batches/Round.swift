import Cairn
import CairnIncrementalStore
import OpenCoreData

/// All tasks, measured once.
struct Round {
  private let count: Int
  private let url: URL
  private let model: NSManagedObjectModel
  private let dates: [Date]
  private let names: [String]

  init(count: Int, at url: URL) {
    (self.count, self.url) = (count, url)
    dates = (0..<count).map { Date(timeIntervalSinceReferenceDate: Double($0)) }
    names = (0..<count).map { "a name of twenty \(1000 + $0 % 9000)" }
    let item = NSEntityDescription()
    item.name = "Item"
    item.properties = [
      ("number", NSAttributeType.integer64AttributeType), ("name", .stringAttributeType), ("date", .dateAttributeType),
      ("flag", .booleanAttributeType),
    ].map { name, type in
      let attribute = NSAttributeDescription()
      (attribute.name, attribute.attributeType) = (name, type)
      return attribute
    }
    model = NSManagedObjectModel()
    model.entities = [item]
  }

  func run() throws -> [Task: (requests: Double, engine: Double)] {
    var times: [Task: (requests: Double, engine: Double)] = [:]
    let dictionaries = (0..<count).map(values)
    let inserted = try work("dictionaries") { context in
      try time { try context.execute(NSBatchInsertRequest(entityName: "Item", objects: dictionaries)) }
    }
    let handled = try work("handler") { context in
      var next = 0
      let request = NSBatchInsertRequest(entityName: "Item") { (item: NSMutableDictionary) in
        guard next < count else { return true }
        set(item, next)
        next += 1
        return false
      }
      return try time { try context.execute(request) }
    }
    let made = try work("objects") { context in
      var next = 0
      let request = NSBatchInsertRequest(entityName: "Item") { (item: NSManagedObject) in
        guard next < count else { return true }
        set(item, next)
        next += 1
        return false
      }
      return try time { try context.execute(request) }
    }
    let inParts = try work("parts") { context in
      let request = NSBatchInsertRequest(entityName: "Item", objects: dictionaries)
      request.objectsPerSave = 10_000
      return try time { try context.execute(request) }
    }
    let first = try rows("dictionaries")
    let updated = try work("dictionaries") { context in
      let request = NSBatchUpdateRequest(entityName: "Item")
      request.propertiesToUpdate = [
        "name": "another name of thirty letters", "number": NSExpression(format: "number + 1"),
      ]
      return try time { try context.execute(request) }
    }
    let second = try rows("dictionaries")
    let deleted = try work("dictionaries") { context in
      let request = NSBatchDeleteRequest(fetchRequest: NSFetchRequest<NSManagedObject>(entityName: "Item"))
      return try time { try context.execute(request) }
    }
    let engine = try engine(first, second)
    for task in [Task.insertDictionaries, .insertHandler, .insertObjects, .insertParts] {
      times[task] = (0, engine.put)
    }
    times[.insertDictionaries]?.requests = inserted
    times[.insertHandler]?.requests = handled
    times[.insertObjects]?.requests = made
    times[.insertParts]?.requests = inParts
    times[.update] = (updated, engine.replaced)
    times[.delete] = (deleted, engine.deleted)
    return times
  }

  private func values(_ number: Int) -> [String: Any] {
    ["number": number, "name": names[number], "date": dates[number], "flag": number.isMultiple(of: 2)]
  }

  private func set(_ item: NSMutableDictionary, _ number: Int) {
    item["number"] = number
    item["name"] = names[number]
    item["date"] = dates[number]
    item["flag"] = number.isMultiple(of: 2)
  }

  private func set(_ item: NSManagedObject, _ number: Int) {
    item.setAttributeValue(Int64(number), forKey: "number")
    item.setAttributeValue(names[number], forKey: "name")
    item.setAttributeValue(dates[number], forKey: "date")
    item.setAttributeValue(number.isMultiple(of: 2), forKey: "flag")
  }

  /// What the handlers take without the requests: on what a request passes to its handler, but one for all objects.
  func handlersAlone() throws -> (dictionary: Double, object: Double) {
    var (dictionary, object) = (0.0, 0.0)
    _ = try work("handlers") { context in
      _ = try context.execute(
        NSBatchInsertRequest(entityName: "Item") { (item: NSMutableDictionary) in
          dictionary = time { for number in 0..<count { set(item, number) } }
          return true
        })
      _ = try context.execute(
        NSBatchInsertRequest(entityName: "Item") { (item: NSManagedObject) in
          object = time { for number in 0..<count { set(item, number) } }
          return true
        })
      return 0
    }
    return (dictionary, object)
  }

  /// Runs `body` and returns its nanoseconds for each object.
  private func time(_ body: () throws -> some Any) rethrows -> Double {
    let clock = ContinuousClock()
    let start = clock.now
    _ = try body()
    return (clock.now - start) / .nanoseconds(1) / Double(count)
  }

  private func work(_ name: String, _ body: (NSManagedObjectContext) throws -> Double) throws -> Double {
    CairnIncrementalStore.register()
    let coordinator = NSPersistentStoreCoordinator(managedObjectModel: model)
    let store = try coordinator.addPersistentStore(
      type: .cairn, at: url.appending(path: name), options: [CairnDurabilityOption: "buffered"])
    let context = NSManagedObjectContext(.privateQueue)
    context.persistentStoreCoordinator = coordinator
    let elapsed = try context.performAndWait { try body(context) }
    try coordinator.remove(store)
    return elapsed
  }

  // MARK: The engine

  /// The rows of the items in a closed store.
  private func rows(_ name: String) throws -> [[UInt8]] {
    let store = try Store.open(at: url.appending(path: name).path)
    defer { try? store.close() }
    let keyspace = try store.keyspace("table 1")
    var rows: [[UInt8]] = []
    rows.reserveCapacity(count)
    try store.read { snapshot in
      try keyspace.scan(at: snapshot) { _, value, _ in
        rows.append(unsafe value.withUnsafeBytes { unsafe Array($0) })
        return .next
      }
    }
    return rows
  }

  private func engine(
    _ first: [[UInt8]], _ second: [[UInt8]]
  ) throws -> (put: Double, replaced: Double, deleted: Double) {
    let store = try Store.open(at: url.appending(path: "engine").path)
    defer { try? store.close() }
    let keyspace = try store.keyspace("rows")
    func write(_ body: (inout Batch, Int) throws -> Void) throws -> Double {
      try time {
        try store.write(durability: .buffered) { batch in
          for number in 0..<count { try body(&batch, number) }
        }
      }
    }
    return (
      try write { batch, number in try keyspace.put(first[number], at: number, in: &batch) },
      try write { batch, number in try keyspace.put(second[number], at: number, in: &batch) },
      try write { batch, number in try keyspace.delete(number, in: &batch) }
    )
  }
}
