import Foundation

/// Objects that a context has told of, and that may have changed the results of a controller.
struct ResultEvent {
  /// Objects that have other values for those who look at them.
  var changed: Set<NSManagedObject> = []
  /// Objects that may have come, gone or moved.
  var rechecked: Set<NSManagedObject> = []
  /// Whether any object may have changed.
  var isReset = false

  var objects: Set<NSManagedObject> { changed.union(rechecked) }

  /// The notifications of a context, and what they tell.
  static let sources: [(Notification.Name, @Sendable ([AnyHashable: Any], NSManagedObjectContext) -> ResultEvent)] = [
    (NSManagedObjectContext.didChangeObjectsNotification, { info, _ in ResultEvent(changes: info) }),
    (NSManagedObjectContext.didSaveObjectsNotification, { ResultEvent(save: $0, $1) }),
    (NSManagedObjectContext.didMergeChangesObjectIDsNotification, { ResultEvent(merge: $0, $1) }),
  ]

  private init(changes info: [AnyHashable: Any]) {
    for key in [NSInsertedObjectsKey, NSUpdatedObjectsKey, NSRefreshedObjectsKey, NSInvalidatedObjectsKey] {
      changed.formUnion(info[key] as? Set<NSManagedObject> ?? [])
    }
    rechecked = info[NSDeletedObjectsKey] as? Set<NSManagedObject> ?? []
    isReset = info[NSInvalidatedAllObjectsKey] != nil
  }

  /// A save gives inserted objects other identifiers, by which equal results are ordered. What else it has changed, by
  /// derivations and conflicts, the next event tells.
  private init(save info: [AnyHashable: Any], _ context: NSManagedObjectContext) {
    for key in [NSInsertedObjectsKey, NSUpdatedObjectsKey] {
      rechecked.formUnion(info[key] as? Set<NSManagedObject> ?? [])
    }
    let event = context.pending.event
    for objects in [event.inserted.elements, event.changed, event.deleted.elements, event.refreshed.elements] {
      rechecked.formUnion(objects)
    }
  }

  /// A merge names objects that the context has not in memory, or has as faults, and of which no other notification
  /// tells.
  private init(merge info: [AnyHashable: Any], _ context: NSManagedObjectContext) {
    func ids(_ key: String) -> Set<NSManagedObjectID> { info[key] as? Set<NSManagedObjectID> ?? [] }
    for id in ids(NSInsertedObjectIDsKey).union(ids(NSUpdatedObjectIDsKey)) {
      let object = context.object(with: id)
      if object.isFault { changed.insert(object) } else { rechecked.insert(object) }
    }
    for id in ids(NSDeletedObjectIDsKey) {
      if let object = context.registeredObject(for: id) { rechecked.insert(object) }
    }
  }
}
