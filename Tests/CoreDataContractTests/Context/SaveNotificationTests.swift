import CoreData
import Testing

@Suite("Notifications of a save", .anyStore)
struct SaveNotificationTests {
  private let stack: Stack<RecordingStore>

  init() throws { stack = try Stack() }

  @Test("A notification before a save does not name the objects that will be saved.")
  func willSave() throws {
    try stack.work { context in
      let notices = Notices(NSManagedObjectContext.willSaveObjectsNotification, of: context)
      try context.person("Ada")["age"] = 37
      try context.save()
      #expect(notices.count == 1)
      #expect(notices.last?.userInfo?.isEmpty != false)
    }
  }

  @Test("A notification after a save has the inserted, updated and deleted objects.")
  func didSave() throws {
    try stack.work { context in
      let notices = Notices(NSManagedObjectContext.didSaveObjectsNotification, of: context)
      let (ada, rex) = (try context.person("Ada"), try context.all("Pet")[0])
      ada["age"] = 37
      context.delete(rex)
      let errand = context.make("Errand")
      try context.save()
      #expect(notices.count == 1)
      #expect(notices.objects(.insertedObjects) == [errand])
      #expect(notices.objects(.updatedObjects).contains(ada))
      #expect(notices.objects(.deletedObjects) == [rex])
    }
  }

  @Test("A notification after a save also has the objects' identifiers.")
  func didSaveIdentifiers() throws {
    try stack.work { context in
      let notices = Notices(NSManagedObjectContext.didSaveObjectIDsNotification, of: context)
      let deleted = stack.store.identifier(5)
      let (ada, rex) = (try context.person("Ada"), try context.all("Pet")[0])
      ada["age"] = 37
      context.delete(rex)
      let errand = context.make("Errand")
      try context.save()
      #expect(notices.identifiers(.insertedObjectIDs) == [errand.objectID])
      #expect(notices.identifiers(.updatedObjectIDs).contains(ada.objectID))
      #expect(
        notices.identifiers(.deletedObjectIDs) == [deleted])
    }
  }

  @Test("A save that fails posts no notification after it.")
  func failed() throws {
    try stack.work { context throws in
      let notices = Notices(NSManagedObjectContext.didSaveObjectsNotification, of: context)
      context.make("Person")
      #expect(thrown { try context.save() } != nil)
      #expect(notices.count == 0)
    }
  }
}
