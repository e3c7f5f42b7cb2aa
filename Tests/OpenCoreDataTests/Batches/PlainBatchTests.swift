import CairnIncrementalStore
import CairnInspection
import OpenCoreData
import Testing

/// Batch insertions and updates of objects of which nothing but their rows is stored, and of others beside them.
@Suite("Batch requests without relationships")
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
    let memo = NSEntityDescription()
    memo.name = "Memo"
    note.subentities = [memo]
    let model = NSManagedObjectModel()
    model.entities = [note, memo]
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

  private func insert(
    _ context: NSManagedObjectContext, _ numbers: ClosedRange<Int>, of entity: String = "Note", objectsPerSave: Int = 0
  ) throws {
    let objects = numbers.map { ["number": $0, "text": "\($0 % 3)"] as [String: Any] }
    let request = NSBatchInsertRequest(entityName: entity, objects: objects)
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

  @Test("The history has what is inserted, and knows of changes that were not recorded.", arguments: [false, true])
  func history(_ updates: Bool) throws {
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
      if updates { _ = try update(context, ["text": "new"]) } else { try insert(context, 9...9) }
      #expect(try notes(context).count == (updates ? 8 : 9))
    }
    try work(options: tracking) { (context) throws in
      #expect(code { try context.execute(NSPersistentHistoryChangeRequest.fetchHistory(after: last)) } == 134301)
    }
  }

  /// The identifiers of the objects that are changed.
  private func update(
    _ context: NSManagedObjectContext, _ properties: [String: Any], _ predicate: String = "TRUEPREDICATE",
    includingSubentities: Bool = true, objectsPerSave: Int = 0
  ) throws -> [NSManagedObjectID] {
    let request = NSBatchUpdateRequest(entityName: "Note")
    (request.propertiesToUpdate, request.predicate) = (properties, NSPredicate(format: predicate))
    (request.includesSubentities, request.objectsPerSave) = (includingSubentities, objectsPerSave)
    request.resultType = .updatedObjectIDsResultType
    return try #require((context.execute(request) as? NSBatchUpdateResult)?.result as? [NSManagedObjectID])
  }

  @Test("An update changes objects of subentities and objects that contexts have.", arguments: [[], ["text"]], [0, 3])
  func family(_ indexed: [String], _ objectsPerSave: Int) throws {
    try work(indexing: indexed) { (context) throws in
      try insert(context, 1...3)
      try insert(context, 4...6, of: "Memo")
      try insert(context, 7...8)
      let first = try notes(context)
      #expect(first.map { $0.value(forKey: "number") as? Int } == Array(1...8))
      let plus = ["number": NSExpression(format: "number + 10")]
      let changed = try update(context, plus, objectsPerSave: objectsPerSave)
      #expect(Set(changed) == Set(first.map(\.objectID)) && changed.count == 8)
      context.refreshAllObjects()
      #expect(first.map { $0.value(forKey: "number") as? Int } == Array(11...18))
      let own = try update(
        context, ["text": "1"], "number > 12", includingSubentities: false, objectsPerSave: objectsPerSave)
      #expect(Set(own) == Set([2, 6, 7].map { first[$0].objectID }) && own.count == 3)
      context.reset()
      #expect(try notes(context, "text == '1'").map { $0.value(forKey: "number") as? Int } == [11, 13, 14, 17, 18])
      #expect(try notes(context, "text == '0'").map { $0.value(forKey: "number") as? Int } == [16])
    }
  }

  @Test("An update that fails at one object changes none.")
  func failing() throws {
    try work { (context) throws in
      try insert(context, 1...5)
      _ = try update(context, ["text": NSNull()], "number != 4")
      let texts = try notes(context).map { $0.value(forKey: "text") as? String }
      #expect(throws: (any Error).self) {
        try update(context, ["isDone": true, "day": NSExpression(format: "text")])
      }
      context.reset()
      let found = try notes(context)
      #expect(found.map { $0.value(forKey: "text") as? String } == texts)
      #expect(found.allSatisfy { $0.value(forKey: "isDone") == nil })
    }
  }

  @Test("An update changes only what it is given, in rows of several sizes.", arguments: [[], ["text"]])
  func updated(_ indexed: [String]) throws {
    try work(indexing: indexed) { (context) throws in
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
