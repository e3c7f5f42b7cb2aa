import CoreData
import Testing

@Suite("Names of notifications")
struct NotificationNameTests {
  @Test("of contexts, which are not those of their symbols")
  func contexts() {
    #expect(
      NSManagedObjectContext.willSaveObjectsNotification.rawValue == "NSManagingContextWillSaveChangesNotification")
    #expect(
      NSManagedObjectContext.didSaveObjectsNotification.rawValue == "NSManagingContextDidSaveChangesNotification")
    #expect(
      NSManagedObjectContext.didChangeObjectsNotification.rawValue
        == "NSObjectsChangedInManagingContextNotification")
    #expect(
      NSManagedObjectContext.didSaveObjectIDsNotification.rawValue
        == "NSManagedObjectContextDidSaveObjectIDsNotification")
    #expect(
      NSManagedObjectContext.didMergeChangesObjectIDsNotification.rawValue
        == "NSManagedObjectContextDidMergeChangesObjectIDsNotification")
  }

  @Test("are the same in their older spelling")
  func olderSpelling() {
    #expect(Notification.Name.NSManagedObjectContextWillSave == NSManagedObjectContext.willSaveObjectsNotification)
    #expect(Notification.Name.NSManagedObjectContextDidSave == NSManagedObjectContext.didSaveObjectsNotification)
    #expect(
      Notification.Name.NSManagedObjectContextObjectsDidChange == NSManagedObjectContext.didChangeObjectsNotification)
  }
}
