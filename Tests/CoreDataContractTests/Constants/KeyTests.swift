import CoreData
import Testing

@Suite("Names of keys")
struct KeyTests {
  @Test("The keys of metadata have Apple's names.")
  func metadata() {
    #expect(NSStoreTypeKey == "NSStoreType")
    #expect(NSStoreUUIDKey == "NSStoreUUID")
    #expect(NSStoreModelVersionHashesKey == "NSStoreModelVersionHashes")
    #expect(NSStoreModelVersionIdentifiersKey == "NSStoreModelVersionIdentifiers")
    #expect(NSPersistentStoreModelVersionChecksumKey == "NSStoreModelVersionChecksumKey")
  }

  @Test("The keys of store options have Apple's names.")
  func options() {
    #expect(NSReadOnlyPersistentStoreOption == "NSReadOnlyPersistentStoreOption")
    #expect(NSPersistentStoreTimeoutOption == "NSPersistentStoreTimeoutOption")
    #expect(NSIgnorePersistentStoreVersioningOption == "NSIgnorePersistentStoreVersioningOption")
    #expect(NSMigratePersistentStoresAutomaticallyOption == "NSMigratePersistentStoresAutomaticallyOption")
    #expect(NSInferMappingModelAutomaticallyOption == "NSInferMappingModelAutomaticallyOption")
    #expect(NSPersistentStoreForceDestroyOption == "NSPersistentStoreForceDestroyOption")
  }

  @Test("The keys of history have Apple's names.")
  func history() {
    #expect(NSPersistentHistoryTrackingKey == "NSPersistentHistoryTrackingKey")
    #expect(
      NSPersistentStoreRemoteChangeNotificationPostOptionKey == "NSPersistentStoreRemoteChangeNotificationOptionKey")
    #expect(NSPersistentHistoryTokenKey == "historyToken")
    #expect(NSPersistentStoreURLKey == "storeURL")
  }

  @Test("The keys of validation errors and conflicts have Apple's names.")
  func errors() {
    #expect(NSValidationKeyErrorKey == "NSValidationErrorKey")
    #expect(NSValidationObjectErrorKey == "NSValidationErrorObject")
    #expect(NSValidationValueErrorKey == "NSValidationErrorValue")
    #expect(NSValidationPredicateErrorKey == "NSValidationErrorPredicate")
    #expect(NSDetailedErrorsKey == "NSDetailedErrors")
    #expect(NSPersistentStoreSaveConflictsErrorKey == "conflictList")
  }

  @Test("The keys of notifications have Apple's names.")
  func notifications() {
    let keys: [NSManagedObjectContext.NotificationKey] = [
      .insertedObjects, .updatedObjects, .deletedObjects, .refreshedObjects, .invalidatedObjects,
      .invalidatedAllObjects,
    ]
    #expect(
      keys.map(\.rawValue) == ["inserted", "updated", "deleted", "refreshed", "invalidated", "invalidatedAll"])
    let identifiers: [NSManagedObjectContext.NotificationKey] = [
      .insertedObjectIDs, .updatedObjectIDs, .deletedObjectIDs, .refreshedObjectIDs, .invalidatedObjectIDs,
    ]
    #expect(
      identifiers.map(\.rawValue) == [
        "inserted_objectIDs", "updated_objectIDs", "deleted_objectIDs", "refreshed_objectIDs",
        "invalidated_objectIDs",
      ])
    #expect(
      [NSInsertedObjectsKey, NSUpdatedObjectsKey, NSDeletedObjectsKey, NSRefreshedObjectsKey] == [
        "inserted", "updated", "deleted", "refreshed",
      ])
  }
}
