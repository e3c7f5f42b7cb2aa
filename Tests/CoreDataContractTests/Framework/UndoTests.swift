import CoreData
import Testing

@Suite("Undo")
struct UndoTests {
  private let stack: InMemoryStack
  private let manager = UndoManager()

  init() throws {
    stack = try InMemoryStack()
    manager.groupsByEvent = false
    try stack.work { context in
      let home = context.make("House", ["street": "Elm Street"])
      let ada = context.make("Person", ["name": "Ada", "home": home])
      let bob = context.make("Person", ["name": "Bob", "home": home, "friends": NSSet(object: ada)])
      for name in ["Rex", "Tom"] { context.make("Pet", ["name": name, "owner": ada]) }
      let errands = ["buy", "mend", "sell"].map { context.make("Errand", ["title": $0]) }
      bob["errands"] = NSOrderedSet(array: errands)
      try context.save()
    }
  }

  /// Runs a closure with a new context that has the undo manager.
  private func work(_ body: (NSManagedObjectContext) throws -> Void) throws {
    try stack.work { context in
      context.undoManager = manager
      try body(context)
    }
  }

  /// Makes changes that are undone together.
  private func group(_ context: NSManagedObjectContext, _ body: () throws -> Void) rethrows {
    manager.beginUndoGrouping()
    try body()
    context.processPendingChanges()
    manager.endUndoGrouping()
  }

  private func titles(_ person: NSManagedObject) -> [String] {
    person.members("errands").map { $0["title"] as? String ?? "nil" }
  }

  // MARK: Without a manager

  @Test("A context has no undo manager unless it is given one, and its undo and redo do nothing.")
  func noManager() throws {
    try stack.work { context in
      #expect(context.undoManager == nil)
      let ada = try context.person("Ada")
      ada["age"] = 37
      context.undo()
      context.redo()
      #expect(ada["age"] as? Int == 37)
      context.undoManager = manager
      #expect(context.undoManager === manager)
      context.undoManager = nil
      #expect(context.undoManager == nil)
    }
  }

  // MARK: Kinds of changes

  @Test("An insertion is undone and redone with its values.")
  func insertion() throws {
    try work { context in
      var cleo: NSManagedObject!
      group(context) { cleo = context.make("Person", ["name": "Cleo", "age": 9]) }
      context.undo()
      #expect(!context.hasChanges && context.insertedObjects.isEmpty)
      #expect(try context.names() == "Ada Bob")
      context.redo()
      #expect(context.insertedObjects == [cleo])
      #expect(cleo["name"] as? String == "Cleo" && cleo["age"] as? Int == 9)
      try context.save()
      #expect(try stack.work { try $0.names() } == "Ada Bob Cleo")
    }
  }

  @Test("Changes of attributes are undone and redone, transient ones, too.")
  func attributes() throws {
    try work { context in
      let ada = try context.person("Ada")
      group(context) {
        ada["age"] = 37
        ada["nickname"] = "Countess"
        ada["mood"] = "happy"
      }
      group(context) { ada["age"] = nil }
      context.undo()
      #expect(ada["age"] as? Int == 37)
      context.undo()
      #expect(ada["age"] as? Int == 18 && ada["nickname"] == nil && ada["mood"] == nil)
      #expect(!ada.hasChanges && !context.hasChanges)
      context.redo()
      context.redo()
      #expect(ada["age"] == nil && ada["nickname"] as? String == "Countess" && ada["mood"] as? String == "happy")
      #expect(context.updatedObjects == [ada])
    }
  }

  @Test("A change by a custom accessor, which sets the primitive value, is undone.")
  func primitiveValues() throws {
    try work { context in
      let (ada, house) = (try context.person("Ada"), try context.all("House")[0])
      group(context) {
        ada.willChangeValue(forKey: "age")
        ada.setPrimitiveValue(37, forKey: "age")
        ada.didChangeValue(forKey: "age")
        ada.willChangeValue(forKey: "home")
        ada.setPrimitiveValue(nil, forKey: "home")
        ada.didChangeValue(forKey: "home")
      }
      context.undo()
      #expect(ada["age"] as? Int == 18 && ada["home"] as? NSManagedObject === house)
      #expect(house.names("residents") == ["Ada", "Bob"])
      context.redo()
      #expect(ada["age"] as? Int == 37 && house.names("residents") == ["Bob"])
    }
  }

  @Test("Both ends of a relationship are restored.")
  func relationships() throws {
    try work { context in
      let (ada, bob) = (try context.person("Ada"), try context.person("Bob"))
      let rex = try context.all("Pet", "name = 'Rex'")[0]
      group(context) {
        rex["owner"] = bob
        ada.mutableSetValue(forKey: "friends").remove(bob)
      }
      #expect(ada.names("pets") == ["Tom"] && bob.names("friends") == [])
      context.undo()
      #expect(rex["owner"] as? NSManagedObject === ada)
      #expect(ada.names("pets") == ["Rex", "Tom"] && bob.names("pets") == [])
      #expect(ada.names("friends") == ["Bob"] && bob.names("friends") == ["Ada"])
      #expect(!context.hasChanges)
      context.redo()
      #expect(ada.names("pets") == ["Tom"] && bob.names("pets") == ["Rex"] && ada.names("friends") == [])
      try context.save()
    }
  }

