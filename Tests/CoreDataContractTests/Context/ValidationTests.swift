import CoreData
import Testing

@Suite("Validation", .anyStore)
struct ValidationTests {
  private let stack: Stack<RecordingStore>

  init() throws { stack = try Stack() }

  @Test("Validation finds that a mandatory value is missing.")
  func mandatory() throws {
    try stack.work { context in
      let dan = context.make("Person")
      let error = try #require(thrown { try context.save() })
      #expect(error.domain == NSCocoaErrorDomain && error.code == 1570)
      #expect(error.userInfo["NSValidationErrorKey"] as? String == "name")
      #expect(error.userInfo["NSValidationErrorObject"] as? NSManagedObject === dan)
    }
  }

  @Test("Validation finds a value that a predicate of the model rejects.")
  func predicate() throws {
    try stack.work { context in
      let ada = try context.person("Ada")
      ada["age"] = -1
      let error = try #require(thrown { try context.save() })
      #expect(error.code == 1550)
      #expect(error.userInfo["NSValidationErrorKey"] as? String == "age")
      #expect(error.userInfo["NSValidationErrorObject"] as? NSManagedObject === ada)
      #expect(error.userInfo["NSValidationErrorValue"] as? Int == -1)
      #expect((error.userInfo["NSValidationErrorPredicate"] as? NSPredicate) == NSPredicate(format: "SELF >= 0"))
    }
  }

  @Test("Validation reports several problems in one error.")
  func several() throws {
    try stack.work { context in
      context.make("Person", ["age": -1])
      try context.person("Ada")["name"] = nil
      let error = try #require(thrown { try context.save() })
      #expect(error.code == 1560)
      let details = try #require(error.userInfo[NSDetailedErrorsKey] as? [NSError])
      #expect(details.map(\.code).sorted() == [1550, 1570, 1570])
    }
  }

  @Test("Validation accepts a mandatory value that has a default or is transient.")
  func fine() throws {
    try stack.work { context throws in
      context.make("Person", ["name": "Dan"])
      #expect(throws: Never.self) { try context.save() }
    }
  }

  @Test("A single object can be validated.")
  func single() throws {
    try stack.work { context in
      let dan = context.make("Person")
      #expect(thrown { try dan.validateForInsert() }?.code == 1570)
      dan["name"] = "Dan"
      #expect(throws: Never.self) { try dan.validateForInsert() }
      let house = try context.all("House")[0]
      #expect(thrown { try house.validateForDelete() }?.code == 1600)
      house["street"] = "Oak"
      #expect(throws: Never.self) { try house.validateForUpdate() }
    }
  }

  @Test("Validation finds too few and too many objects in a relationship.")
  func counts() throws {
    let (team, player) = (Town.entity("Team"), Town.entity("Player"))
    let players = Town.relationship("players", to: player)
    let plays = Town.relationship("team", to: team, isToMany: false)
    players.isOptional = false
    players.minCount = 2
    players.maxCount = 3
    players.inverseRelationship = plays
    plays.inverseRelationship = players
    team.properties = [players]
    player.properties = [plays]
    let model = NSManagedObjectModel()
    model.entities = [team, player]
    try Stack<RecordingStore>(model, Backing()).work { context in
      let team = context.make("Team")
      context.make("Player", ["team": team])
      #expect(thrown { try context.save() }?.code == 1580)
      context.make("Player", ["team": team])
      #expect(throws: Never.self) { try context.save() }
      for _ in 0..<2 { context.make("Player", ["team": team]) }
      #expect(thrown { try context.save() }?.code == 1590)
    }
  }

  @Test("A mandatory to-many relationship with a minimum count of 0 may be empty, whatever its maximum.")
  func emptyMandatory() throws {
    for maximum in [0, 2] {
      let (task, next) = (Town.entity("Task"), Town.entity("Step"))
      let steps = Town.relationship("steps", to: next)
      steps.isOptional = false
      steps.maxCount = maximum
      task.properties = [steps]
      let model = NSManagedObjectModel()
      model.entities = [task, next]
      try Stack<RecordingStore>(model, Backing()).work { context in
        context.make("Task")
        #expect(throws: Never.self) { try context.save() }
        context.make("Task", ["steps": NSSet(array: (0..<3).map { _ in context.make("Step") })])
        #expect(thrown { try context.save() }?.code == (maximum == 0 ? nil : 1590))
      }
    }
  }
}
