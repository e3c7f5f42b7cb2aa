import OpenCoreData
import Testing

@Suite("Batch deletions")
struct BatchDeleteTests {
  private func store(_ kind: BatchStore.Kind) throws -> BatchStore {
    let store = try BatchStore(kind)
    _ = try store.insert((1...6).map { ["uid": $0, "weight": Double($0)] })
    return store
  }

  @Test("A fetch request finds the objects, with its order and limit.", arguments: BatchStore.Kind.allCases)
  func fetched(_ kind: BatchStore.Kind) throws {
    let store = try store(kind)
    let fetch = NSFetchRequest<NSManagedObject>(entityName: "Item")
    fetch.sortDescriptors = [NSSortDescriptor(key: "weight", ascending: false)]
    fetch.fetchLimit = 2
    let request = NSBatchDeleteRequest(fetchRequest: fetch)
    request.resultType = .resultTypeObjectIDs
    try store.context.performAndWait {
      let result = try #require(try store.context.execute(request) as? NSBatchDeleteResult)
      #expect(result.resultType == .resultTypeObjectIDs && (result.result as? [NSManagedObjectID])?.count == 2)
      #expect(request.fetchRequest.fetchLimit == 2)
    }
    #expect(try store.values("uid") == ["1", "2", "3", "4"])
    #expect(try store.delete("Item", "uid IN {1, 3, 9}") == 2)
    #expect(try store.insert([["uid": 1, "weight": 1.0]]).count == 1)
    #expect(try store.delete("Item", nil) == 3)
    #expect(try store.values("uid") == [])
    try store.check()
  }

  @Test(
    "Identifiers of one entity name the objects; those of several are refused.", arguments: BatchStore.Kind.allCases)
  func identifiers(_ kind: BatchStore.Kind) throws {
    let store = try store(kind)
    let shelf = try store.make("Shelf")
    let item = try store.make("Item", ["uid": 7, "weight": 1.0])
    store.context.performAndWait {
      func delete(_ ids: [NSManagedObjectID]) throws -> Int? {
        let request = NSBatchDeleteRequest(objectIDs: ids)
        request.resultType = .resultTypeCount
        return (try store.context.execute(request) as? NSBatchDeleteResult)?.result as? Int
      }
      #expect(code { try delete([shelf.objectID, item.objectID]) } == NSCoreDataError)
      #expect((try? delete([])) == 0)
      #expect((try? delete([item.objectID])) == 1)
      #expect((try? delete([item.objectID])) == 0)
      #expect((try? delete([shelf.objectID])) == 1)
    }
    #expect(try store.values("uid") == (1...6).map { "\($0)" })
  }

  @Test("A relationship that needs its object makes the request fail.", arguments: BatchStore.Kind.allCases)
  func needed(_ kind: BatchStore.Kind) throws {
    let store = try store(kind)
    let shelf = try store.make("Shelf", ["name": "s"])
    let box = try store.make("Box", ["shelf": shelf])
    #expect(try store.update(nil, ["box": box]) == 6)
    #expect(code { try store.delete("Shelf", nil) } == NSValidationMissingMandatoryPropertyError)
    #expect(try store.values("name", of: "Shelf", by: "name") == ["s"])
    #expect(try store.delete("Box", nil) == 1)
    #expect(try store.values("box") == Array(repeating: "nil", count: 6))
    #expect(try store.delete("Shelf", nil) == 1)
    try store.check()
  }

  @Test("Objects that others are derived from are deleted by contexts only.", arguments: BatchStore.Kind.allCases)
  func derived(_ kind: BatchStore.Kind) throws {
    let store = try BatchStore(kind)
    let crate = try store.make("Crate")
    _ = try store.make("Item", ["uid": 1, "weight": 1.0, "crate": crate])
    _ = try store.make("Item", ["uid": 2, "weight": 1.0])
    #expect(try store.values("count", of: "Crate", by: "count") == ["1"])
    #expect(code { try store.delete("Item", nil) } == NSCoreDataError)
    #expect(try store.delete("Item", "crate == nil") == 1)
    #expect(try store.values("uid") == ["1"])
  }

  @Test("A context learns of deleted objects by a merge.", arguments: BatchStore.Kind.allCases)
  func merged(_ kind: BatchStore.Kind) throws {
    let store = try store(kind)
    let item = try store.make("Item", ["uid": 7, "weight": 1.0])
    #expect(try store.delete("Item", "uid > 5") == 2)
    store.context.performAndWait {
      #expect(!item.isDeleted)
      NSManagedObjectContext.mergeChanges(
        fromRemoteContextSave: [NSDeletedObjectIDsKey: [item.objectID]], into: [store.context])
      #expect(item.isDeleted)
    }
  }

  @Test("Some objects at a time.", arguments: BatchStore.Kind.allCases)
  func parts(_ kind: BatchStore.Kind) throws {
    let store = try store(kind)
    #expect(try store.delete("Item", "uid != 4", objectsPerSave: 2) == 5)
    #expect(try store.values("uid") == ["4"])
    try store.check()
  }
}
