import CoreData
import Testing

@Suite("Contexts whose parent is a context", .anyStore)
struct ParentContextTests {
  private let stack: Stack<RecordingStore>

  init() throws { stack = try Stack() }

  /// Runs a closure with a context and a child of it.
  private func work(
    _ body: (_ parent: NSManagedObjectContext, _ child: NSManagedObjectContext) throws -> Void
  ) throws {
    try stack.work { parent in
      let child = parent.makeChild()
      try child.performAndWait { try body(parent, child) }
    }
  }

  // MARK: Reading

  @Test("A child has the coordinator of its parent.")
  func coordinator() throws {
    try work { (parent, child) throws in
      #expect(child.parent === parent)
      #expect(child.persistentStoreCoordinator === stack.coordinator)
    }
  }

  @Test("A child fetches what is stored, with the unsaved changes of its parent.")
  func fetching() throws {
    try work { (parent, child) throws in
      #expect(try child.names() == "Ada Bob Cleo")
      parent.make("Person", ["name": "Dan"])
      parent.delete(try parent.person("Bob"))
      try parent.person("Ada")["name"] = "Zoe"
      #expect(try child.names() == "Cleo Dan Zoe")
      #expect(try child.count(for: people()) == 3)
      let request = people()
      request.fetchOffset = 1
      request.fetchLimit = 1
      #expect(try child.names(request) == "Dan")
      #expect(try child.all("Person").allSatisfy { $0.managedObjectContext === child })
    }
  }

  @Test("A child fetches its own unsaved changes on top of those of its parent.")
  func overlays() throws {
    try work { (parent, child) throws in
      parent.make("Person", ["name": "Dan"])
      try child.person("Dan")["name"] = "Aaron"
      child.make("Person", ["name": "Eve"])
      child.delete(try child.person("Cleo"))
      #expect(try child.names() == "Aaron Ada Bob Eve")
      #expect(try parent.names() == "Ada Bob Cleo Dan")
    }
  }

  @Test("A fault of a child takes the values and the relationships that its parent has.")
  func faults() throws {
    try work { (parent, child) throws in
      let ada = try parent.person("Ada")
      ada["age"] = 99
      let cat = parent.make("Pet", ["name": "Cat", "owner": ada])
      let ours = try child.person("Ada")
      #expect(ours["age"] as? Int == 99)
      #expect(ours.names("pets") == ada.names("pets"))
      let pet = try #require(ours.members("pets").first { $0["name"] as? String == "Cat" })
      #expect(pet["owner"] as? NSManagedObject === ours)
      #expect(pet.objectID == cat.objectID)
    }
  }

  @Test("An object that its parent has deleted is missing in a child.")
  func missing() throws {
    try work { (parent, child) throws in
      let bob = try child.person("Bob").objectID
      parent.delete(try parent.person("Bob"))
      child.reset()
      #expect(thrown { try child.existingObject(with: bob) }?.code == NSManagedObjectReferentialIntegrityError)
    }
  }

  // MARK: Saving

  @Test("A child saves into its parent, and its parent into the store.")
  func saving() throws {
    try work { (parent, child) throws in
      stack.expectCalls([]) {
        let dan = child.make("Person")
        dan["name"] = "Dan"
        #expect(child.insertedObjects == [dan])
        #expect(!parent.hasChanges)
      }
      let ada = try child.person("Ada")
      ada["age"] = 37
      child.delete(try child.person("Bob"))
      try child.save()
      #expect(!child.hasChanges)
      #expect(parent.insertedObjects.map { $0["name"] as? String } == ["Dan"])
      #expect(parent.updatedObjects.contains { $0.objectID == ada.objectID })
      #expect(parent.deletedObjects.count == 1)
      #expect(try parent.person("Ada")["age"] as? Int == 37)
      #expect(try stack.work { try $0.names() } == "Ada Bob Cleo")
      try parent.save()
      #expect(try stack.work { try $0.names() } == "Ada Cleo Dan")
      #expect(try stack.work { try $0.person("Ada")["age"] as? Int } == 37)
    }
  }

