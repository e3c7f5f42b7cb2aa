import CairnIncrementalStore
import CairnInspection
import OpenCoreData
import Testing

/// Batch insertions of objects of which nothing but their rows is stored, and of others beside them.
@Suite("Batch insertions without relationships")
final class PlainBatchTests {
  private let url = FileManager.default.temporaryDirectory.appending(path: "plain batches \(UUID().uuidString)")

  deinit { try? FileManager.default.removeItem(at: url) }

  private func work(
    indexing names: [String] = [], options: [AnyHashable: Any] = [:], _ body: (NSManagedObjectContext) throws -> Void
  ) throws {
    CairnIncrementalStore.register()
    let coordinator = NSPersistentStoreCoordinator(managedObjectModel: Self.model(indexing: names))
    let given: [AnyHashable: Any] = [CairnDurabilityOption: "buffered", BuildsIndexesFirstOption: true]
    let store = try coordinator.addPersistentStore(type: .cairn, at: url, options: given.merging(options) { $1 })
    let context = NSManagedObjectContext(.privateQueue)
    context.persistentStoreCoordinator = coordinator
    try context.performAndWait { try body(context) }
    try coordinator.remove(store)
    #expect(try Verifier(at: url.path).run().damage.isEmpty)
  }

  private static func model(indexing names: [String]) -> NSManagedObjectModel {
    let note = NSEntityDescription()
    note.name = "Note"
    note.properties = [
      ("number", NSAttributeType.integer64AttributeType), ("text", .stringAttributeType), ("day", .dateAttributeType),
      ("isDone", .booleanAttributeType), ("weight", .floatAttributeType), ("price", .decimalAttributeType),
      ("key", .UUIDAttributeType), ("data", .binaryDataAttributeType),
    ].map { name, type in
      let attribute = NSAttributeDescription()
      (attribute.name, attribute.attributeType) = (name, type)
      return attribute
    }
    note.indexes = names.map { name in
      NSFetchIndexDescription(
        name: name,
        elements: note.properties.filter { $0.name == name }.map {
          NSFetchIndexElementDescription(property: $0, collationType: .binary)
        })
    }
    let model = NSManagedObjectModel()
    model.entities = [note]
    return model
  }

  private func notes(_ context: NSManagedObjectContext, _ predicate: String = "TRUEPREDICATE") throws
    -> [NSManagedObject]
  {
    let request = NSFetchRequest<NSManagedObject>(entityName: "Note")
    request.sortDescriptors = [NSSortDescriptor(key: "number", ascending: true)]
    request.predicate = NSPredicate(format: predicate)
    return try context.fetch(request)
  }

