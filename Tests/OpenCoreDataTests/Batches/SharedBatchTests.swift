import OpenCoreData
import Synchronization
import Testing

@Suite("Batch requests beside others")
struct SharedBatchTests {
  @Test(
    "Batch requests of several threads and coordinators leave unique and whole objects.",
    arguments: BatchStore.Kind.allCases)
  func threads(_ kind: BatchStore.Kind) throws {
    let store = try BatchStore(kind)
    let box = try store.make("Box", ["shelf": try store.make("Shelf")])
    let other = kind == .memory ? store.coordinator : try BatchStore.coordinator(kind, store.url)
    let (coordinators, uri) = ([store.coordinator, other], box.objectID.uriRepresentation())
    let failures = Mutex<[String]>([])
    DispatchQueue.concurrentPerform(iterations: 6) { thread in
      do {
        try Self.work(on: coordinators[thread % 2], uri, thread)
      } catch {
        failures.withLock { $0.append("\(error)") }
      }
    }
    #expect(failures.withLock { $0 } == [])
    #expect(try store.values("uid") == (0..<20).map { "\($0)" })
    #expect(try store.values("rank").allSatisfy { Int($0)! >= 7 })
    #expect(try store.items(of: box) == Array(0..<20))
    if other !== store.coordinator {
      for store in other.persistentStores { try other.remove(store) }
    }
    try store.check()
  }

  private static func work(on coordinator: NSPersistentStoreCoordinator, _ box: URL, _ thread: Int) throws {
    let context = NSManagedObjectContext(.privateQueue)
    context.persistentStoreCoordinator = coordinator
    context.mergePolicy = NSMergePolicy.mergeByPropertyObjectTrump
    try context.performAndWait {
      let box = try #require(coordinator.managedObjectID(forURIRepresentation: box))
      for round in 0..<10 {
        if thread.isMultiple(of: 3) {
          let fetch = NSFetchRequest<NSManagedObject>(entityName: "Item")
          fetch.predicate = NSPredicate(format: "uid == %d", round)
          _ = try context.execute(NSBatchDeleteRequest(fetchRequest: fetch))
        }
        let items = (0..<20).map { ["uid": $0, "weight": Double(thread), "box": box] as [String: Any] }
        _ = try context.execute(NSBatchInsertRequest(entityName: "Item", objects: items))
        let update = NSBatchUpdateRequest(entityName: "Item")
        update.propertiesToUpdate = ["rank": NSExpression(format: "rank + 1")]
        _ = try context.execute(update)
      }
    }
  }

  @Test("A handler may use other contexts of the same coordinator.", arguments: BatchStore.Kind.allCases)
  func handler(_ kind: BatchStore.Kind) throws {
    let store = try BatchStore(kind)
    let shelf = try store.make("Shelf", ["name": "s"])
    let other = NSManagedObjectContext(.privateQueue)
    other.persistentStoreCoordinator = store.coordinator
    var next = 0
    let request = NSBatchInsertRequest(entityName: "Box") { (box: NSMutableDictionary) in
      next += 1
      box["name"] = other.performAndWait {
        (try? other.existingObject(with: shelf.objectID))?.value(forKey: "name") as? String
      }
      box["shelf"] = shelf
      return next > 2
    }
    try store.context.performAndWait { _ = try store.context.execute(request) }
    #expect(try store.values("name", of: "Box", by: "name") == ["s", "s"])
  }

  @Test("After its store is removed, a coordinator refuses batch requests.", arguments: BatchStore.Kind.allCases)
  func removed(_ kind: BatchStore.Kind) throws {
    let store = try BatchStore(kind)
    for each in store.coordinator.persistentStores { try store.coordinator.remove(each) }
    store.context.performAndWait {
      let request = NSBatchInsertRequest(entityName: "Item", objects: [["uid": 1, "weight": 1.0]])
      #expect(code { try store.context.execute(request) } == NSPersistentStoreOperationError)
    }
  }
}