  @Test("A save of a child changes the relationships in its parent, both ends of each.")
  func relationships() throws {
    try work { (parent, child) throws in
      let (ada, bob) = (try child.person("Ada"), try child.person("Bob"))
      let former = bob.names("pets")
      let cat = child.make("Pet", ["name": "Cat", "owner": ada])
      let house = child.make("House", ["street": "Elm"])
      ada["home"] = house
      bob["home"] = house
      ada["friends"] = NSSet(array: [bob])
      try child.save()
      let theirs = try parent.person("Ada")
      #expect(theirs.names("pets").contains("Cat"))
      let home = try #require(theirs["home"] as? NSManagedObject)
      #expect(home.names("residents").contains("Bob") && home.names("residents").contains("Ada"))
      #expect(theirs.names("friends") == ["Bob"])
      #expect(try parent.person("Bob").names("friends") == ["Ada"])
      cat["owner"] = bob
      ada["home"] = nil
      try child.save()
      #expect(!theirs.names("pets").contains("Cat"))
      #expect(try parent.person("Bob").names("pets") == (former + ["Cat"]).sorted())
      #expect(home.names("residents").contains("Bob") && !home.names("residents").contains("Ada"))
      try parent.save()
      try stack.work { (context) throws in
        #expect(try context.person("Bob").names("pets") == (former + ["Cat"]).sorted())
        #expect(try context.person("Ada")["home"] == nil)
      }
    }
  }

  @Test("A save of a child takes the order of an ordered relationship to its parent.")
  func ordered() throws {
    try work { (parent, child) throws in
      let ada = try child.person("Ada")
      let errands = ["c", "a", "b"].map { child.make("Errand", ["title": $0]) }
      ada["errands"] = NSOrderedSet(array: errands)
      try child.save()
      func titles(_ context: NSManagedObjectContext) throws -> [String?] {
        try context.person("Ada").members("errands").map { $0["title"] as? String }
      }
      #expect(try titles(parent) == ["c", "a", "b"])
      ada["errands"] = NSOrderedSet(array: [errands[2], errands[0], errands[1]])
      try child.save()
      #expect(try titles(parent) == ["b", "c", "a"])
      ada["errands"] = NSOrderedSet(array: [errands[0], child.make("Errand", ["title": "d"]), errands[2]])
      try child.save()
      #expect(try titles(parent) == ["c", "d", "b"])
      try parent.save()
      #expect(try stack.work { try titles($0) } == ["c", "d", "b"])
    }
  }

  @Test("Objects that a child has inserted and deleted do not reach its parent.")
  func annihilated() throws {
    try work { (parent, child) throws in
      let dan = child.make("Person", ["name": "Dan"])
      child.delete(dan)
      try child.save()
      #expect(!parent.hasChanges)
      // Inserted and saved by the child, deleted before the parent saves.
      let eve = child.make("Person", ["name": "Eve"])
      try child.save()
      #expect(parent.insertedObjects.count == 1)
      child.delete(eve)
      try child.save()
      #expect(!parent.hasChanges)
      stack.expectCalls([]) { _ = parent.insertedObjects }
    }
  }

  @Test("A deletion cascades in a child, and from there in its parent.")
  func cascade() throws {
    try work { (parent, child) throws in
      let ada = try child.person("Ada")
      child.make("Pet", ["name": "Cat", "owner": ada])
      try child.save()
      // The parent knows a pet that the child does not know.
      parent.make("Pet", ["name": "Dog", "owner": try parent.person("Ada")])
      child.delete(ada)
      try child.save()
      #expect(try parent.all("Pet", "owner.name = 'Ada'").isEmpty)
      #expect(try parent.all("Pet", "name IN {'Cat', 'Dog'}").isEmpty)
      #expect(try parent.names() == "Bob Cleo")
    }
  }

