public import Foundation

extension NSManagedObjectContext {
  /// Ends an event: deletions reach related objects, and ``didChangeObjectsNotification`` tells what has changed since the last.
  ///
  /// Blocks of ``perform(_:)`` end with it, and ``save()`` begins with it.
  public func processPendingChanges() {
    checkQueue()
    forgetFreed()
    propagateDeletions()
    guard !pending.event.isEmpty else { return }
    let event = pending.takeEvent()
    var told: [NotificationKey: Set<NSManagedObject>] = [
      .insertedObjects: Set(event.inserted),
      .deletedObjects: Set(event.deleted),
      .refreshedObjects: Set(event.refreshed),
      .invalidatedObjects: Set(event.invalidated),
      .updatedObjects: Set(
        event.changed.filter {
          $0.registry === registry && !event.inserted.contains($0) && !event.deleted.contains($0)
        }),
    ]
    told = told.filter { !$0.value.isEmpty }
    guard !told.isEmpty || !event.invalidatedAll.isEmpty else { return }
    var userInfo: [AnyHashable: Any] = [:]
    for (key, objects) in told { userInfo[key.rawValue] = objects }
    if !event.invalidatedAll.isEmpty { userInfo[NotificationKey.invalidatedAllObjects.rawValue] = event.invalidatedAll }
    NotificationCenter.default.post(name: Self.didChangeObjectsNotification, object: self, userInfo: userInfo)
  }
}

extension NSManagedObjectContext {
  /// Under which notifications of a context have objects, or their identifiers.
  public enum NotificationKey: String, Sendable {
    /// Those inserted.
    case insertedObjects = "inserted"
    /// Those changed.
    case updatedObjects = "updated"
    /// Those deleted.
    case deletedObjects = "deleted"
    /// Those whose values were read again.
    case refreshedObjects = "refreshed"
    /// Those whose values were forgotten.
    case invalidatedObjects = "invalidated"
    /// The identifiers of all objects: the context was reset.
    case invalidatedAllObjects = "invalidatedAll"
    /// The identifiers of those inserted.
    case insertedObjectIDs = "inserted_objectIDs"
    /// The identifiers of those changed.
    case updatedObjectIDs = "updated_objectIDs"
    /// The identifiers of those deleted.
    case deletedObjectIDs = "deleted_objectIDs"
    /// The identifiers of those whose values were read again.
    case refreshedObjectIDs = "refreshed_objectIDs"
    /// The identifiers of those whose values were forgotten.
    case invalidatedObjectIDs = "invalidated_objectIDs"
    /// The query generation; no store here has any.
    case queryGeneration = "newQueryGeneration"
  }

  /// Posted by a context before it saves.
  public static let willSaveObjectsNotification = Notification.Name("NSManagingContextWillSaveChangesNotification")

  /// Posted by a context after it has saved, with the objects.
  public static let didSaveObjectsNotification = Notification.Name("NSManagingContextDidSaveChangesNotification")

  /// Posted by a context at the end of an event in which objects have changed, with the objects.
  public static let didChangeObjectsNotification = Notification.Name("NSObjectsChangedInManagingContextNotification")

  /// Posted by a context after it has saved, with the identifiers of the objects.
  public static let didSaveObjectIDsNotification = Notification.Name(
    "NSManagedObjectContextDidSaveObjectIDsNotification")

  /// Posted by a context after it has merged what another one has saved, with the identifiers of the objects.
  public static let didMergeChangesObjectIDsNotification = Notification.Name(
    "NSManagedObjectContextDidMergeChangesObjectIDsNotification")
}

extension NSNotification.Name {
  /// ``NSManagedObjectContext/willSaveObjectsNotification``.
  public static let NSManagedObjectContextWillSave = NSManagedObjectContext.willSaveObjectsNotification
  /// ``NSManagedObjectContext/didSaveObjectsNotification``.
  public static let NSManagedObjectContextDidSave = NSManagedObjectContext.didSaveObjectsNotification
  /// ``NSManagedObjectContext/didChangeObjectsNotification``.
  public static let NSManagedObjectContextObjectsDidChange = NSManagedObjectContext.didChangeObjectsNotification
  /// ``NSManagedObjectContext/didSaveObjectIDsNotification``.
  public static let NSManagedObjectContextDidSaveObjectIDs = NSManagedObjectContext.didSaveObjectIDsNotification
  /// ``NSManagedObjectContext/didMergeChangesObjectIDsNotification``.
  public static let NSManagedObjectContextDidMergeChangesObjectIDs =
    NSManagedObjectContext.didMergeChangesObjectIDsNotification
}

/// Under which notifications have inserted objects.
public let NSInsertedObjectsKey = NSManagedObjectContext.NotificationKey.insertedObjects.rawValue
/// Under which notifications have changed objects.
public let NSUpdatedObjectsKey = NSManagedObjectContext.NotificationKey.updatedObjects.rawValue
/// Under which notifications have deleted objects.
public let NSDeletedObjectsKey = NSManagedObjectContext.NotificationKey.deletedObjects.rawValue
/// Under which notifications have objects whose values were read again.
public let NSRefreshedObjectsKey = NSManagedObjectContext.NotificationKey.refreshedObjects.rawValue
/// Under which notifications have objects whose values were forgotten.
public let NSInvalidatedObjectsKey = NSManagedObjectContext.NotificationKey.invalidatedObjects.rawValue
/// Under which notifications have the identifiers of all objects of a context that was reset.
public let NSInvalidatedAllObjectsKey = NSManagedObjectContext.NotificationKey.invalidatedAllObjects.rawValue
/// Under which notifications have the identifiers of inserted objects.
public let NSInsertedObjectIDsKey = NSManagedObjectContext.NotificationKey.insertedObjectIDs.rawValue
/// Under which notifications have the identifiers of changed objects.
public let NSUpdatedObjectIDsKey = NSManagedObjectContext.NotificationKey.updatedObjectIDs.rawValue
/// Under which notifications have the identifiers of deleted objects.
public let NSDeletedObjectIDsKey = NSManagedObjectContext.NotificationKey.deletedObjectIDs.rawValue
