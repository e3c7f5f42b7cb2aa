import OpenCoreData
import Testing

@Suite("Results after changes elsewhere")
struct ResultMergeTests {
  /// Runs a closure with a list of the things whose rank is at least 10, and a second context.
  private func merging(
    _ body: (
      NSManagedObjectContext, ListOnScreen, _ elsewhere: ((NSManagedObjectContext) throws -> Void) throws -> Void
    )
      throws -> Void
  ) throws {
    let shelf = try Shelf()
    try shelf.work { context in
      for number in 0..<4 { context.put("a\(number)", ["rank": number * 10]) }
      try context.save()
      context.reset()
      let list = ListOnScreen()
      let controller = try NSFetchedResultsController(Shelf.request("rank >= 10", by: "rank"), context, on: list)
      try body(context, list) { change in
        nonisolated(unsafe) var saved: Notification?
        try shelf.work { other in
          let token = NotificationCenter.default.addObserver(
            forName: NSManagedObjectContext.didSaveObjectsNotification, object: other, queue: nil
          ) { unsafe saved = $0 }
          defer { NotificationCenter.default.removeObserver(token) }
          try change(other)
          try other.save()
        }
        if let saved = unsafe saved { context.mergeChanges(fromContextDidSave: saved) }
      }
      #expect(list.mistakes == [])
      #expect(list.sections == ListOnScreen.content(controller))
    }
  }

  private func thing(_ name: String, _ context: NSManagedObjectContext) throws -> NSManagedObject {
    try #require(try context.fetch(Shelf.request("name == '\(name)'")).first)
  }

  @Test("A merge inserts, deletes, moves and updates results.")
  func merge() throws {
    try merging { context, list, elsewhere in
      try elsewhere { other in
        other.put("new", ["rank": 15])
        other.delete(try thing("a1", other))
        try thing("a2", other)["rank"] = 40
        try thing("a3", other)["kind"] = "y"
      }
      #expect(list.takeCalls() == ["will", "-0.0", "+0.0", "0.1>0.2", "=0.2", "did"])
    }
  }

  @Test("A merge inserts an object that now satisfies the predicate, though the context does not have it in memory.")
  func entering() throws {
    try merging { context, list, elsewhere in
      try elsewhere { try thing("a0", $0)["rank"] = 50 }
      #expect(list.takeCalls() == ["will", "+0.3", "did"])
    }
  }

  @Test("A merge deletes and moves results that are faults.")
  func faults() throws {
    try merging { context, list, elsewhere in
      for name in ["a1", "a2"] { context.refresh(try thing(name, context), mergeChanges: false) }
      try elsewhere { other in
        other.delete(try thing("a1", other))
        try thing("a2", other)["rank"] = 40
      }
      #expect(list.takeCalls() == ["will", "-0.0", "0.1>0.1", "did"])
    }
  }

  @Test("A merge that concerns no result is silent.")
  func unrelated() throws {
    try merging { context, list, elsewhere in
      try elsewhere { other in
        try thing("a0", other)["name"] = "other"
        other.put("new", ["rank": 1])
        other.put("box", entity: "Box")
      }
      #expect(list.takeCalls() == [])
    }
  }

  @Test("Merged deletions of a batch request delete results.")
  func batchDeletion() throws {
    try merging { context, list, _ in
      let request = NSFetchRequest<NSManagedObject>(entityName: "Thing")
      request.predicate = NSPredicate(format: "rank < 25")
      let batch = NSBatchDeleteRequest(fetchRequest: request)
      batch.resultType = .resultTypeObjectIDs
      let ids = (try context.execute(batch) as? NSBatchDeleteResult)?.result as? [NSManagedObjectID]
      NSManagedObjectContext.mergeChanges(
        fromRemoteContextSave: [NSDeletedObjectIDsKey: ids ?? []], into: [context])
      #expect(list.takeCalls() == ["will", "-0.0", "-0.1", "did"])
    }
  }

  @Test("A reset replaces all results by new objects.")
  func reset() throws {
    try merging { context, list, _ in
      let former = list.sections[0].rows.map(\.object)
      context.reset()
      #expect(list.takeCalls() == ["will", "-0.0", "-0.1", "-0.2", "+0.0", "+0.1", "+0.2", "did"])
      #expect(former.allSatisfy { $0.managedObjectContext == nil })
    }
  }

  @Test("A context that merges automatically keeps its results up to date.")
  func automatic() async throws {
    let shelf = try Shelf()
    let context = shelf.makeContext()
    context.automaticallyMergesChangesFromParent = true
    let (snapshots, controller) = try await context.perform {
      let controller = try NSFetchedResultsController(Shelf.request(by: "name"), context)
      nonisolated(unsafe) let held = controller
      return (controller.snapshots, unsafe Held(controller: held))
    }
    try shelf.work { other in
      other.put("a")
      try other.save()
    }
    var counts: [Int] = []
    for await snapshot in snapshots {
      counts.append(snapshot.numberOfItems)
      if snapshot.numberOfItems == 1 { break }
    }
    #expect(counts.last == 1)
    withExtendedLifetime(controller) {}
  }

  /// A controller that another thread only holds.
  private struct Held: @unchecked Sendable {
    let controller: NSFetchedResultsController<NSManagedObject>
  }
}
