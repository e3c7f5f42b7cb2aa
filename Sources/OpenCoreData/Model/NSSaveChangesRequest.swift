import Foundation

/// Asks a store to save the changes of a context.
///
/// An empty set means that no objects changed in that way; if all sets are nil, the store writes only its metadata.
open class NSSaveChangesRequest: NSPersistentStoreRequest {
  /// The objects that the store does not have yet. Their identifiers are permanent by the time the store gets the
  /// request.
  public let insertedObjects: Set<NSManagedObject>?
  /// The objects whose values have changed.
  public let updatedObjects: Set<NSManagedObject>?
  /// The objects to delete from the store.
  public let deletedObjects: Set<NSManagedObject>?
  /// The unchanged objects that must not have been changed by others either. The store increments their versions.
  public let lockedObjects: Set<NSManagedObject>?

  /// A request to save these objects.
  public init(
    inserted insertedObjects: Set<NSManagedObject>?, updated updatedObjects: Set<NSManagedObject>?,
    deleted deletedObjects: Set<NSManagedObject>?, locked lockedObjects: Set<NSManagedObject>?
  ) {
    self.insertedObjects = insertedObjects
    self.updatedObjects = updatedObjects
    self.deletedObjects = deletedObjects
    self.lockedObjects = lockedObjects
  }

  open override var requestType: NSPersistentStoreRequestType { .saveRequestType }

  /// All objects in the request.
  var objects: Set<NSManagedObject> {
    [insertedObjects, updatedObjects, deletedObjects, lockedObjects].reduce(into: []) { $0.formUnion($1 ?? []) }
  }
}
