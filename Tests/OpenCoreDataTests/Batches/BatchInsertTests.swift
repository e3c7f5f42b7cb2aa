import OpenCoreData
import Testing

@Suite("Batch insertions")
struct BatchInsertTests {
  @Test(
    "Dictionaries become objects; properties without a value have their defaults.", arguments: BatchStore.Kind.allCases)
  func dictionaries(_ kind: BatchStore.Kind) throws {
    let store = try BatchStore(kind)
    let ids = try store.insert([
      ["uid": 1, "name": "Ä", "weight": 1.5],
      ["uid": 2, "rank": 3, "weight": 2, "since": Date(timeIntervalSince1970: 0)],
      ["uid": 3, "rank": NSNull(), "weight": 0.0],
    ])
    #expect(ids.count == 3 && ids.allSatisfy { !$0.isTemporaryID })
    #expect(try store.values("name") == ["Ä", "nil", "nil"])
    #expect(try store.values("rank") == ["7", "3", "nil"])
    #expect(try store.values("weight") == ["1.5", "2.0", "0.0"] || store.values("weight") == ["1.5", "2", "0"])
    #expect(try store.values("search") == ["a", "nil", "nil"])
    store.context.performAndWait {
      #expect(store.context.registeredObjects.isEmpty && !store.context.hasChanges)
      #expect(ids.map { store.context.object(with: $0).value(forKey: "uid") as? Int } == [1, 2, 3])
    }
    try store.check()
  }

  @Test("A handler fills in objects until it returns true.", arguments: BatchStore.Kind.allCases, [false, true])
  func handlers(_ kind: BatchStore.Kind, _ takesObjects: Bool) throws {
    let store = try BatchStore(kind)
    var next = 0
    let request =
      takesObjects
      ? NSBatchInsertRequest(
        entityName: "Item",
        managedObjectHandler: { object in
          next += 1
          object.setValue(next, forKey: "uid")
          object.setValue(0.5, forKey: "weight")
          return next == 4
        })
      : NSBatchInsertRequest(
        entityName: "Item",
        dictionaryHandler: { object in
          next += 1
          object["uid"] = next
          object["weight"] = 0.5
          return next == 4
        })
    request.resultType = .count
    try store.context.performAndWait {
      let result = try #require(try store.context.execute(request) as? NSBatchInsertResult)
      #expect(result.resultType == .count && result.result as? Int == 3)
    }
    #expect(try store.values("uid") == ["1", "2", "3"])
    #expect(try store.values("rank") == ["7", "7", "7"])
  }

  @Test("Values that the store cannot keep are refused, and nothing is inserted.", arguments: BatchStore.Kind.allCases)
  func refused(_ kind: BatchStore.Kind) throws {
    let store = try BatchStore(kind)
    func codeOf(_ values: [String: Any]) -> Int? {
      code { try store.insert([["uid": 1, "weight": 1.0], values.merging(["uid": 2]) { own, _ in own }]) }
    }
    #expect(codeOf(["weight": 1.0, "colour": "red"]) == NSCoreDataError)
    #expect(codeOf(["weight": 1.0, "hint": "red"]) == NSCoreDataError)
    #expect(codeOf(["weight": 1.0, "search": "red"]) == NSCoreDataError)
    #expect(codeOf(["weight": 1.0, "twin": NSNull()]) == NSCoreDataError)
    #expect(codeOf([:]) == NSValidationMissingMandatoryPropertyError)
    #expect(codeOf(["weight": NSNull()]) == NSValidationMissingMandatoryPropertyError)
    #expect(codeOf(["weight": "heavy"]) == NSManagedObjectValidationError)
    #expect(codeOf(["weight": 1.0, "rank": 40_000]) == NSValidationNumberTooLargeError)
    #expect(codeOf(["weight": 1.0, "rank": -40_000]) == NSValidationNumberTooSmallError)
    #expect(codeOf(["weight": 1.0, "box": 5]) == NSManagedObjectValidationError)
    store.context.performAndWait {
      for request in [
        NSBatchInsertRequest(), NSBatchInsertRequest(entityName: "Nothing", objects: []),
      ] {
        #expect(code { try store.context.execute(request) } == NSCoreDataError)
      }
    }
    #expect(try store.values("uid") == [])
  }

