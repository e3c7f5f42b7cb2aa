public import Foundation

/// The type of stores that live in memory only and end with the process; always registered.
public let NSInMemoryStoreType = "InMemory"
/// The type of Apple's SQLite stores. No class is registered for it here.
public let NSSQLiteStoreType = "SQLite"

/// The key of a store's type in its metadata.
public let NSStoreTypeKey = "NSStoreType"
/// The key of a store's unique identifier in its metadata.
public let NSStoreUUIDKey = "NSStoreUUID"
/// The key, in a store's metadata, of the version hashes of the entities it was written with, by the entities' names.
public let NSStoreModelVersionHashesKey = NSManagedObjectModel.versionHashesKey
/// The key, in a store's metadata, of the version identifiers of the model it was written with, as an array.
public let NSStoreModelVersionIdentifiersKey = "NSStoreModelVersionIdentifiers"
/// The key, in a store's metadata, of the checksum of the model it was written with; see
/// ``NSManagedObjectModel/versionChecksum``.
public let NSPersistentStoreModelVersionChecksumKey = "NSStoreModelVersionChecksumKey"

/// Option, a Boolean: whether a store must not be written to.
public let NSReadOnlyPersistentStoreOption = "NSReadOnlyPersistentStoreOption"
/// Option, a number: how many seconds a store may take to answer.
public let NSPersistentStoreTimeoutOption = "NSPersistentStoreTimeoutOption"
/// Option, a Boolean: whether a store is added even if it was written with another model.
public let NSIgnorePersistentStoreVersioningOption = "NSIgnorePersistentStoreVersioningOption"
/// Option, a Boolean: whether a store written with another model is migrated when it is added. A store obeys it, as
/// row stores do; coordinators do not.
public let NSMigratePersistentStoresAutomaticallyOption = "NSMigratePersistentStoresAutomaticallyOption"
/// Option, a Boolean: whether a migration may determine the differences between two models by itself. A store
/// obeys it, as row stores do; coordinators do not.
public let NSInferMappingModelAutomaticallyOption = "NSInferMappingModelAutomaticallyOption"
/// Option, an ``NSStagedMigrationManager``: the stages in which a store written with another model is migrated when it
/// is added.
public let NSPersistentStoreStagedMigrationManagerOptionKey = "NSPersistentStoreStagedMigrationManagerOptionKey"
/// Option, a Boolean: whether a store leaves the work that need not be done at once when it migrates itself to
/// ``NSPersistentStoreCoordinator/finishDeferredLightweightMigration()``, instead of doing it in the background. Row
/// stores obey it, and then build indexes at that time as well.
public let NSPersistentStoreDeferredLightweightMigrationOptionKey =
  "NSPersistentStoreDeferredLightweightMigrationOptionKey"
/// Option, a Boolean: whether a store is destroyed even if that is not safe. A store may obey it.
public let NSPersistentStoreForceDestroyOption = "NSPersistentStoreForceDestroyOption"
/// Option, a Boolean: whether a store records its saves and batch requests as transactions, which an
/// ``NSPersistentHistoryChangeRequest`` fetches. Row stores obey it. It may be set and left out from one opening to the
/// next; saves without it make tokens expire.
public let NSPersistentHistoryTrackingKey = "NSPersistentHistoryTrackingKey"
/// Option, a Boolean: whether `NSPersistentStoreRemoteChange` is posted for a store.
public let NSPersistentStoreRemoteChangeNotificationPostOptionKey =
  "NSPersistentStoreRemoteChangeNotificationOptionKey"
/// Option, a dictionary of texts by the names of pragmas: for SQLite stores, of which there are none here.
public let NSSQLitePragmasOption = "NSSQLitePragmasOption"
/// Option, a Boolean: whether a SQLite store is analysed when it is added. There are no SQLite stores here.
public let NSSQLiteAnalyzeOption = "NSSQLiteAnalyzeOption"
/// Option, a Boolean: whether a SQLite store is vacuumed when it is added. There are no SQLite stores here.
public let NSSQLiteManualVacuumOption = "NSSQLiteManualVacuumOption"

/// The key of the added stores, an array, in the user info of a notification.
public let NSAddedPersistentStoresKey = "added"
/// The key of the removed stores, an array, in the user info of a notification.
public let NSRemovedPersistentStoresKey = "removed"
/// The key of what has replaced a store, in the user info of `NSPersistentStoreCoordinatorStoresDidChange`: an array of
/// the old store, the new one, and an `NSArray` of the identifiers that the objects have in the new one.
public let NSUUIDChangedPersistentStoresKey = "changedUUID"

/// The key of the location of a changed store, a `URL`, in the user info of a notification.
public let NSPersistentStoreURLKey = "storeURL"
/// The key of the ``NSPersistentHistoryToken`` after a change of a store, in the user info of
/// `NSPersistentStoreRemoteChange`.
public let NSPersistentHistoryTokenKey = "historyToken"

extension NSNotification.Name {
  /// Posted after a coordinator of this process, the same or another one, has changed a store of a coordinator, the
  /// notification's object. A store on Cairn that was added with ``NSReadOnlyPersistentStoreOption`` also notices that
  /// another process has saved. The user info has the store's ``NSStoreUUIDKey``, its ``NSPersistentStoreURLKey`` and,
  /// if the store records its history, the token under ``NSPersistentHistoryTokenKey``. Posted on a thread of its own,
  /// some time after the change, and only for stores that were added with
  /// ``NSPersistentStoreRemoteChangeNotificationPostOptionKey``.
  public static let NSPersistentStoreRemoteChange =
    NSNotification.Name("NSPersistentStoreRemoteChangeNotification")

  /// Never posted: on Apple's platforms it announces that iCloud replaces the stores of a coordinator.
  public static let NSPersistentStoreCoordinatorStoresWillChange =
    NSNotification.Name("NSPersistentStoreCoordinatorStoresWillChangeNotification")

  /// Posted after a coordinator, the notification's object, has added or removed the stores in the user info: on the
  /// thread that added or removed them, after it has released the coordinator's lock. A migration to a new store also
  /// gives ``NSUUIDChangedPersistentStoresKey``.
  public static let NSPersistentStoreCoordinatorStoresDidChange =
    NSNotification.Name("NSPersistentStoreCoordinatorStoresDidChangeNotification")

  /// Posted before a coordinator, the notification's object, removes the stores in the user info: on the thread that
  /// removes them.
  public static let NSPersistentStoreCoordinatorWillRemoveStore =
    NSNotification.Name("NSPersistentStoreCoordinatorWillRemoveStoreNotification")
}
