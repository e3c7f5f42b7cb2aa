public import Foundation

/// The type of stores that live in memory only and end with the process; always registered.
public let NSInMemoryStoreType = "InMemory"
/// The type of Apple's SQLite stores. No class is registered for it here.
public let NSSQLiteStoreType = "SQLite"

/// Under which the metadata of a store have its type.
public let NSStoreTypeKey = "NSStoreType"
/// Under which the metadata of a store have what identifies it.
public let NSStoreUUIDKey = "NSStoreUUID"
/// Under which the metadata of a store have the version hashes of the entities it was written with, by their names.
public let NSStoreModelVersionHashesKey = NSManagedObjectModel.versionHashesKey
/// Under which the metadata of a store have the version identifiers of the model it was written with, as an array.
public let NSStoreModelVersionIdentifiersKey = "NSStoreModelVersionIdentifiers"

/// The option, a Boolean, that a store must not be written to.
public let NSReadOnlyPersistentStoreOption = "NSReadOnlyPersistentStoreOption"
/// The option that says for how many seconds a store may try to answer.
public let NSPersistentStoreTimeoutOption = "NSPersistentStoreTimeoutOption"
/// The option, a Boolean, that a store is added even if it was written with another model.
public let NSIgnorePersistentStoreVersioningOption = "NSIgnorePersistentStoreVersioningOption"
/// The option, a Boolean, that a store written with an older model is migrated. A store may obey it; coordinators do not.
public let NSMigratePersistentStoresAutomaticallyOption = "NSMigratePersistentStoresAutomaticallyOption"
/// The option, a Boolean, that a migration may find out by itself how two models differ. A store may obey it;
/// coordinators do not.
public let NSInferMappingModelAutomaticallyOption = "NSInferMappingModelAutomaticallyOption"
/// The option, a Boolean, that a store is destroyed even if that is not safe. A store may obey it.
public let NSPersistentStoreForceDestroyOption = "NSPersistentStoreForceDestroyOption"
/// The option, a dictionary of texts by the names of pragmas, for SQLite stores, of which there are none here.
public let NSSQLitePragmasOption = "NSSQLitePragmasOption"
/// The option, a Boolean, that a SQLite store is analysed when it is added. There are no SQLite stores here.
public let NSSQLiteAnalyzeOption = "NSSQLiteAnalyzeOption"
/// The option, a Boolean, that a SQLite store is vacuumed when it is added. There are no SQLite stores here.
public let NSSQLiteManualVacuumOption = "NSSQLiteManualVacuumOption"

/// Under which the user info of a notification has the stores that were added, as an array.
public let NSAddedPersistentStoresKey = "added"
/// Under which the user info of a notification has the stores that were removed, as an array.
public let NSRemovedPersistentStoresKey = "removed"

extension NSNotification.Name {
  /// A coordinator, the notification's object, has got or lost the stores in the user info. Posted on the thread that
  /// added or removed them, after it has let go of the coordinator's lock.
  public static let NSPersistentStoreCoordinatorStoresDidChange =
    NSNotification.Name("NSPersistentStoreCoordinatorStoresDidChangeNotification")

  /// A coordinator, the notification's object, is about to remove the stores in the user info. Posted on the thread that
  /// removes them.
  public static let NSPersistentStoreCoordinatorWillRemoveStore =
    NSNotification.Name("NSPersistentStoreCoordinatorWillRemoveStoreNotification")
}