  @Test("A child validates its changes when it saves; a failed save changes nothing in its parent.")
  func validation() throws {
    try work { (parent, child) throws in
      let dan = child.make("Person")
      try child.person("Ada")["age"] = 37
      #expect(thrown { try child.save() }?.code == NSValidationMissingMandatoryPropertyError)
      #expect(!parent.hasChanges)
      #expect(child.insertedObjects == [dan] && child.hasChanges)
    }
  }

  @Test("A rollback of a child returns to what its parent has; the parent keeps its changes.")
  func rollback() throws {
    try work { (parent, child) throws in
      try parent.person("Ada")["age"] = 50
      let ada = try child.person("Ada")
      #expect(ada["age"] as? Int == 50)
      ada["age"] = 60
      child.make("Person", ["name": "Dan"])
      child.rollback()
      #expect(ada["age"] as? Int == 50 && !child.hasChanges)
      #expect(try parent.person("Ada")["age"] as? Int == 50 && parent.hasChanges)
    }
  }

  @Test("A rollback of a parent takes back what its children have saved into it.")
  func parentRollback() throws {
    try work { (parent, child) throws in
      child.make("Person", ["name": "Dan"])
      try child.person("Ada")["age"] = 60
      try child.save()
      parent.rollback()
      #expect(!parent.hasChanges)
      child.reset()
      #expect(try child.names() == "Ada Bob Cleo")
      #expect(try child.person("Ada")["age"] as? Int != 60)
    }
  }

  @Test("Refreshing an object of a child reads it from its parent.")
  func refresh() throws {
    try work { (parent, child) throws in
      let ada = try child.person("Ada")
      let age = ada["age"] as? Int
      ada["nickname"] = "mine"
      try parent.person("Ada")["age"] = 50
      #expect(ada["age"] as? Int == age)
      child.refresh(ada, mergeChanges: true)
      #expect(ada["age"] as? Int == 50 && ada["nickname"] as? String == "mine")
      child.refresh(ada, mergeChanges: false)
      #expect(ada["age"] as? Int == 50 && ada["nickname"] as? String != "mine")
    }
  }

  // MARK: Others

  @Test("Of an object that two children have changed, the parent takes the properties that each has changed.")
  func siblings() throws {
    try work { (parent, child) throws in
      let other = parent.makeChild()
      let ada = try child.person("Ada")
      try other.performAndWait {
        let ada = try other.person("Ada")
        ada["nickname"] = "other"
        ada["age"] = 1
        try other.save()
      }
      ada["age"] = 2
      try child.save()
      let theirs = try parent.person("Ada")
      #expect(theirs["nickname"] as? String == "other" && theirs["age"] as? Int == 2)
      try parent.save()
      // Again, now that the parent has saved another version of the row, which the children have not read.
      try other.performAndWait {
        try other.person("Ada")["age"] = 3
        try other.save()
      }
      ada["age"] = 4
      try child.save()
      try parent.save()
      #expect(try stack.work { try $0.person("Ada")["age"] as? Int } == 4)
    }
  }

  @Test("A save of a child fails if its parent has deleted a changed object, unless the merge policy decides.")
  func deletedInParent() throws {
    try work { (parent, child) throws in
      let bob = try child.person("Bob")
      bob["age"] = 70
      parent.delete(try parent.person("Bob"))
      #expect(thrown { try child.save() }?.code == NSManagedObjectMergeError)
      #expect(bob["age"] as? Int == 70 && child.hasChanges)
      child.mergePolicy = NSMergePolicy.mergeByPropertyStoreTrump
      try child.save()
      #expect(!child.hasChanges)
      #expect(try parent.names() == "Ada Cleo")
      #expect(try child.names() == "Ada Cleo")
    }
  }

