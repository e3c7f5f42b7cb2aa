import CoreData
import Testing

@Suite("Names of notifications")
struct NotificationNameTests {
  @Test("The notifications of contexts have Apple's names, which differ from their symbols.")
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

  @Test("The older spellings of notification names have the same values.")
  func olderSpelling() {
    #expect(Notification.Name.NSManagedObjectContextWillSave == NSManagedObjectContext.willSaveObjectsNotification)
    #expect(Notification.Name.NSManagedObjectContextDidSave == NSManagedObjectContext.didSaveObjectsNotification)
    #expect(
      Notification.Name.NSManagedObjectContextObjectsDidChange == NSManagedObjectContext.didChangeObjectsNotification)
  }
}
