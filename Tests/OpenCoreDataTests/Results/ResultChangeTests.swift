import OpenCoreData
import Testing

/// Changes that a delegate is told of. A call is `+0.1` for an insertion, `-0.1` for a deletion, `=0.1` for an update,
/// `0.1>1.0` for a move, and `+1:name` or `-1:name` for a section.
@Suite("Changes of results")
struct ResultChangeTests {
  /// Runs a closure with a controller of the things a0 … a4 with the ranks 0, 10 … 40, of which the kinds are x x x y y.
  private func watched(
    _ format: String? = nil, by keys: [String] = ["rank"], sections path: String? = nil,
    _ body: (NSManagedObjectContext, ListOnScreen, (String) -> NSManagedObject) throws -> Void
  ) throws {
    try Shelf().work { context in
      var things: [String: NSManagedObject] = [:]
      for number in 0..<5 {
        things["a\(number)"] = context.put("a\(number)", ["rank": number * 10, "kind": number < 3 ? "x" : "y"])
      }
      try context.save()
      let list = ListOnScreen()
      let request = Shelf.request(format)
      request.sortDescriptors = keys.map { NSSortDescriptor(key: $0, ascending: true) }
      let controller = try NSFetchedResultsController(request, context, sections: path, on: list)
      try body(context, list) { things[$0]! }
      #expect(list.mistakes == [])
      #expect(list.sections == ListOnScreen.content(controller))
    }
  }

  @Test("The raw values of the types of changes are Core Data's.")
  func rawValues() {
    let types: [NSFetchedResultsChangeType] = [.insert, .delete, .move, .update]
    #expect(types.map(\.rawValue) == [1, 2, 3, 4])
  }

  @Test("Insertions, deletions, moves and updates are told with the former and the new index paths, in this order.")
  func allKinds() throws {
    try watched { context, list, thing in
      context.put("new", ["rank": 5])
      context.delete(thing("a1"))
      thing("a0")["rank"] = 35
      thing("a3")["name"] = "other"
      context.processPendingChanges()
      #expect(list.takeCalls() == ["will", "-0.1", "+0.0", "0.0>0.3", "=0.3", "did"])
    }
  }

