// Apple's Core Data enforces uniqueness constraints only in its SQLite store; here the in-memory store does, too.
#if !canImport(Darwin)
  import CoreData
  import Testing

  @Suite("Uniqueness constraints in the in-memory store", .anyStore)
  struct UniquenessTests {
    private let town: UniqueTown

    init() throws { town = try UniqueTown() }

    /// The violations that a save of new people reports.
    private func saving(_ people: [String: Any]..., of entity: String = "Person") -> [NSConstraintConflict] {
      town.work { context in
        for person in people { context.make(entity, person) }
        let error = thrown { try context.save() }
        let found = violations(error)
        #expect(error == nil || !found.isEmpty)
        return found
      }
    }

    @Test("A uniqueness constraint refuses a value that another row has.")
    func simple() throws {
      let conflicts = saving(["name": "Eve", "nickname": "Countess"])
      #expect(conflicts.map(\.constraint) == [["nickname"]])
      #expect(conflicts.first?.databaseSnapshot?["name"] as? String == "Ada")
      #expect(try town.people() == ["Ada 36 Countess"])
    }

    @Test("A compound uniqueness constraint refuses equal combinations only.")
    func compound() throws {
      #expect(saving(["name": "Ada", "age": 36]).map(\.constraint) == [["name", "age"]])
      #expect(saving(["name": "Ada", "age": 37]).isEmpty)
      #expect(saving(["name": "Bob", "age": 36]).isEmpty)
    }

    @Test("A uniqueness constraint covers the objects of its entity and of subentities together.")
    func inherited() throws {
      #expect(saving(["name": "Cleo", "nickname": "Countess"], of: "Child").count == 1)
      #expect(saving(["name": "Cleo", "nickname": "Kid"], of: "Child").isEmpty)
      #expect(saving(["name": "Eve", "nickname": "Kid"]).count == 1)
    }

    @Test("Nil never violates a uniqueness constraint, also as one of several attributes.")
    func null() throws {
      #expect(saving(["name": "Bob"], ["name": "Eve"]).isEmpty)
      town.work { context in
        context.make("Person", ["name": "Dan", "age": NSNull()])
        context.make("Person", ["name": "Dan", "age": NSNull()])
        #expect(throws: Never.self) { try context.save() }
      }
    }

    @Test("A uniqueness constraint compares strings as predicates do.")
    func strings() throws {
      #expect(saving(["name": "Zoë", "nickname": "Zo\u{EB}"]).isEmpty)
      #expect(saving(["name": "Eve", "nickname": "Zoe\u{308}"]).count == 1)
      #expect(saving(["name": "Eve", "nickname": "zo\u{EB}"]).isEmpty)
    }

    @Test("Two objects can exchange unique values in one save.")
    func swap() throws {
      #expect(saving(["name": "Bob", "nickname": "Bobby"]).isEmpty)
      try town.work { context in
        try context.person("Ada")["nickname"] = "Bobby"
        try context.person("Bob")["nickname"] = "Countess"
        #expect(throws: Never.self) { try context.save() }
      }
      #expect(try town.people() == ["Ada 36 Bobby", "Bob 18 Countess"])
      #expect(saving(["name": "Eve", "nickname": "Bobby"]).first?.databaseSnapshot?["name"] as? String == "Ada")
    }

    @Test("A unique value can be used again once it was changed or deleted, also in the same save.")
    func released() throws {
      try town.work { context in
        try context.person("Ada")["nickname"] = "Enchantress"
        context.make("Person", ["name": "Eve", "nickname": "Countess"])
        #expect(throws: Never.self) { try context.save() }
        for person in try context.all("Person") { context.delete(person) }
        context.make("Person", ["name": "Dan", "nickname": "Countess"])
        #expect(throws: Never.self) { try context.save() }
      }
      #expect(saving(["name": "Bob", "nickname": "Enchantress"]).isEmpty)
      #expect(try town.people() == ["Bob 18 Enchantress", "Dan 18 Countess"])
    }

    @Test("A save reports all violations of uniqueness, saves nothing, and can be corrected.")
    func several() throws {
      try town.work { context in
        let eve = context.make("Person", ["name": "Ada", "age": 36, "nickname": "Twin"])
        let twin = context.make("Person", ["name": "Bob", "nickname": "Twin"])
        context.make("House", ["street": "Oak"])
        let conflicts = violations(thrown { try context.save() })
        #expect(conflicts.count == 2)
        let own = try #require(conflicts.first { $0.databaseObject == nil })
        #expect(own.constraint == ["nickname"] && own.constraintValues["nickname"] as? String == "Twin")
        #expect(Set(own.conflictingObjects) == [eve, twin] && own.databaseSnapshot == nil)
        #expect(own.conflictingSnapshots.map(\.isEmpty) == [true, true])
        let stored = try #require(conflicts.first { $0.databaseObject != nil })
        #expect(stored.databaseObject?["nickname"] as? String == "Countess")
        #expect(stored.conflictingObjects == [eve])
        #expect(try town.work { try $0.count(for: people(nil, "House")) } == 1)
        (eve["age"], twin["nickname"]) = (37, "Other")
        #expect(throws: Never.self) { try context.save() }
      }
      #expect(try town.people() == ["Ada 36 Countess", "Ada 37 Twin", "Bob 18 Other"])
    }

    @Test("A violation of uniqueness between two contexts is detected, also for an updated value.")
    func contexts() throws {
      #expect(saving(["name": "Bob", "nickname": "Bobby"]).isEmpty)
      try town.work { first in
        let bob = try first.person("Bob")
        bob["nickname"] = "Robert"
        #expect(saving(["name": "Eve", "nickname": "Robert"]).isEmpty)
        let conflict = try #require(violations(thrown { try first.save() }).first)
        #expect(conflict.databaseObject?["name"] as? String == "Eve")
        #expect(conflict.conflictingObjects == [bob])
        #expect(conflict.conflictingSnapshots.first?["nickname"] as? String == "Bobby")
      }
    }
  }
#endif
