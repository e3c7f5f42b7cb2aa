import OpenCoreData
import Testing

@Suite("Delegates of results controllers")
struct ResultDelegateTests {
  /// What a delegate that knows its controllers finds out about the one that it is told of.
  final class Comparing: NSObject, NSFetchedResultsControllerDelegate {
    let notes: NSFetchedResultsController<NSManagedObject>
    let other: NSFetchedResultsController<NSManagedObject>
    var optional: NSFetchedResultsController<NSManagedObject>?
    var implicit: NSFetchedResultsController<NSManagedObject>!
    var untyped: NSFetchedResultsController<any NSFetchRequestResult>?
    var found: [Bool] = []

    init(
      _ notes: NSFetchedResultsController<NSManagedObject>, _ other: NSFetchedResultsController<NSManagedObject>
    ) { (self.notes, self.other, optional, implicit) = (notes, other, notes, notes) }

    func controllerDidChangeContent(_ controller: NSFetchedResultsController<any NSFetchRequestResult>) {
      let isCase =
        switch controller {
        case other: false
        case notes: true
        default: false
        }
      untyped = controller
      found = [
        controller === notes, notes === controller, controller === optional, optional === controller,
        controller === implicit, controller === untyped, controller == notes, controller == optional,
        controller.isEqual(notes), notes.isEqual(controller), controller.hash == notes.hash, isCase,
        controller !== other, controller != other, !(controller === other), !controller.isEqual(other),
        controller.object(at: IndexPath(row: 0, section: 0)) is NSManagedObject,
        controller.fetchedObjects as? [NSManagedObject] == notes.fetchedObjects,
        controller.managedObjectContext === notes.managedObjectContext, controller.delegate === self,
        (controller as Any) as? NSFetchedResultsController<NSManagedObject> == nil,
      ]
    }
  }

  @Test("A delegate tells by ===, == and switch which of its controllers has changed, also if they are optional.")
  func identity() throws {
    try Shelf().work { context in
      let controllers = try (0..<2).map { _ in
        try NSFetchedResultsController(Shelf.request(by: "name"), context)
      }
      let delegate = Comparing(controllers[0], controllers[1])
      controllers[0].delegate = delegate
      context.put("a")
      context.processPendingChanges()
      #expect(delegate.found == Array(repeating: true, count: 21))
    }
  }

  @Test("A delegate that implements none of the methods is told of nothing, and the results are tracked.")
  func noMethods() throws {
    final class Silent: NSObject, NSFetchedResultsControllerDelegate {}
    try Shelf().work { context in
      let controller = try NSFetchedResultsController(Shelf.request(by: "name"), context)
      let delegate = Silent()
      controller.delegate = delegate
      context.put("a")
      context.processPendingChanges()
      #expect(controller.shown == "a")
    }
  }

  @Test("Without a delegate the results stay as they were fetched; the first event with one brings them up to date.")
  func noDelegate() throws {
    try Shelf().work { context in
      context.put("a")
      let controller = try NSFetchedResultsController(Shelf.request(by: "name"), context)
      context.put("b")
      context.processPendingChanges()
      #expect(controller.shown == "a")
      let list = ListOnScreen()
      list.load(controller)
      controller.delegate = list
      context.put("box", entity: "Box")
      context.processPendingChanges()
      #expect(list.takeCalls() == ["will", "+0.1", "did"])
      #expect(controller.shown == "a b")
    }
  }

  @Test("The controller does not retain its delegate.")
  func weakness() throws {
    try Shelf().work { context in
      let controller = try NSFetchedResultsController(Shelf.request(by: "name"), context)
      var list: ListOnScreen? = ListOnScreen()
      weak let gone = list
      controller.delegate = list
      list?.load(controller)
      context.put("a")
      context.processPendingChanges()
      list = nil
      #expect(gone == nil)
      #expect(controller.delegate == nil)
    }
  }

