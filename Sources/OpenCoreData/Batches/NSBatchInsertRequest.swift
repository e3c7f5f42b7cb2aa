public import Foundation

/// Asks a store to insert objects without making managed objects of them.
///
/// The objects come as dictionaries from property names to values, or from a handler, which fills in one dictionary or
/// one object in each call. The handler returns true when there are no more objects; what it has filled in in that call
/// is not inserted. A property without a value has its default value.
///
/// Values are checked for their types only; the validation rules of the model do not apply, but a property that is not
/// optional needs a value. The value of a to-one relationship is an object or its identifier. To-many relationships and
/// relationships whose inverse is to-one cannot be set, nor can transient and derived attributes; a store computes
/// derived attributes.
///
/// The merge policy of the context decides what happens to an object that would violate a uniqueness constraint:
///
/// - `mergeByPropertyObjectTrump`: the object that has the values gets the properties that are set, and keeps the
///   others.
/// - `overwrite`: it gets all properties but the relationships that are not set.
/// - `mergeByPropertyStoreTrump` and `rollback`: it stays as it is.
/// - `error`: the request fails with ``NSManagedObjectConstraintMergeError``.
///
/// Contexts learn nothing of the request; pass the identifiers to
/// ``NSManagedObjectContext/mergeChanges(fromRemoteContextSave:into:)``.
open class NSBatchInsertRequest: NSPersistentStoreRequest {
  /// The name of the entity; empty if the request was made without one.
  public let entityName: String
  /// The entity; nil if only its name was given.
  public let entity: NSEntityDescription?
  /// The objects to insert; nil if a handler makes them.
  open var objectsToInsert: [[String: Any]]?
  /// Fills in the dictionary of the next object; returns true when there are no more objects.
  open var dictionaryHandler: ((NSMutableDictionary) -> Bool)?
  /// Fills in the attributes of the next object, which is in no context; returns true when there are no more objects.
  open var managedObjectHandler: ((NSManagedObject) -> Bool)?
  /// The kind of the result: only the status unless set.
  open var resultType = NSBatchInsertRequestResultType.statusOnly
  /// The greatest number of objects that the store saves at once; 0, for one atomic save of all objects, unless set.
  ///
  /// Otherwise the request takes the memory of so many objects only. If it fails, the objects of the saves before stay,
  /// and the error has their number under
  /// ``NSPersistentStoreRequest/savedCountErrorKey``. Core Data does not have this property.
  open var objectsPerSave = 0

  private init(_ entity: NSEntityDescription?, _ name: String) {
    (self.entity, entityName) = (entity, name)
    super.init()
  }

  /// A request without an entity, which every store refuses.
  public override convenience init() { self.init(nil, "") }

  /// A request to insert objects from dictionaries.
  public convenience init(entityName: String, objects dictionaries: [[String: Any]]) {
    self.init(nil, entityName)
    objectsToInsert = dictionaries
  }

  /// A request to insert objects from dictionaries.
  public convenience init(entity: NSEntityDescription, objects dictionaries: [[String: Any]]) {
    self.init(entity, entity.name ?? "")
    objectsToInsert = dictionaries
  }

  /// A request to insert objects from a handler.
  public convenience init(entityName: String, dictionaryHandler handler: @escaping (NSMutableDictionary) -> Bool) {
    self.init(nil, entityName)
    dictionaryHandler = handler
  }

  /// A request to insert objects from a handler.
  public convenience init(
    entity: NSEntityDescription, dictionaryHandler handler: @escaping (NSMutableDictionary) -> Bool
  ) {
    self.init(entity, entity.name ?? "")
    dictionaryHandler = handler
  }

  /// A request to insert objects from a handler. In a case of a constraint's violation, the properties whose values are
  /// not the default ones count as set.
  public convenience init(entityName: String, managedObjectHandler handler: @escaping (NSManagedObject) -> Bool) {
    self.init(nil, entityName)
    managedObjectHandler = handler
  }

  /// As ``init(entityName:managedObjectHandler:)``.
  public convenience init(
    entity: NSEntityDescription, managedObjectHandler handler: @escaping (NSManagedObject) -> Bool
  ) {
    self.init(entity, entity.name ?? "")
    managedObjectHandler = handler
  }

  open override var requestType: NSPersistentStoreRequestType { .batchInsertRequestType }
}

/// The kinds of results of a batch insertion. The raw values are those of Core Data.
public enum NSBatchInsertRequestResultType: UInt, Sendable {
  /// True.
  case statusOnly = 0
  /// The identifiers of the objects that were inserted or changed, an array.
  case objectIDs = 1
  /// The number of these objects.
  case count = 2
}

/// The result of an ``NSBatchInsertRequest``.
open class NSBatchInsertResult: NSPersistentStoreResult {
  private let content: BatchResult<NSBatchInsertRequestResultType>?

  /// A result for a subclass that overrides both properties.
  public override init() { content = nil }

  package init(_ type: NSBatchInsertRequestResultType, _ ids: BatchIDs) {
    let result: Any =
      switch type {
      case .statusOnly: true
      case .objectIDs: ids.objectIDs
      case .count: ids.count
      }
    content = BatchResult(type, result)
  }

  /// A `Bool`, an `Int` or an array of identifiers, depending on ``resultType``.
  open var result: Any? { content?.result }
  /// The kind of the result.
  open var resultType: NSBatchInsertRequestResultType { content?.type ?? .statusOnly }
}