  @Test("The order of an ordered relationship is restored.")
  func order() throws {
    try work { context in
      let bob = try context.person("Bob")
      let errands = bob.mutableOrderedSetValue(forKey: "errands")
      group(context) { errands.removeObject(at: 1) }
      group(context) { errands.insert(context.make("Errand", ["title": "rest"]), at: 0) }
      group(context) { errands.moveObjects(at: IndexSet(integer: 2), to: 0) }
      #expect(titles(bob) == ["sell", "rest", "buy"])
      context.undo()
      #expect(titles(bob) == ["rest", "buy", "sell"])
      context.undo()
      #expect(titles(bob) == ["buy", "sell"])
      context.undo()
      #expect(titles(bob) == ["buy", "mend", "sell"] && !context.hasChanges)
      for _ in 0..<3 { context.redo() }
      #expect(titles(bob) == ["sell", "rest", "buy"])
      try context.save()
      #expect(try stack.work { titles(try $0.person("Bob")) } == ["sell", "rest", "buy"])
    }
  }

  @Test("An undone deletion restores what the delete rules have deleted and nullified.")
  func deletion() throws {
    try work { context in
      let (ada, bob, house) = (try context.person("Ada"), try context.person("Bob"), try context.all("House")[0])
      let pets = try context.all("Pet")
      group(context) { context.delete(ada) }
      #expect(context.deletedObjects == Set(pets + [ada]))
      #expect(bob.names("friends") == [])
      context.undo()
      #expect(!context.hasChanges && !ada.isDeleted)
      #expect(ada.names("pets") == ["Rex", "Tom"] && bob.names("friends") == ["Ada"])
      #expect(house.names("residents") == ["Ada", "Bob"])
      context.redo()
      #expect(context.deletedObjects == Set(pets + [ada]) && bob.names("friends") == [])
      context.undo()
      try context.save()
      #expect(try stack.work { try $0.person("Bob").names("friends") } == ["Ada"])
    }
  }

  @Test("An inserted object that was deleted before it was saved is inserted again.")
  func deletedInsertion() throws {
    try work { context in
      let ada = try context.person("Ada")
      var pet: NSManagedObject!
      group(context) { pet = context.make("Pet", ["name": "Kit", "owner": ada]) }
      group(context) { context.delete(pet) }
      #expect(ada.names("pets") == ["Rex", "Tom"])
      context.undo()
      #expect(context.insertedObjects == [pet] && ada.names("pets") == ["Kit", "Rex", "Tom"])
      context.undo()
      #expect(!context.hasChanges && ada.names("pets") == ["Rex", "Tom"])
    }
  }

  // MARK: Saves

  @Test("A saved insertion is undone by a deletion, and redone by another insertion.")
  func savedInsertion() throws {
    try work { context in
      let house = try context.all("House")[0]
      var cleo: NSManagedObject!
      group(context) { cleo = context.make("Person", ["name": "Cleo", "home": house]) }
      try context.save()
      context.undo()
      #expect(context.deletedObjects == [cleo])
      try context.save()
      #expect(try stack.work { try $0.names() } == "Ada Bob")
      context.redo()
      #expect(context.insertedObjects == [cleo] && cleo["name"] as? String == "Cleo")
      try context.save()
      #expect(try stack.work { try $0.all("House")[0].names("residents") } == ["Ada", "Bob", "Cleo"])
    }
  }

  @Test("The objects of a saved deletion are inserted again with their values and relationships.")
  func savedDeletion() throws {
    try work { context in
      let (ada, bob) = (try context.person("Ada"), try context.person("Bob"))
      group(context) { ada["nickname"] = "Countess" }
      try context.save()
      let id = ada.objectID
      group(context) { context.delete(ada) }
      try context.save()
      context.undo()
      #expect(context.insertedObjects.count == 3 && context.insertedObjects.contains(ada))
      #expect(ada["nickname"] as? String == "Countess" && ada.names("pets") == ["Rex", "Tom"])
      #expect(bob.names("friends") == ["Ada"])
      try context.save()
      #expect(ada.objectID != id)
      try stack.work {
        let other = try $0.person("Ada")
        #expect(other["nickname"] as? String == "Countess" && other.names("pets") == ["Rex", "Tom"])
        #expect(other.names("friends") == ["Bob"])
        #expect(try $0.all("House")[0].names("residents") == ["Ada", "Bob"])
      }
      context.redo()
      try context.save()
      #expect(try stack.work { try $0.names() } == "Bob")
    }
  }

