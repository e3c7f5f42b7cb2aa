import CoreData
import Testing

@Suite("Notifications of a save", .anyStore)
struct SaveNotificationTests {
  private let stack: Stack<RecordingStore>

  init() throws { stack = try Stack() }

  @Test("before it, without saying what will be saved")
  func willSave() throws {
    try stack.work { context in
      let notices = Notices(NSManagedObjectContext.willSaveObjectsNotification, of: context)
      try context.person("Ada")["age"] = 37
      try context.save()
      #expect(notices.count == 1)
      #expect(notices.last?.userInfo?.isEmpty != false)
    }
  }

  @Test("after it, with the objects that were inserted, updated and deleted")
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

  @Test("and with their identifiers")
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

  @Test("and none after one that failed")
  func failed() throws {
    try stack.work { context throws in
      let notices = Notices(NSManagedObjectContext.didSaveObjectsNotification, of: context)
      context.make("Person")
      #expect(thrown { try context.save() } != nil)
      #expect(notices.count == 0)
    }
  }
}