  @Test("The objects of a handler are checked, too, and have no relationships.", arguments: BatchStore.Kind.allCases)
  func refusedObjects(_ kind: BatchStore.Kind) throws {
    let store = try BatchStore(kind)
    func codeOf(_ fill: @escaping (NSManagedObject) -> Void) -> Int? {
      var isFilled = false
      let request = NSBatchInsertRequest(entityName: "Item") { (object: NSManagedObject) in
        object.setValue(1.0, forKey: "weight")
        fill(object)
        defer { isFilled = true }
        return isFilled
      }
      return store.context.performAndWait { code { try store.context.execute(request) } }
    }
    let item = try #require(store.coordinator.managedObjectModel.entitiesByName["Item"])
    let (twin, box) = (
      NSManagedObject(entity: item, insertInto: nil),
      NSManagedObject(
        entity: try #require(store.coordinator.managedObjectModel.entitiesByName["Box"]), insertInto: nil)
    )
    #expect(codeOf { $0.setValue(40_000, forKey: "rank") } == NSValidationNumberTooLargeError)
    #expect(codeOf { $0.setValue(nil, forKey: "weight") } == NSValidationMissingMandatoryPropertyError)
    #expect(codeOf { $0.setPrimitiveValue(twin, forKey: "twin") } == NSCoreDataError)
    #expect(codeOf { $0.setPrimitiveValue(box, forKey: "box") } == NSCoreDataError)
    #expect(try store.values("weight") == [])
    #expect(codeOf { $0.setValue("red", forKey: "hint") } == nil)
    #expect(try store.values("weight").count == 1)
  }

  @Test("The dictionary of a handler is one like any other.")
  func dictionary() throws {
    let store = try BatchStore(.memory)
    var isFilled = false
    let request = NSBatchInsertRequest(entityName: "Item") { (item: NSMutableDictionary) in
      #expect(item.count == 0 && item.allKeys.isEmpty)
      item.addEntries(from: ["uid": 1, "name": "one", "rank": 2])
      item["name"] = "two"
      item["rank"] = nil
      item.setObject(0.5, forKey: NSString(string: "weight"))
      #expect(item.count == 3 && item["name"] as? String == "two" && item["rank"] == nil)
      #expect(Set(item.allKeys.compactMap { $0 as? String }) == ["uid", "name", "weight"])
      defer { isFilled = true }
      return isFilled
    }
    _ = try store.context.performAndWait { try store.context.execute(request) }
    #expect(try store.values("name") == ["two"])
    #expect(try store.values("rank") == ["7"])
    #expect(try store.values("weight") == ["0.5"])
  }

  @Test(
    "A to-one relationship is stored at both ends, and the other end's version rises.",
    arguments: BatchStore.Kind.allCases)
  func relationship(_ kind: BatchStore.Kind) throws {
    let store = try BatchStore(kind)
    let shelf = try store.make("Shelf")
    let box = try store.make("Box", ["name": "a", "shelf": shelf])
    _ = try store.insert([
      ["uid": 1, "weight": 1.0, "box": box.objectID], ["uid": 2, "weight": 1.0], ["uid": 3, "weight": 1.0, "box": box],
    ])
    #expect(try store.items(of: box) == [1, 3])
    try store.context.performAndWait {
      box.setValue("b", forKey: "name")
      #expect(code { try store.context.save() } == NSManagedObjectMergeError)
      store.context.rollback()
      store.context.delete(box)
      store.context.mergePolicy = NSMergePolicy.overwrite
      try store.context.save()
    }
    #expect(try store.values("box") == ["nil", "nil", "nil"])
    #expect(
      code { try store.insert([["uid": 4, "weight": 1.0, "box": box.objectID]]) }
        == NSManagedObjectReferentialIntegrityError)
    #expect(try store.values("uid") == ["1", "2", "3"])
    try store.check()
  }

  @Test("An object that others are derived from is refused.", arguments: BatchStore.Kind.allCases)
  func derived(_ kind: BatchStore.Kind) throws {
    let store = try BatchStore(kind)
    let crate = try store.make("Crate")
    #expect(code { try store.insert([["uid": 1, "weight": 1.0, "crate": crate.objectID]]) } == NSCoreDataError)
    #expect(try store.values("uid") == [])
  }

