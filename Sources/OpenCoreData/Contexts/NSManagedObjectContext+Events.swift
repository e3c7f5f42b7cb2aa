public import Foundation

extension NSManagedObjectContext {
  /// Ends the current event: propagates deletions to related objects, and posts ``didChangeObjectsNotification`` with
  /// the changes since the last event, if there are any.
  ///
  /// Called at the end of each block of ``perform(_:)``, and at the beginning of ``save()``.
  ///
  /// If there is an undo manager, the changes are registered with it, and its group of the event ends.
  public func processPendingChanges() {
    processChanges()
    undoManager?.endEvent()
  }

  /// As ``processPendingChanges()``, but the undo manager's group of the event does not end.
  func processChanges() {
    checkQueue()
    forgetFreed()
    propagateDeletions()
    undoRecorder?.register(self)
    defer { separateDeparted() }
    guard !pending.event.isEmpty else { return }
    let event = pending.event.end()
    defer {
      objectStreams?.send(event)
      registry.observation.send(event)
    }
    var told: [NotificationKey: Set<NSManagedObject>] = [
      .insertedObjects: Set(event.inserted),
      .deletedObjects: Set(event.deleted),
      .refreshedObjects: Set(event.refreshed),
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
  /// The keys of objects, or of their identifiers, in the user info of a context's notifications.
  public enum NotificationKey: String, Sendable {
    /// Inserted objects.
    case insertedObjects = "inserted"
    /// Changed objects.
    case updatedObjects = "updated"
    /// Deleted objects.
    case deletedObjects = "deleted"
    /// Objects whose values were read again.
    case refreshedObjects = "refreshed"
    /// Objects whose values were discarded. Never used, because contexts report them as refreshed.
    case invalidatedObjects = "invalidated"
    /// The identifiers of all objects of a context that was reset.
    case invalidatedAllObjects = "invalidatedAll"
    /// The identifiers of inserted objects.
    case insertedObjectIDs = "inserted_objectIDs"
    /// The identifiers of changed objects.
    case updatedObjectIDs = "updated_objectIDs"
    /// The identifiers of deleted objects.
    case deletedObjectIDs = "deleted_objectIDs"
    /// The identifiers of objects whose values were read again.
    case refreshedObjectIDs = "refreshed_objectIDs"
    /// The identifiers of objects whose values were discarded. Never used, because contexts report them as refreshed.
    case invalidatedObjectIDs = "invalidated_objectIDs"
    /// The query generation after a save. Never used: ask ``NSManagedObjectContext/queryGenerationToken``.
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

  /// Posted by a context after it has merged the changes that another context has saved, with the identifiers of the
  /// objects.
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

/// The key of the query generation in the user info of notifications. Never used; see
/// ``NSManagedObjectContext/NotificationKey/queryGeneration``.
public let NSManagedObjectContextQueryGenerationKey = NSManagedObjectContext.NotificationKey.queryGeneration.rawValue
/// The key of inserted objects in the user info of notifications.
public let NSInsertedObjectsKey = NSManagedObjectContext.NotificationKey.insertedObjects.rawValue
/// The key of changed objects in the user info of notifications.
public let NSUpdatedObjectsKey = NSManagedObjectContext.NotificationKey.updatedObjects.rawValue
/// The key of deleted objects in the user info of notifications.
public let NSDeletedObjectsKey = NSManagedObjectContext.NotificationKey.deletedObjects.rawValue
/// The key of objects whose values were read again, in the user info of notifications.
public let NSRefreshedObjectsKey = NSManagedObjectContext.NotificationKey.refreshedObjects.rawValue
/// The key of objects whose values were discarded, in the user info of notifications. Never used; see
/// ``NSManagedObjectContext/NotificationKey/invalidatedObjects``.
public let NSInvalidatedObjectsKey = NSManagedObjectContext.NotificationKey.invalidatedObjects.rawValue
/// The key of the identifiers of all objects of a context that was reset, in the user info of notifications.
public let NSInvalidatedAllObjectsKey = NSManagedObjectContext.NotificationKey.invalidatedAllObjects.rawValue
/// The key of the identifiers of inserted objects in the user info of notifications.
public let NSInsertedObjectIDsKey = NSManagedObjectContext.NotificationKey.insertedObjectIDs.rawValue
/// The key of the identifiers of changed objects in the user info of notifications.
public let NSUpdatedObjectIDsKey = NSManagedObjectContext.NotificationKey.updatedObjectIDs.rawValue
/// The key of the identifiers of deleted objects in the user info of notifications.
public let NSDeletedObjectIDsKey = NSManagedObjectContext.NotificationKey.deletedObjectIDs.rawValue