  @Test(
    "New references to an object whose row is gone end a save of a child as they would end a save of its parent.",
    arguments: ["friends", "pets", "owner"], [true, false])
  func goneReferences(_ name: String, _ isRead: Bool) throws {
    for policy in [NSMergePolicy.error, .mergeByPropertyStoreTrump, .mergeByPropertyObjectTrump, .overwrite] {
      let alone = try goneReference(name, isRead, policy, isChild: false)
      let pushed = try goneReference(name, isRead, policy, isChild: true)
      #expect(pushed == alone, "\(policy.mergeType)")
    }
  }

  /// How a save ends, and what is saved, if an object comes to refer to an object that somebody else has deleted.
  private func goneReference(
    _ name: String, _ isRead: Bool, _ policy: NSMergePolicy, isChild: Bool
  ) throws -> [String] {
    let stack = try Stack<RecordingStore>()
    return try stack.work { root in
      root.mergePolicy = policy
      let context = isChild ? root.makeChild() : root
      context.mergePolicy = policy
      return try context.performAndWait {
        let rex = try #require(try context.all("Pet").first)
        let owner = try name == "owner" ? rex : context.person("Bob")
        let gone = try name == "pets" ? rex : context.person("Cleo")
        if isRead {
          _ = gone["name"]
        } else {
          context.refreshAllObjects()
        }
        try stack.work { other in
          other.delete(other.object(with: gone.objectID))
          try other.save()
        }
        owner.setValue(name == "owner" ? gone : NSSet(array: owner.members(name) + [gone]), forKey: name)
        let error = thrown { try context.save() } ?? (isChild ? thrown { try root.save() } : nil)
        let saved = stack.work { other in
          let saved = other.object(with: owner.objectID)
          return name == "owner" ? [(saved[name] as? NSManagedObject)?["name"] as? String ?? "nil"] : saved.names(name)
        }
        return [error.map { "\($0.code)" } ?? "saved"] + saved
      }
    }
  }

  @Test("What somebody else has saved since a child has read it is a conflict when the parent saves.")
  func conflict() throws {
    try work { (parent, child) throws in
      let ada = try child.person("Ada")
      _ = ada["age"]
      try stack.work { other in
        try other.person("Ada")["age"] = 80
        try other.save()
      }
      ada["age"] = 81
      try child.save()
      #expect(thrown { try parent.save() }?.code == NSManagedObjectMergeError)
      parent.mergePolicy = NSMergePolicy.mergeByPropertyObjectTrump
      try parent.save()
      #expect(try stack.work { try $0.person("Ada")["age"] as? Int } == 81)
    }
  }