  @Test("A delegate with the snapshot method gets nothing else: the first snapshot when the controller fetches.")
  func snapshots() throws {
    try Shelf().work { context in
      context.put("a", ["kind": "x"])
      try context.save()
      let delegate = SnapshotOnScreen()
      let controller = NSFetchedResultsController(
        fetchRequest: Shelf.request(by: "kind", "name"), managedObjectContext: context, sectionNameKeyPath: "kind",
        cacheName: nil)
      controller.delegate = delegate
      try controller.performFetch()
      #expect(delegate.snapshots.map(\.numberOfItems) == [1])
      let new = context.put("b", ["kind": "y"])
      context.processPendingChanges()
      let snapshot = try #require(delegate.snapshots.last)
      #expect(snapshot.sectionIdentifiers == ["x", "y"])
      #expect(snapshot.numberOfSections == 2)
      #expect(snapshot.itemIdentifiersInSection(withIdentifier: "y") == [new.objectID])
      #expect(snapshot.numberOfItems(inSection: "x") == 1)
      #expect(snapshot.sectionIdentifier(forSectionContainingItemIdentifier: new.objectID) == "y")
      #expect(snapshot.index(ofItemIdentifier: new.objectID) == 1)
      #expect(snapshot.index(ofSectionIdentifier: "y") == 1)
      #expect(snapshot.index(ofSectionIdentifier: "z") == NSNotFound)
      #expect(snapshot.reloadedItemIdentifiers == [])
      try context.save()
      #expect(delegate.snapshots.last?.itemIdentifiers.last == new.objectID)
      new["name"] = "c"
      context.processPendingChanges()
      #expect(delegate.snapshots.last?.reloadedItemIdentifiers == [new.objectID])
      #expect(delegate.snapshots.count == 4)
      #expect(delegate.others == 0)
    }
  }

  @Test("A delegate with the snapshot method that is set after the fetch gets the present content before a change.")
  func lateSnapshots() throws {
    try Shelf().work { context in
      let controller = try NSFetchedResultsController(Shelf.request(by: "name"), context)
      let delegate = SnapshotOnScreen()
      controller.delegate = delegate
      context.put("a")
      context.processPendingChanges()
      #expect(delegate.snapshots.map(\.numberOfItems) == [0, 1])
      #expect(delegate.others == 0)
    }
  }

  @Test("A delegate with the difference method gets nothing else; what has moved or was updated is associated.")
  func differences() throws {
    final class Differences: NSObject, NSFetchedResultsControllerDelegate {
      var found: [CollectionDifference<NSManagedObjectID>] = []
      func controller(
        _ controller: NSFetchedResultsController<any NSFetchRequestResult>,
        didChangeContentWith diff: CollectionDifference<NSManagedObjectID>
      ) { found.append(diff) }
      func controllerDidChangeContent(_ controller: NSFetchedResultsController<any NSFetchRequestResult>) {
        Issue.record("called")
      }
    }
    try Shelf().work { context in
      let things = ["a", "b", "c"].map { context.put($0) }
      try context.save()
      let controller = NSFetchedResultsController(
        fetchRequest: Shelf.request(by: "name"), managedObjectContext: context, sectionNameKeyPath: nil,
        cacheName: nil)
      let delegate = Differences()
      controller.delegate = delegate
      try controller.performFetch()
      #expect(delegate.found.map(\.insertions.count) == [3])
      things[0]["name"] = "z"
      things[1]["rank"] = 7
      context.processPendingChanges()
      let (a, b) = (things[0].objectID, things[1].objectID)
      let expected = CollectionDifference<NSManagedObjectID>([
        .remove(offset: 0, element: a, associatedWith: 2), .insert(offset: 2, element: a, associatedWith: 0),
        .remove(offset: 1, element: b, associatedWith: 0), .insert(offset: 0, element: b, associatedWith: 1),
      ])
      #expect(delegate.found.last == expected)
    }
  }

  @Test("With a section key path, a delegate with the difference method is told by the other methods.")
  func differencesInSections() throws {
    final class Both: NSObject, NSFetchedResultsControllerDelegate {
      var calls = 0
      func controller(
        _ controller: NSFetchedResultsController<any NSFetchRequestResult>,
        didChangeContentWith diff: CollectionDifference<NSManagedObjectID>
      ) { Issue.record("called") }
      func controllerDidChangeContent(_ controller: NSFetchedResultsController<any NSFetchRequestResult>) { calls += 1 }
    }
    try Shelf().work { context in
      let controller = try NSFetchedResultsController(Shelf.request(by: "kind"), context, sections: "kind")
      let delegate = Both()
      controller.delegate = delegate
      context.put("a")
      context.processPendingChanges()
      #expect(delegate.calls == 1)
    }
  }
}
