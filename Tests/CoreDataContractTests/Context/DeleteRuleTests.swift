import CoreData
import Testing

@Suite("Delete rules", .anyStore)
struct DeleteRuleTests {
  private let stack: Stack<RecordingStore>

  init() throws { stack = try Stack() }

  @Test("The nullify rule removes the deleted object from the relationships to it.")
  func nullify() throws {
    try stack.work { context in
      let (ada, bob) = (try context.person("Ada"), try context.person("Bob"))
      context.delete(ada)
      context.processPendingChanges()
      #expect(bob.names("friends") == [])
      #expect(!bob.isDeleted && bob.isUpdated)
      try context.save()
    }
    #expect(stack.backing.rows[2]?.toMany["friends"] == [])
  }

  @Test("The cascade rule deletes the related objects.")
  func cascade() throws {
    try stack.work { context in
      let (ada, rex) = (try context.person("Ada"), try context.all("Pet")[0])
      context.delete(ada)
      context.processPendingChanges()
      #expect(rex.isDeleted && context.deletedObjects == [ada, rex])
      try context.save()
    }
    #expect(stack.backing.rows[1] == nil && stack.backing.rows[5] == nil)
  }

  @Test("The no-action rule leaves the related objects alone.")
  func noAction() throws {
    try stack.work { context in
      let (ada, bread) = (try context.person("Ada"), try context.all("Errand", "title = 'bread'")[0])
      context.delete(ada)
      context.processPendingChanges()
      #expect(!bread.isDeleted)
      try context.save()
    }
    #expect(stack.backing.rows[6] != nil)
  }

  @Test("The deny rule makes a deletion invalid as long as there are related objects.")
  func deny() throws {
    try stack.work { context in
      let house = try context.all("House")[0]
      context.delete(house)
      let error = try #require(thrown { try context.save() })
      #expect(error.domain == NSCocoaErrorDomain && error.code == 1600)
      #expect(error.userInfo["NSValidationErrorKey"] as? String == "residents")
    }
    #expect(stack.backing.rows[4] != nil)
  }

  @Test("The deny rule permits a deletion if the related objects are deleted, too.")
  func denyLifted() throws {
    try stack.work { context in
      context.delete(try context.all("House")[0])
      context.delete(try context.person("Ada"))
      context.delete(try context.person("Bob"))
      try context.save()
    }
    #expect(stack.backing.rows.keys.sorted() == [3, 6, 7])
  }

  @Test("Delete rules apply at the end of the event, or only when saving if the context says so.")
  func endOfEvent() throws {
    try stack.work { context in
      let (ada, rex) = (try context.person("Ada"), try context.all("Pet")[0])
      #expect(context.propagatesDeletesAtEndOfEvent)
      context.delete(ada)
      #expect(!rex.isDeleted)
      context.processPendingChanges()
      #expect(rex.isDeleted)
    }
    try stack.work { context in
      context.propagatesDeletesAtEndOfEvent = false
      let (ada, rex) = (try context.person("Ada"), try context.all("Pet")[0])
      context.delete(ada)
      context.processPendingChanges()
      #expect(try context.all("Pet") == [rex] && !rex.isDeleted)
      #expect(context.deletedObjects == [ada])
      try context.save()
      #expect(try context.all("Pet").isEmpty)
    }
    #expect(stack.backing.rows[1] == nil && stack.backing.rows[5] == nil)
  }

  @Test("A save applies the delete rules.")
  func save() throws {
    try stack.work { context in
      context.delete(try context.person("Ada"))
      try context.save()
    }
    #expect(stack.backing.rows[5] == nil)
  }
}
