// Apple's Core Data enforces uniqueness constraints only in its SQLite store, and does not document what policies do
// with relationships.
#if !canImport(Darwin)
  import CoreData
  import Testing

  @Suite("Merge policies and uniqueness constraints", .anyStore)
  struct ConstraintPolicyTests {
    private let town: UniqueTown

    init() throws { town = try UniqueTown() }

    private static let preferringTheRow: [NSMergePolicy] = [.mergeByPropertyStoreTrump, .rollback]
    private static let preferringTheObject: [NSMergePolicy] = [.mergeByPropertyObjectTrump, .overwrite]
    private static let resolving = preferringTheRow + preferringTheObject

    @Test("With the error policy a save fails with all violations and changes nothing.")
    func error() throws {
      town.work { context in
        let eve = context.make("Person", ["name": "Eve", "nickname": "Countess"])
        let error = thrown { try context.save() }
        #expect(violations(error).first?.conflictingObjects == [eve])
        #expect(context.insertedObjects == [eve] && eve["nickname"] as? String == "Countess")
      }
      #expect(try town.people() == ["Ada 36 Countess"])
    }

    @Test(
      "If the row wins, the inserted object is removed together with what deleting it would delete.",
      arguments: preferringTheRow)
    func insertedGivesWay(_ policy: NSMergePolicy) throws {
      try town.work(policy) { context in
        let eve = context.make("Person", ["name": "Eve", "nickname": "Countess"])
        context.make("Pet", ["name": "Tom", "owner": eve])
        let house = context.make("House", ["street": "Oak"])
        eve["home"] = house
        try context.save()
        #expect(!context.hasChanges && eve.managedObjectContext == nil)
        #expect(house.members("residents").isEmpty)
      }
      #expect(try town.people() == ["Ada 36 Countess"])
      try town.work { context throws in
        #expect(try context.all("Pet").map { $0["name"] as? String } == ["Rex"])
        #expect(try context.count(for: people(nil, "House")) == 2)
      }
    }

    @Test(
      "Saved objects that were related to a removed inserted object get their former relationships back.",
      arguments: preferringTheRow)
    func relationshipsTakenBack(_ policy: NSMergePolicy) throws {
      try town.work(policy) { context in
        let rex = try #require(try context.all("Pet").first)
        let elm = try #require(try context.all("House").first)
        let eve = context.make("Person", ["name": "Eve", "nickname": "Countess", "home": elm])
        rex["owner"] = eve
        try context.save()
        #expect((rex["owner"] as? NSManagedObject)?["name"] as? String == "Ada")
        #expect(elm.names("residents") == ["Ada"])
        #expect(try context.person("Ada").names("pets") == ["Rex"])
      }
      try town.work { context throws in
        #expect(try context.person("Ada").names("pets") == ["Rex"])
        #expect(try context.all("House").first?.names("residents") == ["Ada"])
      }
    }

    @Test("If the row wins, a changed object keeps its other changes.", arguments: preferringTheRow)
    func updatedGivesWay(_ policy: NSMergePolicy) throws {
      try town.work { context in
        context.make("Person", ["name": "Bob", "nickname": "Bobby"])
        try context.save()
      }
      try town.work(policy) { context in
        let bob = try context.person("Bob")
        (bob["nickname"], bob["age"]) = ("Countess", 25)
        try context.save()
        #expect(bob["nickname"] as? String == "Bobby")
      }
      #expect(try town.people() == ["Ada 36 Countess", "Bob 25 Bobby"])
    }

    @Test("If the object wins, the row's object takes over its values and keeps its own identity.")
    func insertedOverwrites() throws {
      let id = try town.work { try $0.person("Ada").objectID }
      try town.work(.mergeByPropertyObjectTrump) { context in
        let eve = context.make("Person", ["name": "Eve", "age": NSNull(), "nickname": "Countess"])
        context.make("Pet", ["name": "Tom", "owner": eve])
        eve["errands"] = NSOrderedSet(array: ["milk", "bread"].map { context.make("Errand", ["title": $0]) })
        eve["friends"] = NSSet(object: context.make("Person", ["name": "Bob"]))
        try context.save()
        #expect(!context.hasChanges && eve.managedObjectContext == nil)
      }
      #expect(try town.people() == ["Bob 18 nil", "Eve 36 Countess"])
      try town.work { context in
        let eve = try context.person("Eve")
        #expect(eve.objectID == id)
        #expect((eve["home"] as? NSManagedObject)?["street"] as? String == "Elm")
        #expect(eve.names("pets") == ["Tom"])
        #expect(eve.members("errands").map { $0["title"] as? String } == ["milk", "bread"])
        #expect(eve.names("friends") == ["Bob"])
        #expect(try context.person("Bob").names("friends") == ["Eve"])
      }
    }

    @Test("With the overwrite policy, the row's object also takes over what the inserted object does not have.")
    func insertedOverwritesAll() throws {
      try town.work(.overwrite) { context in
        context.make("Person", ["name": "Eve", "age": NSNull(), "nickname": "Countess"])
        try context.save()
      }
      try town.work { context in
        let eve = try context.person("Eve")
        #expect(eve["age"] == nil && eve["home"] == nil && eve.members("pets").isEmpty)
        #expect(try context.all("Person").count == 1)
      }
    }

    @Test("An object of a subentity takes over the values that both entities have.", arguments: preferringTheObject)
    func subentity(_ policy: NSMergePolicy) throws {
      try town.work { context in
        context.make("Child", ["name": "Cleo", "nickname": "Kid", "grade": 2])
        try context.save()
      }
      try town.work(policy) { context in
        context.make("Person", ["name": "Cleopatra", "nickname": "Kid"])
        try context.save()
      }
      try town.work { context in
        let cleo = try #require(try context.all("Child").first)
        #expect(cleo["name"] as? String == "Cleopatra" && cleo["grade"] as? Int == 2)
      }
    }

    @Test(
      "If a changed object wins, the row's object is deleted by the delete rules.", arguments: preferringTheObject
    )
    func updatedReplaces(_ policy: NSMergePolicy) throws {
      try town.work { context in
        context.make("Person", ["name": "Bob", "nickname": "Bobby"])
        try context.save()
      }
      try town.work(policy) { context in
        try context.person("Bob")["nickname"] = "Countess"
        try context.save()
        #expect(!context.hasChanges)
      }
      #expect(try town.people() == ["Bob 18 Countess"])
      try town.work { context throws in
        #expect(try context.count(for: people(nil, "Pet")) == 0)
        #expect(try context.all("House").first?.members("residents").isEmpty == true)
      }
    }

    @Test("Of several violating objects of the context, the first stays.", arguments: resolving)
    func amongObjects(_ policy: NSMergePolicy) throws {
      try town.work { context in
        context.make("Person", ["name": "Bob", "nickname": "Bobby"])
        try context.save()
      }
      try town.work(policy) { context in
        try context.person("Bob")["nickname"] = "Twin"
        let eve = context.make("Person", ["name": "Eve", "nickname": "Twin"])
        try context.save()
        #expect(eve.managedObjectContext == nil)
      }
      #expect(try town.people() == ["Ada 36 Countess", "Bob 18 Twin"])
    }

    @Test("If an inserted object is the first, it stays, and a changed object gets its former value back.")
    func amongObjectsByHand() throws {
      try town.work { context in
        let ada = try context.person("Ada")
        ada["nickname"] = "Twin"
        let eve = context.make("Person", ["name": "Eve", "nickname": "Twin"])
        let conflict = NSConstraintConflict(
          constraint: ["nickname"], database: nil, databaseSnapshot: nil, conflicting: [eve, ada],
          conflictingSnapshots: [[String: Any](), [String: Any]()])
        try NSMergePolicy(merge: .overwriteMergePolicyType).resolve(mergeConflicts: [conflict])
        #expect(ada["nickname"] as? String == "Countess" && !ada.hasPersistentChangedValues)
        try context.save()
      }
      #expect(try town.people() == ["Ada 36 Countess", "Eve 18 Twin"])
    }

    @Test("The row's object may also have changes in this context.", arguments: preferringTheObject)
    func changedRow(_ policy: NSMergePolicy) throws {
      try town.work(policy) { context in
        let ada = try context.person("Ada")
        ada["age"] = 37
        context.make("Person", ["name": "Eve", "nickname": "Countess"])
        try context.save()
        #expect(ada["name"] as? String == "Eve")
      }
      #expect(try town.people() == ["Eve 18 Countess"])
    }

    @Test("A row that another context has inserted meanwhile is taken over.", arguments: preferringTheObject)
    func otherContext(_ policy: NSMergePolicy) throws {
      try town.work(policy) { context in
        let ada = try context.person("Ada")
        #expect(ada["age"] as? Int == 36)
        context.make("Person", ["name": "Eve", "nickname": "Enchantress"])
        try town.work { other in
          try other.person("Ada")["nickname"] = "Enchantress"
          try other.save()
        }
        try context.save()
        #expect(ada["name"] as? String == "Eve")
      }
      #expect(try town.people() == ["Eve 18 Enchantress"])
    }

    @Test("A relationship without an inverse leads to the object that takes over, or to its former destination.")
    func withoutInverse() throws {
      try town.work(.mergeByPropertyObjectTrump) { context in
        let eve = context.make("Person", ["name": "Eve", "nickname": "Countess"])
        let house = context.make("House", ["street": "Oak", "keeper": eve])
        try context.save()
        #expect((house["keeper"] as? NSManagedObject)?.objectID == (try context.person("Eve").objectID))
        context.mergePolicy = NSMergePolicy.mergeByPropertyStoreTrump
        house["keeper"] = context.make("Person", ["name": "Dan", "nickname": "Countess"])
        try context.save()
        #expect((house["keeper"] as? NSManagedObject)?["name"] as? String == "Eve")
      }
    }

    @Test("The objects that resolving a violation has changed are validated.")
    func validated() throws {
      let model = UniqueTown.model()
      model.entitiesByName["Errand"]?.propertiesByName["person"]?.isOptional = false
      let town = try UniqueTown(model)
      town.work(.mergeByPropertyStoreTrump) { context in
        let eve = context.make("Person", ["name": "Eve", "nickname": "Countess"])
        context.make("Errand", ["title": "milk", "person": eve])
        #expect(thrown { try context.save() }?.code == 1570)
      }
    }
  }
#endif
