public import Foundation

/// A store that is asked for rows one by one and saves changes one by one. A subclass is what turns a database, a file
/// or a service into a store; it is registered by ``NSPersistentStoreCoordinator/registerStoreClass(_:type:)``.
///
/// All methods are called by one thread at a time, each time by whichever thread needs an answer. A method that a
/// subclass must override and does not stops the program.
open class NSIncrementalStore: NSPersistentStore {
  /// Does what the request asks for, wholly or, if it throws, not at all.
  ///
  /// For an ``NSFetchRequest``, which is always a copy and an `NSFetchRequest<NSManagedObject>`, it returns an array: of
  /// objects obtained by `context.object(with:)`, of identifiers, of dictionaries, or of one number, which is the count.
  /// For an ``NSSaveChangesRequest`` it returns an empty array; collections that are all nil ask only for the metadata
  /// to be written. For a kind of request it does not know it throws ``NSPersistentStoreUnsupportedRequestTypeError``.
  open func execute(_ request: NSPersistentStoreRequest, with context: NSManagedObjectContext?) throws -> Any {
    abstract()
  }

  /// The attributes and to-one relationships of the object, these as identifiers or `NSNull`, and its version. What has
  /// no value may be left out, and so may to-one relationships, which are then asked for one by one.
  ///
  /// Called each time a fault fires and for each changed object that is saved; it should be fast and must not call the
  /// context.
  ///
  /// - Throws: ``NSManagedObjectReferentialIntegrityError`` if there is no such object.
  open func newValuesForObject(
    with objectID: NSManagedObjectID, with context: NSManagedObjectContext
  ) throws -> NSIncrementalStoreNode { abstract() }

  /// The objects at the other end of a relationship: for a to-one an identifier or `NSNull`, for a to-many a collection
  /// of identifiers, which has the order of an ordered one.
  ///
  /// - Throws: ``NSManagedObjectReferentialIntegrityError`` if there is no such object.
  open func newValue(
    forRelationship relationship: NSRelationshipDescription, forObjectWith objectID: NSManagedObjectID,
    with context: NSManagedObjectContext?
  ) throws -> Any { abstract() }

  /// Identifiers for objects that are going to be inserted, in the same order, made by
  /// ``newObjectID(for:referenceObject:)``.
  ///
  /// None may ever be given again, whether a save follows or not.
  open func obtainPermanentIDs(for array: [NSManagedObject]) throws -> [NSManagedObjectID] { abstract() }

  /// A context has begun to use these objects. As often as this is said of an object, it is said that it is no longer
  /// used; a store may count. Does nothing unless a subclass overrides it.
  open func managedObjectContextDidRegisterObjects(with objectIDs: [NSManagedObjectID]) {}

  /// A context has ceased to use these objects. Does nothing unless a subclass overrides it.
  open func managedObjectContextDidUnregisterObjects(with objectIDs: [NSManagedObjectID]) {}

  /// An identifier for a store that is made at `storeURL`: a new UUID, as a string.
  open class func identifierForNewStore(at storeURL: URL) -> Any { UUID().uuidString }

  /// The identifier of the object to which the store refers by `data`, a string or a whole number; of anything else the
  /// description is taken. The metadata must be loaded. May be called on any thread.
  ///
  /// - Parameter entity: The entity of the object itself, not one that it inherits from.
  open func newObjectID(for entity: NSEntityDescription, referenceObject data: Any) -> NSManagedObjectID {
    guard let identity = identity ?? identifier.map({ StoreIdentity($0, of: self) }) else {
      preconditionFailure("\(Swift.type(of: self)) makes an identifier before its metadata have an \(NSStoreUUIDKey).")
    }
    return NSManagedObjectID(entity, identity, ObjectReference(data))
  }

  /// What the store refers to the object by: an `NSNumber` if it was a whole number, else a string. The identifier must
  /// be a permanent one of this store. May be called on any thread.
  open func referenceObject(for objectID: NSManagedObjectID) -> Any {
    precondition(
      !objectID.isTemporaryID && (objectID.identity === identity || objectID.identity?.uuid == identifier),
      "\(objectID) is no permanent identifier of \(Swift.type(of: self)).")
    return objectID.reference.object
  }
}
