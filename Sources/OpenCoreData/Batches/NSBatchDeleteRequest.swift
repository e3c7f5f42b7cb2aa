import Foundation

/// Asks a store to delete objects without making managed objects of them.
///
/// The delete rules of the model apply: `cascade` deletes related objects, too, `nullify` removes the deleted objects
/// from the relationships of the others, `noAction` keeps the references of the others, and `deny` makes the request
/// fail with ``NSValidationRelationshipDeniedDeleteError`` if related objects stay. A relationship that is not optional
/// cannot be nullified: the request then fails with ``NSValidationMissingMandatoryPropertyError``. A request that fails
/// deletes nothing.
///
/// Contexts learn nothing of the request; pass the identifiers to
/// ``NSManagedObjectContext/mergeChanges(fromRemoteContextSave:into:)``.
open class NSBatchDeleteRequest: NSPersistentStoreRequest {
  private let request: NSFetchRequest<any NSFetchRequestResult>
  /// The identifiers of the objects to delete; nil if the fetch request finds them.
  package let objectIDs: [NSManagedObjectID]?
  /// The kind of the result: only the status unless set.
  open var resultType = NSBatchDeleteRequestResultType.resultTypeStatusOnly
  /// The greatest number of objects that the store deletes at once, not counting those that delete rules reach; 0, for
  /// one atomic save, unless set.
  ///
  /// Otherwise the request takes the memory of so many objects, and of the references of all others. If it fails, the
  /// objects of the saves before are deleted, and the error has their number under
  /// ``NSPersistentStoreRequest/savedCountErrorKey``. Core Data does not have this property.
  open var objectsPerSave = 0

  private init(_ request: NSFetchRequest<any NSFetchRequestResult>, _ objectIDs: [NSManagedObjectID]?) {
    (self.request, self.objectIDs) = (request, objectIDs)
    super.init()
  }

  /// A request to delete the objects that a fetch request finds. The request's type of results does not matter.
  public convenience init(fetchRequest fetch: NSFetchRequest<any NSFetchRequestResult>) {
    self.init(NSFetchRequest<any NSFetchRequestResult>(copying: fetch), nil)
  }

  /// As ``init(fetchRequest:)``, for a fetch request with any type of results: off Apple's platforms, a request for one
  /// type cannot be cast to a request for another.
  public convenience init<Result>(fetchRequest fetch: NSFetchRequest<Result>) {
    self.init(NSFetchRequest<any NSFetchRequestResult>(copying: fetch), nil)
  }

  /// A request to delete objects of one entity. A store refuses identifiers of several entities.
  public convenience init(objectIDs objects: [NSManagedObjectID]) {
    let request = NSFetchRequest<any NSFetchRequestResult>(entityName: objects.first?.entity.name ?? "")
    request.entity = objects.first?.entity
    request.predicate = NSPredicate(format: "SELF IN %@", objects)
    self.init(request, objects)
  }

  /// A copy of the fetch request that finds the objects to delete.
  open var fetchRequest: NSFetchRequest<any NSFetchRequestResult> {
    NSFetchRequest<any NSFetchRequestResult>(copying: request)
  }

  open override var requestType: NSPersistentStoreRequestType { .batchDeleteRequestType }
}

/// The kinds of results of a batch deletion. The raw values are those of Core Data.
public enum NSBatchDeleteRequestResultType: UInt, Sendable {
  /// True.
  case resultTypeStatusOnly = 0
  /// The identifiers of the deleted objects, an array, those that delete rules have reached included.
  case resultTypeObjectIDs = 1
  /// The number of these objects.
  case resultTypeCount = 2
}

/// The result of an ``NSBatchDeleteRequest``.
open class NSBatchDeleteResult: NSPersistentStoreResult {
  private let content: BatchResult<NSBatchDeleteRequestResultType>?

  /// A result for a subclass that overrides both properties.
  public override init() { content = nil }

  package init(_ type: NSBatchDeleteRequestResultType, _ ids: BatchIDs) {
    let result: Any =
      switch type {
      case .resultTypeStatusOnly: true
      case .resultTypeObjectIDs: ids.objectIDs
      case .resultTypeCount: ids.count
      }
    content = BatchResult(type, result)
  }

  /// A `Bool`, an `Int` or an array of identifiers, depending on ``resultType``.
  open var result: Any? { content?.result }
  /// The kind of the result.
  open var resultType: NSBatchDeleteRequestResultType { content?.type ?? .resultTypeStatusOnly }
}