  @Test(
    "An object with unique values of another one is refused, with all objects of the request.",
    arguments: BatchStore.Kind.allCases)
  func unique(_ kind: BatchStore.Kind) throws {
    let store = try BatchStore(kind)
    _ = try store.insert([["uid": 1, "weight": 1.0]])
    #expect(
      code { try store.insert([["uid": 2, "weight": 1.0], ["uid": 1, "weight": 2.0]]) }
        == NSManagedObjectConstraintMergeError)
    #expect(
      code { try store.insert([["uid": 2, "weight": 1.0], ["uid": 2, "weight": 2.0]]) }
        == NSManagedObjectConstraintMergeError)
    #expect(try store.values("uid") == ["1"])
    try store.check()
  }

  @Test(
    "The merge policy decides what happens to the object that has the unique values.",
    arguments: BatchStore.Kind.allCases,
    [
      NSMergePolicy.mergeByPropertyObjectTrump, .overwrite, .mergeByPropertyStoreTrump, .rollback,
    ])
  func upsert(_ kind: BatchStore.Kind, _ policy: NSMergePolicy) throws {
    let store = try BatchStore(kind)
    _ = try store.insert([
      ["uid": 1, "weight": 1.0, "name": "old", "rank": 1], ["uid": 2, "code": "b", "weight": 1.0],
    ])
    let ids = try store.insert(
      [
        ["uid": 1, "weight": 5.0, "name": "New"], ["uid": 3, "weight": 3.0], ["uid": 3, "weight": 4.0],
        // Takes the code of 2 away, which the next object may then have.
        ["uid": 2, "code": "c", "weight": 6.0], ["uid": 4, "code": "b", "weight": 7.0],
      ], policy)
    #expect(
      try store.values("uid") == ["1", "2", "3", "4"] || policy.mergeType == .mergeByPropertyStoreTrumpMergePolicyType
        || policy.mergeType == .rollbackMergePolicyType)
    switch policy.mergeType {
    case .mergeByPropertyObjectTrumpMergePolicyType:
      #expect(try store.values("name") == ["New", "nil", "nil", "nil"])
      #expect(try store.values("search") == ["new", "nil", "nil", "nil"])
      #expect(try store.values("rank") == ["1", "7", "7", "7"])
      #expect(try store.values("code") == ["nil", "c", "nil", "b"])
      #expect(ids.count == 4)
    case .overwriteMergePolicyType:
      #expect(try store.values("name") == ["New", "nil", "nil", "nil"])
      #expect(try store.values("rank") == ["7", "7", "7", "7"])
      #expect(ids.count == 4)
    default:
      #expect(try store.values("uid") == ["1", "2", "3"])
      #expect(try store.values("name") == ["old", "nil", "nil"])
      #expect(ids.count == 1)
    }
    try store.check()
  }

  @Test("Some objects at a time: the error says how many are in.", arguments: BatchStore.Kind.allCases)
  func parts(_ kind: BatchStore.Kind) throws {
    let store = try BatchStore(kind)
    #expect(try store.insert((1...5).map { ["uid": $0, "weight": 1.0] }, objectsPerSave: 2).count == 5)
    do {
      _ = try store.insert((6...10).map { ["uid": $0 == 10 ? 1 : $0, "weight": 1.0] }, objectsPerSave: 2)
      Issue.record("The request succeeded.")
    } catch {
      #expect((error as NSError).code == NSManagedObjectConstraintMergeError)
      #expect((error as NSError).userInfo[NSPersistentStoreRequest.savedCountErrorKey] as? Int == 4)
    }
    #expect(try store.values("uid") == (1...9).map { "\($0)" })
    try store.check()
  }

  @Test("A context learns of inserted and changed objects by a merge.", arguments: BatchStore.Kind.allCases)
  func merged(_ kind: BatchStore.Kind) throws {
    let store = try BatchStore(kind)
    let item = try store.make("Item", ["uid": 1, "weight": 1.0])
    let ids = try store.insert(
      [["uid": 1, "weight": 2.0], ["uid": 2, "weight": 2.0]], NSMergePolicy.mergeByPropertyObjectTrump)
    store.context.performAndWait {
      #expect(item.value(forKey: "weight") as? Double == 1)
      NSManagedObjectContext.mergeChanges(
        fromRemoteContextSave: [NSInsertedObjectIDsKey: ids], into: [store.context])
      #expect(item.value(forKey: "weight") as? Double == 2)
      #expect(store.context.registeredObjects.count == 2)
    }
  }

  @Test("A read-only store refuses batch requests.")
  func readOnly() throws {
    let store = try BatchStore(.cairn)
    _ = try store.insert([["uid": 1, "weight": 1.0]])
    let reader = NSManagedObjectContext(.privateQueue)
    reader.persistentStoreCoordinator = try BatchStore.coordinator(.cairn, store.url, isReadOnly: true)
    reader.performAndWait {
      for request: NSPersistentStoreRequest in [
        NSBatchInsertRequest(entityName: "Item", objects: [["uid": 2, "weight": 1.0]]),
        NSBatchUpdateRequest(entityName: "Item"),
        NSBatchDeleteRequest(fetchRequest: NSFetchRequest<NSManagedObject>(entityName: "Item")),
      ] {
        #expect(code { try reader.execute(request) } == NSPersistentStoreSaveError)
      }
    }
    #expect(try store.values("uid") == ["1"])
  }
}
