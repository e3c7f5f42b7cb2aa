public import Foundation

/// Asks stores for their history, or asks them to delete some of it.
///
/// A context executes the request, and gets an ``NSPersistentHistoryResult``. The stores are those of the coordinator
/// that can record their saves; ``NSPersistentStoreRequest/affectedStores`` may choose among them.
public final class NSPersistentHistoryChangeRequest: NSPersistentStoreRequest {
  enum Bound {
    /// The place of a token; nil for the beginning.
    case token(NSPersistentHistoryToken?)
    case date(Date)
  }

  let bound: Bound
  let deletes: Bool

  /// What the result has: transactions and their changes unless set. A deletion has a status unless set, or a count.
  public var resultType: NSPersistentHistoryResultType

  /// Selects transactions, or changes, by a predicate; nil for all. The entity of the request must be that of
  /// ``NSPersistentHistoryTransaction`` or, for changes, of ``NSPersistentHistoryChange``. Its limit and its offset
  /// apply to the transactions or changes of all stores, and are refused for a deletion; sort descriptors are refused.
  public var fetchRequest: NSFetchRequest<any NSFetchRequestResult>?

  private init(_ bound: Bound, deletes: Bool, _ fetchRequest: NSFetchRequest<any NSFetchRequestResult>? = nil) {
    self.bound = bound
    self.deletes = deletes
    self.fetchRequest = fetchRequest
    resultType = deletes ? .statusOnly : .transactionsAndChanges
    super.init()
  }

  /// The token after which the request fetches, or before which it deletes; nil if it was made with a date or a nil
  /// token.
  public var token: NSPersistentHistoryToken? { if case .token(let token) = bound { token } else { nil } }

  /// A request for all transactions after a token; nil for all transactions.
  ///
  /// Of a store that the token says nothing about, all transactions are fetched. The request fails with
  /// ``NSPersistentHistoryTokenExpiredError`` if the token has expired, and with ``NSPersistentStoreOperationError`` if
  /// it is of none of the stores.
  public class func fetchHistory(after token: NSPersistentHistoryToken?) -> Self { Self(.token(token), deletes: false) }

  /// A request for all transactions after a transaction; nil for all transactions.
  public class func fetchHistory(after transaction: NSPersistentHistoryTransaction?) -> Self {
    fetchHistory(after: transaction?.token)
  }

  /// A request for all transactions that were saved after a date. Takes time in proportion to all transactions.
  public class func fetchHistory(after date: Date) -> Self { Self(.date(date), deletes: false) }

  /// A request for the transactions, or the changes, that a fetch request selects.
  public class func fetchHistory(withFetch fetchRequest: NSFetchRequest<any NSFetchRequestResult>) -> Self {
    Self(.token(nil), deletes: false, fetchRequest)
  }

  /// As ``fetchHistory(withFetch:)``, for a fetch request with any type of results: off Apple's platforms, a request for
  /// one type cannot be cast to a request for another.
  public class func fetchHistory<Result>(withFetch fetchRequest: NSFetchRequest<Result>) -> Self {
    fetchHistory(withFetch: NSFetchRequest<any NSFetchRequestResult>(copying: fetchRequest))
  }

  /// A request to delete all transactions before that of a token, which stays. Without a token, nothing is deleted.
  public class func deleteHistory(before token: NSPersistentHistoryToken?) -> Self {
    Self(.token(token), deletes: true)
  }

  /// A request to delete all transactions before a transaction. Without a transaction, nothing is deleted.
  public class func deleteHistory(before transaction: NSPersistentHistoryTransaction?) -> Self {
    deleteHistory(before: transaction?.token)
  }

  /// A request to delete all transactions that were saved before a date.
  public class func deleteHistory(before date: Date) -> Self { Self(.date(date), deletes: true) }

  /// Core Data's enumeration has no type for history: the type of fetches, or of batch deletions.
  public override var requestType: NSPersistentStoreRequestType {
    deletes ? .batchDeleteRequestType : .fetchRequestType
  }
}

/// What the result of a request for history has. The raw values are those of Core Data.
public enum NSPersistentHistoryResultType: Int, Sendable {
  /// True.
  case statusOnly = 0
  /// The identifiers of the changed objects, an array, each once.
  case objectIDs = 1
  /// The number of transactions; the number of changes if the fetch request is for changes.
  case count = 2
  /// Transactions without changes, an array.
  case transactionsOnly = 3
  /// Changes, an array.
  case changesOnly = 4
  /// Transactions with their changes, an array; changes if the fetch request is for changes.
  case transactionsAndChanges = 5
}

/// The result of an ``NSPersistentHistoryChangeRequest``.
public final class NSPersistentHistoryResult: NSPersistentStoreResult {
  /// A `Bool`, an `Int`, or an array of identifiers, transactions or changes, depending on ``resultType``. Transactions
  /// and changes come in the order in which they were saved, store by store.
  public let result: Any?
  /// The kind of the result.
  public let resultType: NSPersistentHistoryResultType

  init(_ resultType: NSPersistentHistoryResultType, _ result: Any) {
    (self.resultType, self.result) = (resultType, result)
  }
}
