public import Foundation

/// One save or batch request, as the history of a store has it.
///
/// Transactions may be passed to any thread if the model is not changed any more.
public final class NSPersistentHistoryTransaction: NSObject, NSFetchRequestResult, NSCopying, @unchecked Sendable {
  /// Who saved, when, and under which number.
  package struct Origin {
    package var storeID: String
    package var position: NSPersistentHistoryToken.Position
    package var timestamp: Date
    package var author: String?
    package var contextName: String?
    package var bundleID: String
    package var processID: String

    package init(
      storeID: String, position: NSPersistentHistoryToken.Position, timestamp: Date, author: String?,
      contextName: String?, bundleID: String, processID: String
    ) {
      self.storeID = storeID
      self.position = position
      self.timestamp = timestamp
      self.author = author
      self.contextName = contextName
      self.bundleID = bundleID
      self.processID = processID
    }
  }

  private let origin: Origin

  /// The changes, each object once; nil if the request asked for transactions only.
  public let changes: [NSPersistentHistoryChange]?

  package init(_ origin: Origin, _ changes: [NSPersistentHistoryChange]?) {
    (self.origin, self.changes) = (origin, changes)
  }

  /// The ``NSManagedObjectContext/transactionAuthor`` of the context that saved.
  public var author: String? { origin.author }
  /// The identifier of the main bundle of the program that saved; the program's name if the bundle has none.
  public var bundleID: String { origin.bundleID }
  /// The ``NSManagedObjectContext/name`` of the context that saved.
  public var contextName: String? { origin.contextName }
  /// The number of the process that saved, as the system counts processes.
  public var processID: String { origin.processID }
  /// The identifier of the store.
  public var storeID: String { origin.storeID }
  /// When the transaction was saved, by the clock of the process. Numbers, not times, tell the order of transactions.
  public var timestamp: Date { origin.timestamp }
  /// The place after the transaction in the history of its store.
  public var token: NSPersistentHistoryToken { NSPersistentHistoryToken([origin.storeID: origin.position]) }
  /// The number of the transaction, which rises from transaction to transaction of a store. No number is given twice,
  /// even if the history is deleted.
  public var transactionNumber: Int64 { origin.position.number }

  /// The transaction as a notification with identifiers, for ``NSManagedObjectContext/mergeChanges(fromContextDidSave:)``.
  /// It names no changes if the request asked for transactions only.
  public func objectIDNotification() -> Notification {
    func ids(_ type: NSPersistentHistoryChangeType) -> [NSManagedObjectID] {
      changes?.filter { $0.changeType == type }.map(\.changedObjectID) ?? []
    }
    let ids = SavedIDs(inserted: ids(.insert), updated: ids(.update), deleted: ids(.delete))
    return Notification(name: NSManagedObjectContext.didSaveObjectIDsNotification, object: self, userInfo: ids.userInfo)
  }

  // MARK: Fetch requests

  /// The entity `Transaction`, for fetch requests that select transactions. Its attributes are the properties of this
  /// class: `author`, `bundleID`, `contextName`, `processID`, `storeID`, `timestamp`, `token` and `transactionNumber`.
  public class var entityDescription: NSEntityDescription? { HistoryEntities.transaction }

  /// ``entityDescription``, whatever the context.
  public class func entityDescription(with context: NSManagedObjectContext) -> NSEntityDescription? {
    entityDescription
  }

  /// A new fetch request for the entity, to which a predicate can be added.
  public class var fetchRequest: NSFetchRequest<any NSFetchRequestResult>? {
    HistoryEntities.request(entityDescription)
  }

  // MARK: Equality

  /// Transactions are equal if they are the same one of the same store.
  public override func isEqual(_ object: Any?) -> Bool {
    guard let other = object as? NSPersistentHistoryTransaction else { return false }
    return other.storeID == storeID && other.origin.position == origin.position
  }

  public override var hash: Int { origin.position.hashValue }

  /// The transaction itself.
  public func copy(with zone: NSZone? = nil) -> Any { self }

  /// The number, the time, who saved, and the changes.
  public override var description: String {
    let changed = changes.map { ", \($0.count) changes" } ?? ""
    return "NSPersistentHistoryTransaction(\(transactionNumber), \(timestamp), author \(author ?? "nil")\(changed))"
  }
}

extension NSPersistentHistoryTransaction: KeyValueCoding {
  /// The value of the attribute of ``entityDescription`` with the name.
  public func value(forKey key: String) -> Any? {
    switch key {
    case "author": author
    case "bundleID": bundleID
    case "contextName": contextName
    case "processID": processID
    case "storeID": storeID
    case "timestamp": timestamp
    case "token": token
    case "transactionNumber": transactionNumber
    case "changes": changes
    default: nil
    }
  }
}
