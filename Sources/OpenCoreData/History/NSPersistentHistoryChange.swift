public import Foundation

/// What one transaction has done to one object.
///
/// Changes may be passed to any thread if the model is not changed any more.
public final class NSPersistentHistoryChange: NSObject, NSFetchRequestResult, NSCopying, @unchecked Sendable {
  private let origin: NSPersistentHistoryTransaction.Origin

  /// The identifier of the object.
  public let changedObjectID: NSManagedObjectID
  /// The number of the change among all changes of the store.
  public let changeID: Int64
  /// What happened to the object.
  public let changeType: NSPersistentHistoryChangeType
  /// The values that a deleted object had, of the attributes that are preserved
  /// (``NSAttributeDescription/preservesValueInHistoryOnDeletion``); nil if there are none.
  public let tombstone: [AnyHashable: Any]?
  /// The properties of an updated object that have other values since: attributes, and relationships in which the
  /// object got or lost others. Nil for an inserted or a deleted object.
  public let updatedProperties: Set<NSPropertyDescription>?

  package init(
    _ origin: NSPersistentHistoryTransaction.Origin, _ changeID: Int64, _ changedObjectID: NSManagedObjectID,
    _ changeType: NSPersistentHistoryChangeType, updatedProperties: Set<NSPropertyDescription>? = nil,
    tombstone: [AnyHashable: Any]? = nil
  ) {
    self.origin = origin
    self.changeID = changeID
    self.changedObjectID = changedObjectID
    self.changeType = changeType
    self.updatedProperties = updatedProperties
    self.tombstone = tombstone
  }

  /// The transaction of the change, without its changes.
  public var transaction: NSPersistentHistoryTransaction? { NSPersistentHistoryTransaction(origin, nil) }

  // MARK: Fetch requests

  /// The entity `Change`, for fetch requests that select changes. Its attributes are `changedObjectID`, `changeID` and
  /// `changeType`; its relationship is `transaction`.
  public class var entityDescription: NSEntityDescription? { HistoryEntities.change }

  /// ``entityDescription``, whatever the context.
  public class func entityDescription(with context: NSManagedObjectContext) -> NSEntityDescription? {
    entityDescription
  }

  /// A new fetch request for the entity, to which a predicate can be added.
  public class var fetchRequest: NSFetchRequest<any NSFetchRequestResult>? {
    HistoryEntities.request(entityDescription)
  }

  // MARK: Equality

  /// Changes are equal if they are the same one of the same transaction.
  public override func isEqual(_ object: Any?) -> Bool {
    guard let other = object as? NSPersistentHistoryChange else { return false }
    return other.changeID == changeID && other.transaction == transaction
  }

  public override var hash: Int { changeID.hashValue }

  /// The change itself.
  public func copy(with zone: NSZone? = nil) -> Any { self }

  /// The number, the kind and the object.
  public override var description: String {
    "NSPersistentHistoryChange(\(changeID), \(changeType) \(changedObjectID.uriRepresentation().absoluteString))"
  }
}

/// What a transaction has done to an object. The raw values are those of Core Data.
public enum NSPersistentHistoryChangeType: Int, Sendable {
  /// The object was inserted.
  case insert = 0
  /// The object was changed, or others were related to it or no longer related to it.
  case update = 1
  /// The object was deleted.
  case delete = 2
}

extension NSPersistentHistoryChange: KeyValueCoding {
  /// The value of the property of ``entityDescription`` with the name.
  public func value(forKey key: String) -> Any? {
    switch key {
    case "changedObjectID": changedObjectID
    case "changeID": changeID
    case "changeType": changeType.rawValue
    case "transaction": transaction
    default: nil
    }
  }
}
