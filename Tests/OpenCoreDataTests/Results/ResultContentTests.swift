import OpenCoreData
import Testing

@Suite("The content of a results controller")
struct ResultContentTests {
  @Test("There is none before the first fetch.")
  func beforeTheFetch() throws {
    try Shelf().work { context in
      let controller = NSFetchedResultsController(
        fetchRequest: Shelf.request(by: "name"), managedObjectContext: context, sectionNameKeyPath: nil,
        cacheName: nil)
      #expect(controller.fetchedObjects == nil)
      #expect(controller.sections == nil)
      #expect(controller.sectionIndexTitles == [])
      #expect(controller.managedObjectContext === context)
      #expect(controller.sectionNameKeyPath == nil)
    }
  }

  @Test("Objects and index paths lead to each other; an object that is no result has none.")
  func places() throws {
    try Shelf().work { context in
      let things = ["a", "b", "c"].map { context.put($0, ["kind": $0 == "a" ? "x" : "y"]) }
      let controller = try NSFetchedResultsController(
        Shelf.request("name != 'c'", by: "kind", "name"), context, sections: "kind")
      #expect(controller.indexPath(forObject: things[1]) == IndexPath(row: 0, section: 1))
      #expect(controller.object(at: [0, 0]) === things[0])
      #expect(controller.indexPath(forObject: things[2]) == nil)
    }
  }

  @Test("Changes of the request take effect at the next fetch.")
  func changedRequest() throws {
    try Shelf().work { context in
      for name in ["a", "b"] { context.put(name) }
      let list = ListOnScreen()
      let controller = try NSFetchedResultsController(Shelf.request(by: "name"), context, on: list)
      controller.fetchRequest.predicate = NSPredicate(format: "name > 'a'")
      context.put("A")
      context.processPendingChanges()
      #expect(controller.shown == "A a b")
      try controller.performFetch()
      #expect(controller.shown == "b")
      context.put("c")
      context.processPendingChanges()
      #expect(controller.shown == "b c")
    }
  }

  @Test("Identifiers and dictionaries are divided into sections, and stay as they were fetched.")
  func otherResults() throws {
    try Shelf().work { context in
      let a = context.put("a", ["kind": "x"])
      context.put("b", ["kind": "y"])
      try context.save()
      let ids = NSFetchRequest<NSManagedObjectID>(entityName: "Thing")
      ids.resultType = .managedObjectIDResultType
      ids.sortDescriptors = [NSSortDescriptor(key: "kind", ascending: true)]
      let identifiers = NSFetchedResultsController(
        fetchRequest: ids, managedObjectContext: context, sectionNameKeyPath: "kind", cacheName: nil)
      let rows = NSFetchRequest<NSDictionary>(entityName: "Thing")
      (rows.resultType, rows.propertiesToFetch) = (.dictionaryResultType, ["name", "kind"])
      rows.sortDescriptors = ids.sortDescriptors
      let dictionaries = NSFetchedResultsController(
        fetchRequest: rows, managedObjectContext: context, sectionNameKeyPath: "kind", cacheName: nil)
      let list = ListOnScreen()
      (identifiers.delegate, dictionaries.delegate) = (list, list)
      try identifiers.performFetch()
      try dictionaries.performFetch()
      #expect(identifiers.sections?.map(\.name) == ["x", "y"])
      #expect(identifiers.indexPath(forObject: a.objectID) == [0, 0])
      #expect(dictionaries.sections?.map(\.name) == ["x", "y"])
      #expect(dictionaries.object(at: [1, 0])["name"] as? String == "b")
      context.put("c", ["kind": "z"])
      try context.save()
      #expect(identifiers.fetchedObjects?.count == 2)
      #expect(dictionaries.fetchedObjects?.count == 2)
      #expect(list.takeCalls() == [])
    }
  }

  @Test("A request that was changed under the name of a cache is refused until the cache is deleted.")
  func cache() throws {
    try Shelf().work { context in
      let controller = NSFetchedResultsController(
        fetchRequest: Shelf.request(by: "name"), managedObjectContext: context, sectionNameKeyPath: nil,
        cacheName: "things")
      try controller.performFetch()
      try controller.performFetch()
      controller.fetchRequest.predicate = NSPredicate(format: "rank > 3")
      #expect(throws: NSError.self) { try controller.performFetch() }
      NSFetchedResultsController<NSManagedObject>.deleteCache(withName: "others")
      #expect(throws: NSError.self) { try controller.performFetch() }
      NSFetchedResultsController<NSManagedObject>.deleteCache(withName: "things")
      try controller.performFetch()
      controller.fetchRequest.predicate = nil
      NSFetchedResultsController<NSManagedObject>.deleteCache(withName: nil)
      try controller.performFetch()
      #expect(controller.cacheName == "things")
    }
  }

  @Test("Index paths have a section, a row and an item.")
  func indexPaths() {
    var path = IndexPath(row: 3, section: 1)
    #expect(path == IndexPath(item: 3, section: 1))
    #expect(path == [1, 3])
    #expect(path.section == 1)
    #expect(path.row == 3)
    #expect(path.item == 3)
    path.row = 4
    path.section = 2
    #expect(path == [2, 4])
    path.item = 5
    #expect(path == [2, 5])
  }

  @Test(
    "A stream begins with the present results, gives the newest ones after each event, and ends with the controller.")
  func stream() async throws {
    let shelf = try Shelf()
    let context = shelf.makeContext()
    let snapshots = try await context.perform {
      let controller = try NSFetchedResultsController(Shelf.request(by: "name"), context)
      let snapshots = controller.snapshots
      for name in ["a", "b", "c"] {
        context.put(name)
        context.processPendingChanges()
      }
      return snapshots
    }
    var counts: [Int] = []
    for await snapshot in snapshots { counts.append(snapshot.numberOfItems) }
    #expect(counts == [3])
  }

  @Test("An event compares each of its objects with as many others as the logarithm of the number of results.")
  func cost() throws {
    final class Count: @unchecked Sendable { var comparisons = 0 }
    /// Comparisons of an event in which 50 of so many results get other places.
    func comparisons(among size: Int) throws -> Int {
      try Shelf().work { context in
        let things = (0..<size).map { context.put("a", ["rank": $0 * 2]) }
        try context.save()
        let count = Count()
        let request = Shelf.request()
        request.sortDescriptors = [
          NSSortDescriptor(key: "rank", ascending: true) { left, right in
            count.comparisons += 1
            return ((left as? Int ?? 0) as NSNumber).compare((right as? Int ?? 0) as NSNumber)
          }
        ]
        let list = ListOnScreen()
        let controller = try NSFetchedResultsController(request, context, on: list)
        count.comparisons = 0
        for place in 0..<50 { things[place * size / 50]["rank"] = (50 - place) * size / 25 + 1 }
        context.processPendingChanges()
        #expect(controller.object(at: [0, size / 50]) != things[size / 50])
        return count.comparisons
      }
    }
    let (few, many) = try (comparisons(among: 500), comparisons(among: 8000))
    #expect(few < 50 * 16)
    #expect(many < 50 * 20)
  }
}
