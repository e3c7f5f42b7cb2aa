import Foundation

/// Collects what a request for history asks for from one store after another.
struct HistoryQuery {
  private let type: NSPersistentHistoryResultType
  private let predicate: NSPredicate?
  /// Whether the predicate selects changes, not transactions.
  private let selectsChanges: Bool
  private var offset: Int
  private var limit: Int
  private var transactions: [NSPersistentHistoryTransaction] = []
  private var changes: [NSPersistentHistoryChange] = []
  private var count = 0
  private var ids: [NSManagedObjectID] = []
  private var known: Set<NSManagedObjectID> = []

  /// - Throws: ``NSCoreDataError`` if the fetch request of the request cannot be answered.
  init(_ request: NSPersistentHistoryChangeRequest) throws {
    let fetch = request.fetchRequest
    let entity = fetch?.entityName ?? HistoryEntities.transaction.name
    guard [HistoryEntities.transaction.name, HistoryEntities.change.name].contains(entity) else {
      throw CoreDataError.make(
        NSCoreDataError, "History is fetched as Transaction or as Change, not as \(entity ?? "nil").")
    }
    guard fetch?.sortDescriptors?.isEmpty ?? true else {
      throw CoreDataError.make(
        NSCoreDataError, "History is fetched in the order in which it was saved; its requests have no sort descriptors."
      )
    }
    type = request.resultType
    selectsChanges = entity == HistoryEntities.change.name
    guard !(request.deletes && selectsChanges) else {
      throw CoreDataError.make(NSCoreDataError, "History is deleted by transactions, not by changes.")
    }
    guard !request.deletes || fetch.map({ $0.fetchLimit == 0 && $0.fetchOffset == 0 }) ?? true else {
      throw CoreDataError.make(NSCoreDataError, "A deletion of history has neither a limit nor an offset.")
    }
    guard !request.deletes || [.statusOnly, .count].contains(type) else {
      throw CoreDataError.make(NSCoreDataError, "The result of a deletion of history is a status or a count.")
    }
    predicate = fetch?.predicate
    offset = fetch?.fetchOffset ?? 0
    limit = fetch.map { $0.fetchLimit > 0 ? $0.fetchLimit : .max } ?? .max
  }

  // MARK: Stores

  mutating func fetch(after bound: HistoryBound, in store: any HistoryStore) throws {
    guard limit > 0 else { return }
    let withChanges = selectsChanges || [.objectIDs, .changesOnly, .transactionsAndChanges].contains(type)
    try store.forEachTransaction(after: bound, withChanges: withChanges) { transaction in
      try FetchCancellation.check()
      if selectsChanges {
        for change in transaction.changes ?? [] where takes(change) { add(change) }
      } else if takes(transaction) {
        add(transaction)
      }
      return limit > 0
    }
  }

  mutating func delete(before bound: HistoryBound, in store: any HistoryStore) throws {
    count += try store.deleteTransactions(before: bound) { transaction in
      predicate?.evaluate(with: transaction) ?? true
    }
  }

  /// Whether the request selects a transaction or a change, the offset and the limit included.
  private mutating func takes(_ item: any KeyValueCoding) -> Bool {
    guard limit > 0, predicate?.evaluate(with: item) ?? true else { return false }
    guard offset == 0 else {
      offset -= 1
      return false
    }
    if limit < .max { limit -= 1 }
    return true
  }

  private mutating func add(_ transaction: NSPersistentHistoryTransaction) {
    count += 1
    switch type {
    case .statusOnly, .count: break
    case .transactionsOnly, .transactionsAndChanges: transactions.append(transaction)
    case .changesOnly: changes += transaction.changes ?? []
    case .objectIDs: for change in transaction.changes ?? [] { note(change.changedObjectID) }
    }
  }

  private mutating func add(_ change: NSPersistentHistoryChange) {
    count += 1
    switch type {
    case .statusOnly, .count: break
    case .changesOnly, .transactionsAndChanges: changes.append(change)
    case .transactionsOnly:
      if let transaction = change.transaction, transactions.last != transaction { transactions.append(transaction) }
    case .objectIDs: note(change.changedObjectID)
    }
  }

  private mutating func note(_ id: NSManagedObjectID) {
    if known.insert(id).inserted { ids.append(id) }
  }

  // MARK: Result

  var result: NSPersistentHistoryResult {
    let result: Any =
      switch type {
      case .statusOnly: true
      case .objectIDs: ids
      case .count: count
      case .transactionsOnly: transactions
      case .changesOnly: changes
      case .transactionsAndChanges: selectsChanges ? changes as Any : transactions
      }
    return NSPersistentHistoryResult(type, result)
  }
}
