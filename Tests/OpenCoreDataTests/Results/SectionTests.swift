import OpenCoreData
import Testing

@Suite("Sections of a results controller")
struct SectionTests {
  @Test("Results are divided by the value of the section key path; nil is the empty name, and numbers are texts.")
  func values() throws {
    try Shelf().work { context in
      for (name, kind, rank) in [("a", "x", 1), ("b", "y", 2), ("c", "x", 2)] {
        context.put(name, ["kind": kind, "rank": rank])
      }
      context.put("d", ["rank": 10])
      let kinds = try NSFetchedResultsController(Shelf.request(by: "kind", "name"), context, sections: "kind")
      #expect(kinds.shown == ": d, x: a c, y: b")
      let ranks = try NSFetchedResultsController(Shelf.request(by: "-rank", "name"), context, sections: "rank")
      #expect(ranks.shown == "10: d, 2: b c, 1: a")
      #expect(ranks.sections?.map(\.numberOfObjects) == [1, 2, 1])
    }
  }

  @Test("A section key path leads through to-one relationships.")
  func relatedValue() throws {
    try Shelf().work { context in
      let boxes = ["red", "blue"].map { context.put($0, entity: "Box") }
      for (name, box) in [("a", 0), ("b", 1), ("c", 0)] { context.put(name, ["box": boxes[box]]) }
      try context.save()
      let controller = try NSFetchedResultsController(
        Shelf.request(by: "box.label", "name"), context, sections: "box.label")
      #expect(controller.shown == "blue: b, red: a c")
    }
  }

  @Test("Without a section key path there is one section without a name, even if there are no results.")
  func oneSection() throws {
    try Shelf().work { context in
      let controller = try NSFetchedResultsController(Shelf.request(by: "name"), context)
      #expect(controller.sections?.map(\.name) == [""])
      #expect(controller.sections?.map(\.numberOfObjects) == [0])
      let kinds = try NSFetchedResultsController(Shelf.request(by: "kind"), context, sections: "kind")
      #expect(kinds.sections?.count == 0)
    }
  }

  @Test("A fetch throws if the sort descriptors tear a section apart, and the content stays.")
  func tornSection() throws {
    try Shelf().work { context in
      context.put("a", ["kind": "x"])
      let controller = try NSFetchedResultsController(Shelf.request(by: "name"), context, sections: "kind")
      context.put("b", ["kind": "y"])
      context.put("c", ["kind": "x"])
      let error = #expect(throws: NSError.self) { try controller.performFetch() }
      #expect(error?.code == 134060)
      #expect(error?.localizedDescription.contains("\"x\"") == true)
      #expect(controller.shown == "x: a")
    }
  }

  @Test("A request without sort descriptors, one for a count, and a to-many section key path are refused.")
  func refusals() throws {
    try Shelf().work { context in
      func code(_ request: NSFetchRequest<NSManagedObject>, _ path: String? = nil) -> Int? {
        #expect(throws: NSError.self) { try NSFetchedResultsController(request, context, sections: path) }?.code
      }
      #expect(code(Shelf.request()) == 134060)
      #expect(code(Shelf.request(by: "label", entity: "Box"), "things.name") == 134060)
      let count = Shelf.request(by: "name")
      count.resultType = .countResultType
      #expect(code(count) == 134060)
    }
  }

  @Test("Index titles are the capitalised first letters of the names, and lead back to the sections.")
  func indexTitles() throws {
    try Shelf().work { context in
      for kind in ["apple", "berry", "élan"] { context.put("n", ["kind": kind]) }
      context.put("n")
      let controller = try NSFetchedResultsController(Shelf.request(by: "kind"), context, sections: "kind")
      #expect(controller.sectionIndexTitles == ["A", "B", "É"])
      #expect(controller.sections?.map(\.indexTitle) == [nil, "A", "B", "É"])
      #expect(controller.section(forSectionIndexTitle: "B", at: 1) == 2)
    }
  }

  @Test("The delegate gives index titles if it implements the method, and so does a subclass of the controller.")
  func ownIndexTitles() throws {
    final class Titles: NSObject, NSFetchedResultsControllerDelegate {
      func controller(
        _ controller: NSFetchedResultsController<any NSFetchRequestResult>,
        sectionIndexTitleForSectionName sectionName: String
      ) -> String? { sectionName == "x" ? nil : "<\(sectionName)>" }
    }
    try Shelf().work { context in
      for kind in ["x", "y"] { context.put("n", ["kind": kind]) }
      let request = Shelf.request(by: "kind")
      let controller = try NSFetchedResultsController(request, context, sections: "kind")
      let titles = Titles()
      controller.delegate = titles
      #expect(controller.sectionIndexTitles == ["<y>"])
      #expect(controller.section(forSectionIndexTitle: "<y>", at: 0) == 1)
      let own = NumberedController(
        fetchRequest: request, managedObjectContext: context, sectionNameKeyPath: "kind", cacheName: nil)
      try own.performFetch()
      #expect(own.sectionIndexTitles == ["1 x", "1 y"])
      #expect(own.sections?.map(\.indexTitle) == ["1 x", "1 y"])
    }
  }
}

final class NumberedController: NSFetchedResultsController<NSManagedObject> {
  override func sectionIndexTitle(forSectionName sectionName: String) -> String? { "1 \(sectionName)" }
}