  @Test("Sections are told before objects: those that are gone by their former number, new ones by their new number.")
  func sections() throws {
    try watched(by: ["kind", "rank"], sections: "kind") { context, list, thing in
      for name in ["a0", "a1", "a2"] { thing(name)["kind"] = "z" }
      context.put("new", ["kind": "a"])
      context.processPendingChanges()
      #expect(
        list.takeCalls() == [
          "will", "-0:x", "+0:a", "+2:z", "+0.0", "0.0>2.0", "0.1>2.1", "0.2>2.2", "did",
        ])
    }
  }

  @Test("An object that gets into another section has moved.")
  func otherSection() throws {
    try watched(by: ["kind", "rank"], sections: "kind") { context, list, thing in
      thing("a0")["kind"] = "y"
      context.processPendingChanges()
      #expect(list.takeCalls() == ["will", "0.0>1.0", "did"])
    }
  }

  @Test("A section that loses all objects and gets others in one event stays.")
  func refilledSection() throws {
    try watched(by: ["kind", "rank"], sections: "kind") { context, list, thing in
      for name in ["a3", "a4"] { context.delete(thing(name)) }
      thing("a2")["kind"] = "y"
      context.processPendingChanges()
      #expect(list.takeCalls() == ["will", "-1.0", "-1.1", "0.2>1.0", "did"])
    }
  }

  @Test("An object that begins or ceases to satisfy the predicate is inserted or deleted.")
  func predicate() throws {
    try watched("rank >= 20") { context, list, thing in
      thing("a0")["rank"] = 25
      thing("a2")["rank"] = 1
      context.processPendingChanges()
      #expect(list.takeCalls() == ["will", "-0.0", "+0.0", "did"])
    }
  }

  @Test("Changes that do not concern the results are silent.")
  func unrelated() throws {
    try watched("rank >= 20") { context, list, thing in
      thing("a0")["name"] = "other"
      context.put("new", ["rank": 3])
      context.put("box", entity: "Box")
      context.delete(thing("a1"))
      context.processPendingChanges()
      try context.save()
      #expect(list.takeCalls() == [])
    }
  }

  @Test("An object whose sort key changes between its neighbours is updated; the place of its call is the former one.")
  func update() throws {
    try watched { context, list, thing in
      thing("a2")["rank"] = 25
      context.delete(thing("a0"))
      context.processPendingChanges()
      #expect(list.takeCalls() == ["will", "-0.0", "=0.2", "did"])
    }
  }

  @Test("Of two objects that change sides, the one whose sort key has changed moves.")
  func sides() throws {
    try watched { context, list, thing in
      thing("a0")["rank"] = 15
      thing("a1")["name"] = "other"
      context.processPendingChanges()
      #expect(list.takeCalls() == ["will", "0.0>0.1", "=0.1", "did"])
    }
  }

  @Test("A save tells nothing that its event has not told, and objects with new identifiers stay where they are.")
  func save() throws {
    try watched { context, list, thing in
      let new = [1, 2, 3].map { context.put("new \($0)", ["rank": 20]) }
      try context.save()
      #expect(list.takeCalls() == ["will", "+0.3", "+0.4", "+0.5", "did"])
      try context.obtainPermanentIDs(for: [context.put("last", ["rank": 20])])
      new[1]["rank"] = 0
      try context.save()
      #expect(list.takeCalls() == ["will", "+0.6", "0.4>0.1", "did"])
    }
  }

  @Test("A refreshed object counts as updated.")
  func refresh() throws {
    try watched { context, list, thing in
      context.refresh(thing("a1"), mergeChanges: false)
      context.refresh(thing("a3"), mergeChanges: true)
      context.processPendingChanges()
      #expect(list.takeCalls() == ["will", "=0.1", "=0.3", "did"])
    }
  }

  @Test("A rollback removes inserted objects, returns deleted ones and moves changed ones back.")
  func rollback() throws {
    try watched { context, list, thing in
      context.put("new", ["rank": 15])
      context.delete(thing("a0"))
      thing("a1")["rank"] = 99
      context.processPendingChanges()
      #expect(list.takeCalls() == ["will", "-0.0", "+0.0", "0.1>0.4", "did"])
      context.rollback()
      #expect(list.takeCalls() == ["will", "-0.0", "+0.0", "0.4>0.1", "did"])
    }
  }

  @Test("An inserted object that is deleted before it is saved is deleted from the results.")
  func annihilation() throws {
    try watched { context, list, _ in
      let new = context.put("new", ["rank": 15])
      context.processPendingChanges()
      context.delete(new)
      context.processPendingChanges()
      #expect(list.takeCalls() == ["will", "+0.2", "did", "will", "-0.2", "did"])
    }
  }

  @Test("Objects of subentities are results, unless the request excludes them.")
  func subentities() throws {
    try watched { context, list, _ in
      context.put("toy", ["rank": 50], entity: "Toy")
      context.processPendingChanges()
      #expect(list.takeCalls() == ["will", "+0.5", "did"])
      let request = Shelf.request(by: "rank")
      request.includesSubentities = false
      let things = try NSFetchedResultsController(request, context)
      #expect(things.fetchedObjects?.count == 5)
    }
  }

  @Test("A change of a related object on a key path of the request counts, saved or not.")
  func relatedObject() throws {
    try watched(by: ["box.label", "rank"], sections: "box.label") { context, list, thing in
      let box = context.put("red", entity: "Box")
      for name in ["a1", "a2"] { thing(name)["box"] = box }
      context.processPendingChanges()
      #expect(list.takeCalls() == ["will", "+1:red", "0.1>1.0", "0.2>1.1", "did"])
      box["label"] = "blue"
      context.processPendingChanges()
      #expect(list.takeCalls() == ["will", "-1:red", "+1:blue", "1.0>1.0", "1.1>1.1", "did"])
      context.delete(box)
      try context.save()
      #expect(list.takeCalls() == ["will", "-1:blue", "1.0>0.1", "1.1>0.2", "did"])
    }
  }

  @Test("With an offset and a limit, objects get into the window and leave it.")
  func window() throws {
    try Shelf().work { context in
      let things = (0..<6).map { context.put("a\($0)", ["rank": $0]) }
      try context.save()
      let request = Shelf.request(by: "rank")
      (request.fetchOffset, request.fetchLimit) = (1, 3)
      let list = ListOnScreen()
      let controller = try NSFetchedResultsController(request, context, on: list)
      context.delete(things[2])
      context.processPendingChanges()
      #expect(list.takeCalls() == ["will", "-0.1", "+0.2", "did"])
      context.put("first", ["rank": -1])
      context.processPendingChanges()
      #expect(list.takeCalls() == ["will", "-0.2", "+0.0", "did"])
      #expect(controller.shown == "a0 a1 a3")
      #expect(list.mistakes == [])
    }
  }

  @Test("A delegate that changes objects while it is told of changes is told of its own afterwards.")
  func nested() throws {
    final class Renaming: NSObject, NSFetchedResultsControllerDelegate {
      var calls = ""
      func controllerWillChangeContent(_ controller: NSFetchedResultsController<any NSFetchRequestResult>) {
        calls += "("
      }
      func controllerDidChangeContent(_ controller: NSFetchedResultsController<any NSFetchRequestResult>) {
        calls += ")"
      }
      func controller(
        _ controller: NSFetchedResultsController<any NSFetchRequestResult>, didChange anObject: Any,
        at indexPath: IndexPath?, for type: NSFetchedResultsChangeType, newIndexPath: IndexPath?
      ) {
        calls += "\(type.rawValue)"
        guard type == .insert, let object = anObject as? NSManagedObject else { return }
        object["rank"] = -1
        object.managedObjectContext?.processPendingChanges()
      }
    }
    try Shelf().work { context in
      context.put("a")
      try context.save()
      let delegate = Renaming()
      let controller = try NSFetchedResultsController(Shelf.request(by: "rank"), context)
      controller.delegate = delegate
      context.put("b", ["rank": 1])
      context.processPendingChanges()
      #expect(delegate.calls == "(1)(3)")
      #expect(controller.shown == "b a")
    }
  }
}
