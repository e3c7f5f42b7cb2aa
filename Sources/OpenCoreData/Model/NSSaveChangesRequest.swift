import Foundation

/// Asks a store to save the changes of a context.
///
/// Sets that are empty are changes of nothing; if all are nil, only the metadata are to be written.
open class NSSaveChangesRequest: NSPersistentStoreRequest {
  /// The objects that the store does not have yet. Their identifiers are permanent when the store is asked.
  public let insertedObjects: Set<NSManagedObject>?
  /// The objects whose values have changed.
  public let updatedObjects: Set<NSManagedObject>?
  /// The objects that the store is to forget.
  public let deletedObjects: Set<NSManagedObject>?
  /// The objects that are not changed but must not have been changed by others either; their versions go up.
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

  /// All the objects it is about.
  var objects: Set<NSManagedObject> {
    [insertedObjects, updatedObjects, deletedObjects, lockedObjects].reduce(into: []) { $0.formUnion($1 ?? []) }
  }
}
