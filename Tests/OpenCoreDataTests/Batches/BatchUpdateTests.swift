import OpenCoreData
import Testing

@Suite("Batch updates")
struct BatchUpdateTests {
  private func store(_ kind: BatchStore.Kind) throws -> BatchStore {
    let store = try BatchStore(kind)
    _ = try store.insert(
      (1...4).map { ["uid": $0, "name": "item \($0)", "rank": $0, "weight": Double($0), "code": "c\($0)"] })
    return store
  }

  @Test(
    "Objects that satisfy the predicate get constants and values of expressions.", arguments: BatchStore.Kind.allCases)
  func values(_ kind: BatchStore.Kind) throws {
    let store = try store(kind)
    let rank = try #require(
      store.coordinator.managedObjectModel.entitiesByName["Item"]?.propertiesByName["rank"])
    let count = try store.update(
      "rank > 2",
      ["name": "Ü", rank: NSExpression(format: "rank * 10 + uid"), "since": NSExpression(forConstantValue: nil)])
    #expect(count == 2)
    #expect(try store.values("name") == ["item 1", "item 2", "Ü", "Ü"])
    #expect(try store.values("rank") == ["1", "2", "33", "44"])
    #expect(try store.values("search") == ["item 1", "item 2", "u", "u"])
    #expect(try store.update(nil, ["name": NSNull()]) == 4)
    #expect(try store.values("name") == ["nil", "nil", "nil", "nil"])
    try store.check()
  }

  @Test(
    "A context keeps its values until it is refreshed, and its saves conflict.", arguments: BatchStore.Kind.allCases)
  func versions(_ kind: BatchStore.Kind) throws {
    let store = try store(kind)
    try store.context.performAndWait {
      let request = NSFetchRequest<NSManagedObject>(entityName: "Item")
      request.predicate = NSPredicate(format: "uid == 1")
      let item = try #require(try store.context.fetch(request).first)
      #expect(item.value(forKey: "name") as? String == "item 1")
      #expect(try store.update("uid == 1", ["name": "new"]) == 1)
      #expect(item.value(forKey: "name") as? String == "item 1")
      item.setValue(9, forKey: "rank")
      store.context.mergePolicy = NSMergePolicy.error
      #expect(code { try store.context.save() } == NSManagedObjectMergeError)
      store.context.refresh(item, mergeChanges: false)
      #expect(item.value(forKey: "name") as? String == "new")
    }
  }

  @Test("Values that the store cannot keep are refused, and nothing is changed.", arguments: BatchStore.Kind.allCases)
  func refused(_ kind: BatchStore.Kind) throws {
    let store = try store(kind)
    func codeOf(_ properties: [AnyHashable: Any]) -> Int? { code { try store.update(nil, properties) } }
    #expect(codeOf(["colour": "red"]) == NSCoreDataError)
    #expect(codeOf(["search": "red"]) == NSCoreDataError)
    let rank = try #require(store.coordinator.managedObjectModel.entitiesByName["Item"]?.propertiesByName["rank"])
    #expect(codeOf(["rank": 1, rank: 2]) == NSCoreDataError)
    #expect(codeOf(["weight": NSNull()]) == NSValidationMissingMandatoryPropertyError)
    #expect(codeOf(["rank": 40_000]) == NSValidationNumberTooLargeError)
    #expect(codeOf(["rank": "high"]) == NSManagedObjectValidationError)
    #expect(codeOf(["rank": NSExpression(format: "rank * 10000")]) == NSManagedObjectValidationError)
    #expect(codeOf(["weight": NSExpression(forKeyPath: "since")]) == NSValidationMissingMandatoryPropertyError)
    #expect(codeOf(["code": "same"]) == NSManagedObjectConstraintMergeError)
    #expect(codeOf(["name": NSExpression(forKeyPath: "nothing")]) != nil)
    #expect(try store.values("code") == ["c1", "c2", "c3", "c4"])
    #expect(try store.values("rank") == ["1", "2", "3", "4"])
    try store.check()
  }

  @Test("Unique values may move from object to object.", arguments: BatchStore.Kind.allCases)
  func shifted(_ kind: BatchStore.Kind) throws {
    let store = try store(kind)
    #expect(try store.update(nil, ["uid": NSExpression(format: "uid + 1")]) == 4)
    #expect(try store.values("uid") == ["2", "3", "4", "5"])
    #expect(code { try store.insert([["uid": 5, "weight": 1.0]]) } == NSManagedObjectConstraintMergeError)
    #expect(try store.insert([["uid": 1, "weight": 1.0]]).count == 1)
    try store.check()
  }

  @Test("A to-one relationship changes at both ends.", arguments: BatchStore.Kind.allCases)
  func relationship(_ kind: BatchStore.Kind) throws {
    let store = try store(kind)
    let shelf = try store.make("Shelf")
    let (a, b) = (try store.make("Box", ["shelf": shelf]), try store.make("Box", ["shelf": shelf]))
    #expect(try store.update("uid < 4", ["box": a]) == 3)
    #expect(try store.update("box == nil OR uid == 2", ["box": b.objectID]) == 2)
    #expect(try store.items(of: a) == [1, 3])
    #expect(try store.items(of: b) == [2, 4])
    #expect(try store.update("uid == 1", ["box": NSNull()]) == 1)
    #expect(try store.items(of: a) == [3])
    let crate = try store.make("Crate")
    #expect(code { try store.update(nil, ["crate": crate]) } == NSCoreDataError)
    try store.check()
  }

  @Test(
    "Some objects at a time: each save changes objects that still satisfy the predicate.",
    arguments: BatchStore.Kind.allCases)
  func parts(_ kind: BatchStore.Kind) throws {
    let store = try store(kind)
    #expect(try store.update("rank < 4", ["rank": NSExpression(format: "rank + 10")], objectsPerSave: 2) == 3)
    #expect(try store.values("rank") == ["11", "12", "13", "4"])
    do {
      _ = try store.update(nil, ["rank": NSExpression(format: "8000 * uid + rank")], objectsPerSave: 1)
      _ = try store.update(nil, ["rank": NSExpression(format: "4000 * uid + rank")], objectsPerSave: 1)
      Issue.record("The request succeeded.")
    } catch {
      #expect((error as NSError).userInfo[NSPersistentStoreRequest.savedCountErrorKey] as? Int == 2)
    }
    #expect(try store.values("rank") == ["12011", "24012", "24013", "32004"])
    try store.check()
  }
}
