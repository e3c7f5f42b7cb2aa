import Foundation

/// The identifiers of saved objects, in a form that may be passed to any thread.
struct SavedIDs: Sendable {
  var inserted: [NSManagedObjectID] = []
  var updated: [NSManagedObjectID] = []
  var deleted: [NSManagedObjectID] = []

  var userInfo: [AnyHashable: Any] {
    [
      NSInsertedObjectIDsKey: Set(inserted), NSUpdatedObjectIDsKey: Set(updated), NSDeletedObjectIDsKey: Set(deleted),
    ]
  }

  var isEmpty: Bool { inserted.isEmpty && updated.isEmpty && deleted.isEmpty }

  init(inserted: [NSManagedObjectID], updated: [NSManagedObjectID], deleted: [NSManagedObjectID]) {
    (self.inserted, self.updated, self.deleted) = (inserted, updated, deleted)
  }

  /// Reads the user info of a notification: sets or arrays of objects, identifiers or URIs, under the keys of objects
  /// and of identifiers.
  init(_ userInfo: [AnyHashable: Any], _ coordinator: NSPersistentStoreCoordinator?) {
    func ids(_ keys: String...) -> [NSManagedObjectID] {
      keys.flatMap { key in Self.elements(userInfo[key]).compactMap { Self.id($0, coordinator) } }
    }
    inserted = ids(NSInsertedObjectsKey, NSInsertedObjectIDsKey)
    updated = ids(NSUpdatedObjectsKey, NSUpdatedObjectIDsKey)
    deleted = ids(NSDeletedObjectsKey, NSDeletedObjectIDsKey)
  }

  private static func elements(_ value: Any?) -> [Any] {
    switch value {
    case let set as NSSet: set.allObjects
    case let array as NSArray: array.map { $0 }
    case let set as Set<AnyHashable>: set.map(\.base)
    case let array as [Any]: array
    default: []
    }
  }

  private static func id(_ value: Any, _ coordinator: NSPersistentStoreCoordinator?) -> NSManagedObjectID? {
    switch value {
    case let object as NSManagedObject: object.objectID
    case let id as NSManagedObjectID: id
    case let url as URL: coordinator?.managedObjectID(forURIRepresentation: url)
    default: nil
    }
  }
}