  @Test("Values of every type are kept, whatever type of Swift or Foundation they have.")
  func values() throws {
    let day = Date(timeIntervalSinceReferenceDate: 86_400.5)
    let key = UUID()
    try work { (context) throws in
      let request = NSBatchInsertRequest(
        entityName: "Note",
        objects: [
          [
            "number": 1, "text": "a note longer than a word of the machine", "day": day, "isDone": true,
            "weight": 1.5 as Float, "price": Decimal(12), "key": key, "data": Data([1, 2]),
          ],
          [
            "number": NSNumber(value: 2), "text": NSString(string: "ä"), "day": day as NSDate,
            "isDone": NSNumber(value: false), "weight": 2.5, "price": NSDecimalNumber(value: 13), "key": key as NSUUID,
            "data": Data([3]) as NSData,
          ],
          ["number": Int8(3), "isDone": 1, "weight": 3, "text": NSNull()],
        ])
      request.resultType = .objectIDs
      let result = try context.execute(request) as? NSBatchInsertResult
      let ids = try #require(result?.result as? [NSManagedObjectID])
      let found = try notes(context)
      #expect(found.map(\.objectID) == ids)
      #expect(found.map { $0.value(forKey: "number") as? Int } == [1, 2, 3])
      #expect(
        found.map { $0.value(forKey: "text") as? String } == ["a note longer than a word of the machine", "ä", nil])
      #expect(found.map { $0.value(forKey: "day") as? Date } == [day, day, nil])
      #expect(found.map { $0.value(forKey: "isDone") as? Bool } == [true, false, true])
      #expect(found.map { $0.value(forKey: "weight") as? Float } == [1.5, 2.5, 3])
      #expect(found.map { $0.value(forKey: "price") as? Decimal } == [12, 13, nil])
      #expect(found.map { $0.value(forKey: "key") as? UUID } == [key, key, nil])
      #expect(found.map { $0.value(forKey: "data") as? Data } == [Data([1, 2]), Data([3]), nil])
    }
  }

  @Test("A handler may set other properties of each object, in any order.")
  func handler() throws {
    try work { (context) throws in
      var next = 0
      let request = NSBatchInsertRequest(entityName: "Note") { (note: NSMutableDictionary) in
        next += 1
        switch next {
        case 1: (note["number"], note["text"]) = (1, "a")
        case 2: (note["isDone"], note["number"]) = (true, 2)
        case 3:
          (note["text"], note["weight"], note["number"], note["isDone"]) = ("c", 0.5, 3, false)
          note["weight"] = nil
        case 4: note.addEntries(from: ["number": 4, "text": "d"])
        default: return true
        }
        return false
      }
      _ = try context.execute(request)
      let found = try notes(context)
      #expect(found.map { $0.value(forKey: "number") as? Int } == [1, 2, 3, 4])
      #expect(found.map { $0.value(forKey: "text") as? String } == ["a", nil, "c", "d"])
      #expect(found.map { $0.value(forKey: "isDone") as? Bool } == [nil, true, false, nil])
      #expect(found.allSatisfy { $0.value(forKey: "weight") == nil })
    }
  }

  private func insert(_ context: NSManagedObjectContext, _ numbers: ClosedRange<Int>, objectsPerSave: Int = 0) throws {
    let objects = numbers.map { ["number": $0, "text": "\($0 % 3)"] as [String: Any] }
    let request = NSBatchInsertRequest(entityName: "Note", objects: objects)
    request.objectsPerSave = objectsPerSave
    _ = try context.execute(request)
  }

  @Test("Objects that an index has are found by it.", arguments: [0, 7])
  func indexed(_ objectsPerSave: Int) throws {
    try work(indexing: ["text"]) { (context) throws in
      try insert(context, 1...30, objectsPerSave: objectsPerSave)
      #expect(try notes(context, "text == '1'").count == 10)
    }
  }

  @Test("The history has what is inserted, and knows of insertions that were not recorded.")
  func history() throws {
    let tracking: [AnyHashable: Any] = [NSPersistentHistoryTrackingKey: true]
    var last: NSPersistentHistoryToken?
    try work { try insert($0, 1...3) }
    try work(options: tracking) { (context) throws in
      try insert(context, 4...8, objectsPerSave: 2)
      let found: [NSPersistentHistoryTransaction] = try context.history(.fetchHistory(after: .distantPast))
      #expect(found.map { $0.changes?.count } == [2, 2, 1])
      last = found.last?.token
    }
    try work(options: tracking) { (context) throws in
      let found: [NSPersistentHistoryTransaction] = try context.history(.fetchHistory(after: last))
      #expect(found.isEmpty)
    }
    try work { (context) throws in
      try insert(context, 9...9)
      #expect(try notes(context).count == 9)
    }
    try work(options: tracking) { (context) throws in
      #expect(code { try context.execute(NSPersistentHistoryChangeRequest.fetchHistory(after: last)) } == 134301)
    }
  }

  @Test("An update changes only what it is given, in the rows of several entities and sizes.")
  func updated() throws {
    try work(indexing: ["text"]) { (context) throws in
      try insert(context, 1...9)
      let before = try notes(context)
      #expect(before.count == 9)
      let request = NSBatchUpdateRequest(entityName: "Note")
      request.propertiesToUpdate = [
        "number": NSExpression(format: "number + 10"), "text": "a text that is much longer than the one before",
        "isDone": true,
      ]
      request.predicate = NSPredicate(format: "text != '1'")
      _ = try context.execute(request)
      context.reset()
      let found = try notes(context)
      #expect(found.map { $0.value(forKey: "number") as? Int } == [1, 4, 7, 12, 13, 15, 16, 18, 19])
      #expect(found.map { ($0.value(forKey: "text") as? String)?.count == 1 }.count { $0 } == 3)
      #expect(found.map { $0.value(forKey: "isDone") as? Bool }.count { $0 == true } == 6)
      #expect(try notes(context, "text BEGINSWITH 'a text'").count == 6)
    }
  }
}
