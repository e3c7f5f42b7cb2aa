public import Foundation

/// A store that reads rows one by one and saves changes one by one. A subclass turns a database, a file or a service
/// into a store; register it with ``NSPersistentStoreCoordinator/registerStoreClass(_:type:)``.
///
/// All methods are called by one thread at a time, on whichever thread needs the result. If a subclass does not
/// override a method that it must override, a call of that method ends the program.
open class NSIncrementalStore: NSPersistentStore {
  /// Executes a request completely or, if it throws, not at all.
  ///
  /// For an ``NSFetchRequest``, which is always a copy and an `NSFetchRequest<NSManagedObject>`, it returns an array:
  /// of objects from `context.object(with:)`, of identifiers, of dictionaries, or of one number, which is the count.
  /// For an ``NSSaveChangesRequest`` it returns an empty array; if the request has no objects, only the metadata are to
  /// be written. For a request of an unknown kind it throws ``NSPersistentStoreUnsupportedRequestTypeError``.
  open func execute(_ request: NSPersistentStoreRequest, with context: NSManagedObjectContext?) throws -> Any {
    abstract()
  }

  /// The attributes of an object, its to-one relationships as identifiers or `NSNull`, and its version. Attributes
  /// without a value may be left out. So may to-one relationships, which are then read one by one with
  /// ``newValue(forRelationship:forObjectWith:with:)``.
  ///
  /// Called each time a fault fires and for each changed object that is saved; it should be fast and must not call the
  /// context.
  ///
  /// - Throws: ``NSManagedObjectReferentialIntegrityError`` if there is no such object.
  open func newValuesForObject(
    with objectID: NSManagedObjectID, with context: NSManagedObjectContext
  ) throws -> NSIncrementalStoreNode { abstract() }

  /// The objects at the other end of a relationship: an identifier or `NSNull` for a to-one relationship, a collection
  /// of identifiers for a to-many one, in order if the relationship is ordered.
  ///
  /// - Throws: ``NSManagedObjectReferentialIntegrityError`` if there is no such object.
  open func newValue(
    forRelationship relationship: NSRelationshipDescription, forObjectWith objectID: NSManagedObjectID,
    with context: NSManagedObjectContext?
  ) throws -> Any { abstract() }

  /// Identifiers for objects that are going to be inserted, in the same order, made by
  /// ``NSIncrementalStore/newObjectID(for:referenceObject:)``.
  ///
  /// An identifier must never be given twice, even if no save follows.
  open func obtainPermanentIDs(for array: [NSManagedObject]) throws -> [NSManagedObjectID] { abstract() }

  /// Called after a context has begun to use these objects. For each such call for an object, there is one call of
  /// ``managedObjectContextDidUnregisterObjects(with:)``, so a store may count. Does nothing unless a subclass
  /// overrides it.
  open func managedObjectContextDidRegisterObjects(with objectIDs: [NSManagedObjectID]) {}

  /// Called after a context has ceased to use these objects. Does nothing unless a subclass overrides it.
  open func managedObjectContextDidUnregisterObjects(with objectIDs: [NSManagedObjectID]) {}

  /// An identifier for a store that is made at `storeURL`: a new UUID, as a string.
  open class func identifierForNewStore(at storeURL: URL) -> Any { UUID().uuidString }

  /// Makes the identifier of the object to which the store refers by `data`, a string or a whole number; any other
  /// value is replaced by its description. From the URI of an identifier with an empty string, no identifier can be
  /// made. The metadata must be loaded. May be called on any thread.
  ///
  /// - Parameters:
  ///   - entity: The entity of the object itself, not one that it inherits from.
  ///   - data: The string or the number.
  open func newObjectID(for entity: NSEntityDescription, referenceObject data: Any) -> NSManagedObjectID {
    guard let identity = identity ?? identifier.map({ StoreIdentity($0, of: self) }) else {
      fatalError("\(Swift.type(of: self)) makes an identifier before its metadata have an \(NSStoreUUIDKey).")
    }
    return NSManagedObjectID(entity, identity, ObjectReference(data))
  }

  /// The value by which the store refers to an object: an `NSNumber` if it was a whole number, otherwise a string. The
  /// identifier must be a permanent one of this store. May be called on any thread.
  open func referenceObject(for objectID: NSManagedObjectID) -> Any {
    require(
      !objectID.isTemporaryID && (objectID.identity === identity || objectID.identity?.uuid == identifier),
      "\(objectID) is no permanent identifier of \(Swift.type(of: self)).")
    return objectID.reference.object
  }
}
