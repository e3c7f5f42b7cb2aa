import CoreData
import Testing

@Suite("Notifications of changes", .anyStore)
struct ChangeNotificationTests {
  private let stack: Stack<RecordingStore>

  init() throws { stack = try Stack() }

  @Test("Processing pending changes posts a notification with the inserted, updated and deleted objects.")
  func processing() throws {
    try stack.work { context in
      let notices = Notices(NSManagedObjectContext.didChangeObjectsNotification, of: context)
      let (ada, rex) = (try context.person("Ada"), try context.all("Pet")[0])
      ada["age"] = 37
      context.delete(rex)
      let errand = context.make("Errand")
      #expect(notices.count == 0)
      context.processPendingChanges()
      #expect(notices.count == 1)
      #expect(notices.objects(.insertedObjects) == [errand])
      #expect(notices.objects(.updatedObjects).contains(ada))
      #expect(notices.objects(.deletedObjects) == [rex])
      context.processPendingChanges()
      #expect(notices.count == 1)
    }
  }

  @Test("A notification of changes names the refreshed objects.")
  func refreshed() throws {
    try stack.work { context in
      let notices = Notices(NSManagedObjectContext.didChangeObjectsNotification, of: context)
      let ada = try context.person("Ada")
      _ = ada["name"]
      stack.backing.change(1, ["age": 37])
      context.refresh(ada, mergeChanges: true)
      context.processPendingChanges()
      #expect(notices.objects(.refreshedObjects) == [ada])
    }
  }

  @Test("A notification of changes is posted after a block of `perform`, and not after one of `performAndWait`.")
  func blocks() async throws {
    let context = stack.context()
    let notices = Notices(NSManagedObjectContext.didChangeObjectsNotification, of: context)
    context.performAndWait { _ = context.make("Errand") }
    #expect(notices.count == 0)
    await context.perform(schedule: .enqueued) { [unowned context] in _ = context.make("Errand") }
    #expect(notices.count == 1)
  }

  @Test("A notification of changes is posted after a block that runs later.")
  func laterBlocks() {
    let context = stack.context()
    let notices = Notices(NSManagedObjectContext.didChangeObjectsNotification, of: context)
    context.perform { [unowned context] in _ = context.make("Errand") }
    context.performAndWait {}
    #expect(notices.count == 1)
  }

  @Test("Merging the changes of another context posts a notification with identifiers.")
  func mergedIdentifiers() throws {
    try stack.work { context in
      let notices = Notices(NSManagedObjectContext.didMergeChangesObjectIDsNotification, of: context)
      let ada = try context.person("Ada")
      _ = ada["name"]
      stack.backing.change(1, ["age": 37])
      NSManagedObjectContext.mergeChanges(fromRemoteContextSave: ["updated": [ada.objectID]], into: [context])
      #expect(notices.count == 1)
      #expect(notices.identifiers(.updatedObjectIDs) == [ada.objectID])
    }
  }

  @Test("A coordinator posts a notification when a store is added or removed.")
  func stores() throws {
    let coordinator = stack.coordinator
    let changes = Notices(.NSPersistentStoreCoordinatorStoresDidChange, of: coordinator)
    let removals = Notices(.NSPersistentStoreCoordinatorWillRemoveStore, of: coordinator)
    let store = try coordinator.add(RecordingStore.self, Backing())
    #expect(changes.count == 1)
    try coordinator.remove(store)
    #expect(changes.count == 2 && removals.count == 1)
  }
}
