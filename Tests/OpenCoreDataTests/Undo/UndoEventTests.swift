import OpenCoreData
import Testing

@Suite("Undo, and the events of contexts") struct UndoEventTests {
  private let family: Family
  private let manager = UndoManager()

  init() throws { family = try Family() }

  /// Runs a closure with a context that has the manager, a context without one, and a person that the first has saved.
  private func run(
    _ body: (_ a: NSManagedObjectContext, _ b: NSManagedObjectContext, _ ann: NSManagedObject) throws -> Void
  ) throws {
    try family.run { a, b in
      let ann = a.make("Person", "Ann")
      try a.save()
      a.undoManager = manager
      try body(a, b, ann)
      a.undoManager = nil
    }
  }

  // MARK: Groups

  @Test("The group of an event ends when changes are processed, saved, or at the end of a block.")
  func endsOfEvents() async throws {
    try run { a, _, ann in
      ann["name"] = "Bea"
      #expect(manager.groupingLevel == 1 && manager.undoCount == 0)
      a.processPendingChanges()
      #expect(manager.groupingLevel == 0 && manager.undoCount == 1)
      ann["name"] = "Cleo"
      try a.save()
      #expect(manager.groupingLevel == 0 && manager.undoCount == 2)
      a.processPendingChanges()
      #expect(manager.undoCount == 2)
      a.undo()
      #expect(ann["name"] as? String == "Bea")
    }
    let context = NSManagedObjectContext(.privateQueue)
    context.persistentStoreCoordinator = family.coordinator
    context.undoManager = manager
    let handed = Handed((context, manager))
    await context.perform(schedule: .enqueued) { _ = handed.value.0.make("Person", "Eve") }
    await context.perform { #expect(handed.value.1.groupingLevel == 0 && handed.value.1.redoCount == 0) }
  }

  @Test("A name that is set during an event is that of the event.")
  func names() throws {
    try run { a, _, ann in
      ann["name"] = "Bea"
      manager.setActionName("Rename")
      ann["mood"] = "sad"
      a.processPendingChanges()
      a.make("Person", "Cleo")
      a.processPendingChanges()
      #expect(manager.undoActionName == "")
      a.undo()
      #expect(manager.undoMenuItemTitle == "Undo Rename")
      a.undo()
      #expect(ann["name"] as? String == "Ann" && manager.redoMenuItemTitle == "Redo Rename")
    }
  }

  @Test("Changes belong to the group in which they were made, whether they are processed there or not.")
  func checkpoints() throws {
    try run { a, _, ann in
      manager.groupsByEvent = false
      manager.beginUndoGrouping()
      ann["name"] = "Bea"
      manager.beginUndoGrouping()
      ann["name"] = "Cleo"
      manager.endUndoGrouping()
      manager.undoNestedGroup()
      #expect(ann["name"] as? String == "Bea")
      manager.endUndoGrouping()
      manager.undo()
      #expect(ann["name"] as? String == "Ann")
    }
  }

  @Test("The manager knows of changes that have not been processed.")
  func unprocessedChanges() throws {
    try run { a, _, ann in
      ann["name"] = "Bea"
      #expect(manager.canUndo)
      manager.undo()
      #expect(ann["name"] as? String == "Ann" && manager.canRedo)
      ann["name"] = "Cleo"
      #expect(!manager.canRedo)
      manager.redo()
      #expect(ann["name"] as? String == "Cleo")
    }
  }

  @Test("Setting values to what they are can not be undone.")
  func noDifference() throws {
    try run { a, _, ann in
      ann["name"] = "Ann"
      ann["friend"] = nil
      a.processPendingChanges()
      #expect(!manager.canUndo)
    }
  }

  @Test("Contexts may share a manager, and a manager may also have other actions.")
  func sharing() throws {
    final class Counter { var count = 0 }
    try run { a, b, ann in
      b.undoManager = manager
      let (own, counter) = (try b.own(ann), Counter())
      ann["name"] = "Bea"
      own["mood"] = "glad"
      counter.count = 1
      manager.registerUndo(withTarget: counter) { $0.count = 0 }
      a.processPendingChanges()
      #expect(manager.undoCount == 1)
      a.undo()
      #expect(ann["name"] as? String == "Ann" && own["mood"] == nil && counter.count == 0)
      ann["name"] = "Cleo"
      a.processPendingChanges()
      own["mood"] = "sad"
      b.processPendingChanges()
      a.rollback()
      #expect(manager.undoCount == 1)
      b.undo()
      #expect(own["mood"] == nil)
      b.undoManager = nil
    }
  }

  @Test("Changes before a context is given a manager are not undone, nor are those after it is taken away.")
  func changingTheManager() throws {
    try family.run { a, _ in
      let ann = a.make("Person", "Ann")
      a.undoManager = manager
      ann["name"] = "Bea"
      a.undoManager = nil
      #expect(manager.undoCount == 1)
      ann["mood"] = "glad"
      a.processPendingChanges()
      manager.undo()
      #expect(ann["name"] as? String == "Ann" && ann["mood"] as? String == "glad" && ann.isInserted)
    }
  }

  @Test("Actions of a context that is gone do nothing, and keep no context in memory.")
  func goneContext() throws {
    var context: NSManagedObjectContext? = NSManagedObjectContext(.privateQueue)
    weak let observed = context
    context?.persistentStoreCoordinator = family.coordinator
    context?.undoManager = manager
    context?.performAndWait {
      context?.make("Person", "Ann")
      context?.processPendingChanges()
    }
    context = nil
    #expect(observed == nil)
    manager.undo()
    #expect(!manager.canRedo)
  }

  // MARK: Deletions

  @Test("Delete rules that a save applies are undone with the deletion.")
  func lateDeleteRules() throws {
    try run { a, _, ann in
      a.propagatesDeletesAtEndOfEvent = false
      let child = a.make("Person", "Tom", ["parent": ann])
      try a.save()
      a.delete(ann)
      try a.save()
      #expect(child["parent"] == nil)
      a.undo()
      #expect(child["parent"] as? NSManagedObject === ann && ann.names("children") == ["Tom"])
      try a.save()
      #expect(try family.stored(ann, "children") == ["Tom"])
    }
  }

  @Test("A reference without an inverse follows an object that is inserted again after its deletion was saved.")
  func oneWayReferences() throws {
    try run { a, b, ann in
      let bob = a.make("Person", "Bob", ["friend": ann])
      try a.save()
      a.delete(ann)
      try a.save()
      a.undo()
      #expect(bob["friend"] as? NSManagedObject === ann && bob.isUpdated)
      try a.save()
      #expect((try b.own(bob)["friend"] as? NSManagedObject)?.objectID == ann.objectID)
    }
  }

  @Test("An object that somebody else has deleted is not changed by an undo.")
  func deletedElsewhere() throws {
    try run { a, b, ann in
      let bob = a.make("Person", "Bob")
      try a.save()
      manager.removeAllActions()
      ann["name"] = "Bea"
      bob["name"] = "Bert"
      a.processPendingChanges()
      let saves = Mailbox(b)
      b.delete(try b.own(ann))
      try b.save()
      for notification in saves.all { a.mergeChanges(fromContextDidSave: notification) }
      a.undo()
      #expect(ann.isDeleted && bob["name"] as? String == "Bob")
      try a.save()
      #expect(try b.fetch(NSFetchRequest<NSManagedObject>(entityName: "Person")).count == 1)
    }
  }

  @Test("A deletion of an object that somebody else has deleted, too, is not undone.")
  func deletedTwice() throws {
    try run { a, b, ann in
      let bob = a.make("Person", "Bob")
      try a.save()
      manager.removeAllActions()
      a.delete(ann)
      a.delete(bob)
      a.processPendingChanges()
      let saves = Mailbox(b)
      b.delete(try b.own(ann))
      try b.save()
      for notification in saves.all { a.mergeChanges(fromContextDidSave: notification) }
      a.undo()
      #expect(ann.isDeleted && !bob.isDeleted)
      #expect(try a.fetch(NSFetchRequest<NSManagedObject>(entityName: "Person")) == [bob])
      try a.save()
      #expect(try b.fetch(NSFetchRequest<NSManagedObject>(entityName: "Person")).count == 1)
    }
  }

  @Test(
    "An object whose deletion is undone or rolled back has what somebody else has saved and was merged meanwhile.",
    arguments: [false, true])
  func changedWhileDeleted(isRolledBack: Bool) throws {
    try run { a, b, ann in
      try a.save()
      manager.removeAllActions()
      a.delete(ann)
      a.processPendingChanges()
      let saves = Mailbox(b)
      try b.own(ann)["name"] = "Bea"
      try b.save()
      for notification in saves.all { a.mergeChanges(fromContextDidSave: notification) }
      if isRolledBack { a.rollback() } else { a.undo() }
      #expect(ann["name"] as? String == "Bea" && !ann.hasChanges)
    }
  }

  @Test("An object whose changes are undone may have become a fault meanwhile.")
  func faults() throws {
    try run { a, _, ann in
      let tom = a.make("Person", "Tom")
      try a.save()
      manager.removeAllActions()
      ann["name"] = "Bea"
      tom["parent"] = ann
      try a.save()
      a.refreshAllObjects()
      #expect(ann.isFault && tom.isFault)
      a.undo()
      #expect(ann["name"] as? String == "Ann" && ann.names("children") == [] && tom["parent"] == nil)
      try a.save()
      #expect(try family.stored(ann, "children") == [])
    }
  }

  // MARK: What is not recorded

  @Test("What willSave() changes is not undone.")
  func willSave() throws {
    let family = try Family(personClass: StampedPerson.self)
    try family.run { a, _ in
      let ann = a.make("Person", "Ann")
      try a.save()
      a.undoManager = manager
      ann["name"] = "Bea"
      try a.save()
      #expect(ann["mood"] as? String == "saved" && manager.undoCount == 1)
      a.undo()
      #expect(ann["name"] as? String == "Ann" && ann["mood"] as? String == "saved")
      a.undoManager = nil
    }
  }

  @Test("What a child saves is undone in its parent.")
  func children() throws {
    try run { a, _, ann in
      let child = NSManagedObjectContext(.privateQueue)
      child.parent = a
      try child.performAndWait {
        let own = try child.own(ann)
        own["name"] = "Bea"
        child.make("Person", "Tom", ["parent": own])
        try child.save()
      }
      #expect(ann["name"] as? String == "Bea" && ann.names("children") == ["Tom"])
      a.undo()
      #expect(ann["name"] as? String == "Ann" && ann.names("children") == [] && !a.hasChanges)
      a.redo()
      #expect(ann["name"] as? String == "Bea" && ann.names("children") == ["Tom"])
      try a.save()
      #expect(try family.stored(ann, "children") == ["Tom"])
    }
  }

  @Test("A child undoes what it has saved in its parent.")
  func undoInAChild() throws {
    try run { a, _, ann in
      a.undoManager = nil
      let child = NSManagedObjectContext(.privateQueue)
      child.parent = a
      try child.performAndWait {
        child.undoManager = manager
        let own = try child.own(ann)
        own["name"] = "Bea"
        child.make("Person", "Tom", ["parent": own])
        try child.save()
        child.undo()
        try child.save()
        #expect(ann["name"] as? String == "Ann" && ann.names("children") == [])
        child.redo()
        try child.save()
        #expect(ann["name"] as? String == "Bea" && ann.names("children") == ["Tom"])
        child.undoManager = nil
      }
      try a.save()
    }
  }
}

/// A person that notes when it is saved.
final class StampedPerson: NSManagedObject {
  override func willSave() {
    super.willSave()
    if self["mood"] as? String != "saved" { self["mood"] = "saved" }
  }
}