  @Test("A child that merges automatically sees what its parent and other children save.", arguments: [true, false])
  func automatically(_ isMerging: Bool) throws {
    let parent = stack.context()
    let (child, other) = (parent.makeChild(), parent.makeChild())
    child.automaticallyMergesChangesFromParent = isMerging
    let ada = try child.performAndWait { () throws in
      let ada = try child.person("Ada")
      ada["nickname"] = "mine"
      return (object: ada, age: ada["age"] as? Int)
    }
    try other.performAndWait {
      try other.person("Ada")["age"] = 90
      try other.save()
    }
    child.performAndWait { #expect(ada.object["age"] as? Int == (isMerging ? 90 : ada.age)) }
    try parent.performAndWait { () throws in
      try parent.person("Ada")["age"] = 91
      try parent.save()
    }
    child.performAndWait {
      #expect(ada.object["age"] as? Int == (isMerging ? 91 : ada.age))
      #expect(ada.object["nickname"] as? String == "mine")
    }
  }

  @Test("Saves go up level by level, and every level sees those above it.")
  func threeLevels() throws {
    let root = stack.context()
    let middle = root.makeChild()
    let leaf = middle.makeChild()
    try leaf.performAndWait { () throws in
      leaf.make("Person", ["name": "Dan"])
      try leaf.person("Ada")["age"] = 37
      leaf.delete(try leaf.person("Bob"))
      try leaf.save()
    }
    #expect(try root.performAndWait { try root.names() } == "Ada Bob Cleo")
    #expect(try middle.performAndWait { try middle.names() } == "Ada Cleo Dan")
    try middle.performAndWait { try middle.save() }
    #expect(try root.performAndWait { try root.names() } == "Ada Cleo Dan")
    try root.performAndWait { try root.person("Ada")["nickname"] = "Countess" }
    try leaf.performAndWait { () throws in
      leaf.reset()
      let ada = try leaf.person("Ada")
      #expect(ada["age"] as? Int == 37 && ada["nickname"] as? String == "Countess")
      ada["nickname"] = nil
      try leaf.save()
    }
    for context in [middle, root] { try context.performAndWait { try context.save() } }
    try stack.work { (context) throws in
      #expect(try context.names() == "Ada Cleo Dan")
      #expect(try context.person("Ada")["nickname"] == nil)
    }
    // What has been saved at all levels can be changed and saved again at all levels.
    for age in 38...40 {
      try leaf.performAndWait { () throws in
        try leaf.person("Ada")["age"] = age
        try leaf.save()
      }
      for context in [middle, root] { try context.performAndWait { try context.save() } }
      #expect(try stack.work { try $0.person("Ada")["age"] as? Int } == age)
    }
  }

  @Test("A save of a child notifies of its objects, and its parent of their changes there.")
  func notifications() throws {
    try work { (parent, child) throws in
      let saved = Notices(NSManagedObjectContext.didSaveObjectsNotification, of: child)
      let changed = Notices(NSManagedObjectContext.didChangeObjectsNotification, of: parent)
      let parentSaved = Notices(NSManagedObjectContext.didSaveObjectsNotification, of: parent)
      let dan = child.make("Person", ["name": "Dan"])
      let ada = try child.person("Ada")
      ada["age"] = 37
      try child.save()
      #expect(saved.objects(.insertedObjects) == [dan] && saved.objects(.updatedObjects) == [ada])
      #expect(changed.objects(.insertedObjects) == parent.insertedObjects)
      #expect(changed.objects(.updatedObjects).map(\.objectID) == [ada.objectID])
      #expect(parentSaved.count == 0)
    }
  }

  @Test("After a parent has saved, it keeps no object that its children have saved into it.")
  func registered() throws {
    try work { (parent, child) throws in
      child.make("Person", ["name": "Dan"])
      try child.person("Ada")["age"] = 37
      try child.save()
      #expect(parent.registeredObjects.count >= 2)
      try parent.save()
      #expect(parent.registeredObjects.isEmpty)
    }
  }

  @Test("A child retains its parent.")
  func retaining() throws {
    var parent: NSManagedObjectContext? = stack.context()
    weak let known = parent
    let child = try #require(parent).makeChild()
    parent = nil
    #expect(known != nil)
    #expect(try child.performAndWait { try child.names() } == "Ada Bob Cleo")
  }

  @Test("A child and its parent wait for each other in either direction without a deadlock.")
  func waiting() throws {
    let parent = stack.context()
    let child = parent.makeChild()
    try parent.performAndWait { () throws in
      try child.performAndWait { () throws in
        try parent.performAndWait { () throws in
          child.make("Person", ["name": "Dan"])
          try child.save()
          #expect(try parent.names() == "Ada Bob Cleo Dan")
        }
      }
    }
    try child.performAndWait { () throws in
      try parent.performAndWait { () throws in
        try child.performAndWait { () throws in #expect(try child.names() == "Ada Bob Cleo Dan") }
      }
    }
  }
}

extension NSManagedObjectContext {
  /// A context with a queue of its own, whose parent is this context.
  fileprivate func makeChild() -> NSManagedObjectContext {
    let child = NSManagedObjectContext(.privateQueue)
    child.parent = self
    return child
  }
}
