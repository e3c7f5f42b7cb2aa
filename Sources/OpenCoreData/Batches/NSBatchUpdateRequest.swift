public import Foundation

/// Asks a store to change properties of all objects that satisfy a predicate, without making managed objects of them.
///
/// Values are checked for their types only; the validation rules of the model do not apply, but a property that is not
/// optional keeps a value. To-many relationships and relationships whose inverse is to-one cannot be changed, nor can
/// transient and derived attributes; a store computes derived attributes.
///
/// Contexts learn nothing of the request, except that objects which they then save conflict; pass the identifiers to
/// ``NSManagedObjectContext/mergeChanges(fromRemoteContextSave:into:)``.
open class NSBatchUpdateRequest: NSPersistentStoreRequest {
  private let givenEntity: NSEntityDescription?
  /// The name of the entity.
  public let entityName: String
  /// The objects to change; nil for all objects of the entity.
  open var predicate: NSPredicate? { didSet { predicate = predicate?.adopted } }
  /// Whether objects of subentities are changed too; true unless set.
  open var includesSubentities = true
  /// The new values, by the names or the descriptions of properties: constants, or `NSExpression`s, which are evaluated
  /// for each object as it was before the request. `NSNull` or a constant nil is no value.
  open var propertiesToUpdate: [AnyHashable: Any]?
  /// The kind of the result: only the status unless set.
  open var resultType = NSBatchUpdateRequestResultType.statusOnlyResultType
  /// The greatest number of objects that the store saves at once; 0, for one atomic save of all objects, unless set.
  ///
  /// Otherwise the request takes the memory of so many objects, and of the references of all others. Each save changes only
  /// objects that satisfy the predicate at that time. If the request fails, the saves before stay, and the error has
  /// the number of their objects under
  /// ``NSPersistentStoreRequest/savedCountErrorKey``. Core Data does not have this property.
  open var objectsPerSave = 0

  /// A request to change objects of an entity.
  public init(entityName: String) { (givenEntity, self.entityName) = (nil, entityName) }

  /// A request to change objects of an entity.
  public init(entity: NSEntityDescription) { (givenEntity, entityName) = (entity, entity.name ?? "") }

  /// The entity. Ends the program if the request was made with a name only.
  open var entity: NSEntityDescription {
    guard let givenEntity else { fatalError("The batch update of \(entityName) was made without an entity.") }
    return givenEntity
  }

  /// The entity, if it was given.
  package var entityIfGiven: NSEntityDescription? { givenEntity }

  open override var requestType: NSPersistentStoreRequestType { .batchUpdateRequestType }
}

/// The kinds of results of a batch update. The raw values are those of Core Data.
public enum NSBatchUpdateRequestResultType: UInt, Sendable {
  /// True.
  case statusOnlyResultType = 0
  /// The identifiers of the changed objects, an array.
  case updatedObjectIDsResultType = 1
  /// The number of changed objects.
  case updatedObjectsCountResultType = 2
}

/// The result of an ``NSBatchUpdateRequest``.
open class NSBatchUpdateResult: NSPersistentStoreResult {
  private let content: BatchResult<NSBatchUpdateRequestResultType>?

  /// A result for a subclass that overrides both properties.
  public override init() { content = nil }

  package init(_ type: NSBatchUpdateRequestResultType, _ ids: BatchIDs) {
    let result: Any =
      switch type {
      case .statusOnlyResultType: true
      case .updatedObjectIDsResultType: ids.objectIDs
      case .updatedObjectsCountResultType: ids.count
      }
    content = BatchResult(type, result)
  }

  /// A `Bool`, an `Int` or an array of identifiers, depending on ``resultType``.
  open var result: Any? { content?.result }
  /// The kind of the result.
  open var resultType: NSBatchUpdateRequestResultType { content?.type ?? .statusOnlyResultType }
}