  @Test("Changes over two saves are undone, and each undo makes unsaved changes.")
  func twoSaves() throws {
    try work { context in
      let (ada, bob) = (try context.person("Ada"), try context.person("Bob"))
      let rex = try context.all("Pet", "name = 'Rex'")[0]
      group(context) {
        ada["age"] = 37
        rex["owner"] = bob
      }
      try context.save()
      group(context) {
        ada["age"] = 38
        rex["owner"] = nil
      }
      try context.save()
      context.undo()
      #expect(ada["age"] as? Int == 37 && bob.names("pets") == ["Rex"] && context.hasChanges)
      context.undo()
      #expect(ada["age"] as? Int == 18 && ada.names("pets") == ["Rex", "Tom"] && bob.names("pets") == [])
      try context.save()
      try stack.work {
        let other = try $0.person("Ada")
        #expect(other["age"] as? Int == 18 && other.names("pets") == ["Rex", "Tom"])
      }
    }
  }

  // MARK: Groups

  @Test("Nested groups are undone together, and the number of groups can be limited.")
  func nestedGroups() throws {
    try work { context in
      let ada = try context.person("Ada")
      manager.levelsOfUndo = 2
      group(context) { ada["age"] = 1 }
      group(context) {
        ada["age"] = 2
        group(context) { ada["age"] = 3 }
        ada["age"] = 4
      }
      group(context) { ada["age"] = 5 }
      context.undo()
      #expect(ada["age"] as? Int == 4)
      context.undo()
      #expect(ada["age"] as? Int == 1 && !manager.canUndo)
    }
  }

  @Test("Changes made while registration is disabled are not recorded.")
  func disabledRegistration() throws {
    try work { context in
      let ada = try context.person("Ada")
      group(context) { ada["age"] = 37 }
      context.processPendingChanges()
      manager.disableUndoRegistration()
      ada["nickname"] = "Countess"
      context.processPendingChanges()
      manager.enableUndoRegistration()
      context.undo()
      #expect(ada["age"] as? Int == 18 && ada["nickname"] as? String == "Countess")
    }
  }

  @Test("After a rollback or a reset, there is nothing to undo or redo.", arguments: [false, true])
  func rollback(isReset: Bool) throws {
    try work { context in
      let ada = try context.person("Ada")
      group(context) { ada["age"] = 37 }
      group(context) { ada["age"] = 38 }
      context.undo()
      if isReset { context.reset() } else { context.rollback() }
      #expect(!manager.canUndo && !manager.canRedo)
      context.redo()
      #expect(try context.person("Ada")["age"] as? Int == 18)
    }
  }

  // MARK: Changes from elsewhere

  @Test("Merges, refreshes, saves and firing faults are not undone.")
  func otherChanges() throws {
    try work { context in
      let (ada, bob) = (try context.person("Ada"), try context.person("Bob"))
      group(context) { ada["age"] = 37 }
      try stack.work { other in
        let saves = Notices(NSManagedObjectContext.didSaveObjectsNotification, of: other)
        try other.person("Ada")["nickname"] = "Countess"
        try other.person("Bob")["nickname"] = "Bobby"
        try other.save()
        context.mergeChanges(fromContextDidSave: try #require(saves.last))
      }
      #expect(ada["nickname"] as? String == "Countess")
      context.refresh(bob, mergeChanges: false)
      #expect(bob["nickname"] as? String == "Bobby")
      try context.save()
      context.undo()
      #expect(ada["age"] as? Int == 18 && ada["nickname"] as? String == "Countess" && !manager.canUndo)
      try context.save()
    }
  }

  // MARK: Hooks and notifications

  @Test("Undo and redo are announced like any other change.")
  func notifications() throws {
    try work { context in
      let ada = try context.person("Ada")
      var cleo: NSManagedObject!
      group(context) {
        cleo = context.make("Person", ["name": "Cleo"])
        ada["age"] = 37
      }
      let notices = Notices(NSManagedObjectContext.didChangeObjectsNotification, of: context)
      context.undo()
      #expect(notices.objects(.deletedObjects) == [cleo] && notices.objects(.updatedObjects) == [ada])
      context.redo()
      #expect(notices.objects(.insertedObjects) == [cleo] && notices.objects(.updatedObjects) == [ada])
    }
  }

  @Test("An object is told what was undone.")
  func awakening() throws {
    let coordinator = NSPersistentStoreCoordinator(managedObjectModel: Town.model(personClass: WokenObject.self))
    _ = try coordinator.addPersistentStore(ofType: NSInMemoryStoreType, configurationName: nil, at: nil)
    let context = NSManagedObjectContext(.privateQueue)
    context.persistentStoreCoordinator = coordinator
    try context.performAndWait {
      context.undoManager = manager
      var ada: WokenObject!
      group(context) { ada = context.make("Person", ["name": "Ada"]) as? WokenObject }
      group(context) { ada["age"] = 37 }
      group(context) { context.delete(ada) }
      for _ in 0..<3 { context.undo() }
      context.redo()
      #expect(ada.events == [.undoDeletion, .undoUpdate, .undoInsertion, .undoDeletion])
      #expect(ada.insertions == 1)
      try context.save()
    }
  }
}

/// A managed object that records how it is awakened.
final class WokenObject: NSManagedObject {
  var events: [NSSnapshotEventType] = []
  var insertions = 0

  override func awakeFromInsert() {
    super.awakeFromInsert()
    insertions += 1
  }

  override func awake(fromSnapshotEvents flags: NSSnapshotEventType) {
    super.awake(fromSnapshotEvents: flags)
    events.append(flags)
  }
}
