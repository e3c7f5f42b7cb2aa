import CairnIncrementalStore
import CoreData
import Synchronization

#if PostgreSQL
  import PostgreSQLIncrementalStore
#endif

/// The accounts and transfers. Each request has a context of its own, so that it does not see unsaved changes of other
/// requests, and leaves no unsaved changes behind.
final class Ledger: Sendable {
  static let openingBalance: Int64 = 10_000
  private static let attempts = 10
  /// Much more than the accounts need; transfers are hardly ever read again.
  private static let rowCacheBytes = 1 << 20

  private let container: NSPersistentContainer
  private let accountIDs: [NSManagedObjectID]
  private let counts = Mutex((saves: 0, conflicts: 0))

  /// Opens a store. If it has no accounts yet, creates as many as `accounts` says.
  init(_ store: String, accounts: Int) throws {
    guard let file = Bundle.module.url(forResource: "Bank", withExtension: "xcdatamodeld"),
      let model = NSManagedObjectModel(contentsOf: file)
    else { fatalError("There is no model.") }
    container = NSPersistentContainer(name: "Bank", managedObjectModel: model)
    let description = try Self.description(store)
    description.setOption(NSNumber(value: Self.rowCacheBytes), forKey: RowCacheBytesOption)
    container.persistentStoreDescriptions = [description]
    var failure: (any Error)?
    container.loadPersistentStores { _, error in failure = error }
    if let failure { throw failure }

    let context = container.newBackgroundContext()
    accountIDs = try context.performAndWait {
      let existing = try Self.accountIDs(context)
      guard existing.isEmpty else { return existing }
      for number in 0..<accounts {
        let account = Account(context: context)
        account.number = Int64(number)
        account.balance = Self.openingBalance
      }
      try context.save()
      return try Self.accountIDs(context)
    }
  }

  /// - Parameter store: The path of a store in Cairn or, with the trait `PostgreSQL`, the URI of a database.
  private static func description(_ store: String) throws -> NSPersistentStoreDescription {
    guard store.hasPrefix("postgresql:") else { return .cairn(at: URL(filePath: store)) }
    #if PostgreSQL
      if let description = NSPersistentStoreDescription.postgreSQL(store) { return description }
    #endif
    throw CocoaError(.fileReadUnsupportedScheme)
  }

  /// Closes the store. Nobody may use the ledger afterwards.
  func close() throws {
    try container.persistentStoreCoordinator.remove(store)
  }

  // MARK: Writing

  /// Moves an amount from one account to another and records the transfer, in one save.
  ///
  /// If another request has changed one of the accounts meanwhile, tries again with the new balances.
  func transfer(_ request: TransferRequest) async throws -> TransferReply {
    for _ in 0..<Self.attempts {
      do {
        let reply = try await attempt(request)
        counts.withLock { $0.saves += 1 }
        return reply
      } catch let error as NSError where error.code == NSManagedObjectMergeError {
        counts.withLock { $0.conflicts += 1 }
      }
    }
    throw LedgerError.contended
  }

  private func attempt(_ request: TransferRequest) async throws -> TransferReply {
    try await container.performBackgroundTask { context in
      context.mergePolicy = NSMergePolicy.error
      let source = try self.account(request.source, context)
      let destination = try self.account(request.destination, context)
      guard source != destination, request.amount > 0 else { throw LedgerError.senseless }
      guard source.balance >= request.amount else { throw LedgerError.insufficientFunds }
      source.balance -= request.amount
      destination.balance += request.amount

      let transfer = Transfer(context: context)
      transfer.amount = request.amount
      transfer.source = source
      transfer.destination = destination
      try context.save()
      return TransferReply(id: transfer.objectID.uriRepresentation().lastPathComponent, transfer: request)
    }
  }

  // MARK: Reading

  func account(_ number: Int) async throws -> AccountReply {
    try await container.performBackgroundTask { context in
      AccountReply(number: number, balance: try self.account(number, context).balance)
    }
  }

  /// The balance of an account and the sums of its deposits and withdrawals. The balance is from the same moment as the
  /// sums only if there are no transfers meanwhile.
  func statement(_ number: Int) async throws -> StatementReply {
    try await container.performBackgroundTask { context in
      let account = try self.account(number, context)
      return StatementReply(
        balance: account.balance,
        deposits: Self.sum(account.deposits),
        withdrawals: Self.sum(account.withdrawals))
    }
  }

  func transfer(_ id: String) async throws -> TransferReply {
    try await container.performBackgroundTask { context in
      let transfer = try self.transfer(id, context)
      guard let source = transfer.source, let destination = transfer.destination else {
        throw LedgerError.noSuchTransfer
      }
      let request = TransferRequest(
        source: Int(source.number), destination: Int(destination.number), amount: transfer.amount)
      return TransferReply(id: id, transfer: request)
    }
  }

  /// The number of accounts and the sum of their balances at one moment. The fetch makes dictionaries from one snapshot
  /// of the store; objects would instead take their values from the newest rows, each when it is first read.
  func total() async throws -> TotalReply {
    try await container.performBackgroundTask { context in
      let request = NSFetchRequest<NSDictionary>(entityName: "Account")
      request.resultType = .dictionaryResultType
      request.propertiesToFetch = ["balance"]
      let balances = try context.fetch(request).compactMap { $0["balance"] as? Int64 }
      return TotalReply(accounts: balances.count, balance: balances.reduce(0, +))
    }
  }

  func statistics() -> StatisticsReply {
    let statistics = (store as? CairnIncrementalStore)?.statistics
    let (saves, conflicts) = counts.withLock { $0 }
    return StatisticsReply(
      saves: saves, conflicts: conflicts, storeBytes: statistics?.logBytes ?? 0,
      indexBytes: statistics?.indexBytes ?? 0, memoryBytes: Memory.ownBytes, mappedBytes: Memory.mappedBytes)
  }

  // MARK: Objects

  private var store: NSPersistentStore { container.persistentStoreCoordinator.persistentStores[0] }

  private static func accountIDs(_ context: NSManagedObjectContext) throws -> [NSManagedObjectID] {
    let request = NSFetchRequest<NSManagedObjectID>(entityName: "Account")
    request.resultType = .managedObjectIDResultType
    request.sortDescriptors = [NSSortDescriptor(key: "number", ascending: true)]
    return try context.fetch(request)
  }

  private func account(_ number: Int, _ context: NSManagedObjectContext) throws -> Account {
    guard accountIDs.indices.contains(number),
      let account = try context.existingObject(with: accountIDs[number]) as? Account
    else { throw LedgerError.noSuchAccount }
    return account
  }

  /// Finds a transfer by the last part of its URI.
  private func transfer(_ id: String, _ context: NSManagedObjectContext) throws -> Transfer {
    guard let uri = URL(string: "x-coredata://\(store.identifier ?? "")/Transfer/\(id)"),
      let objectID = container.persistentStoreCoordinator.managedObjectID(forURIRepresentation: uri)
    else { throw LedgerError.noSuchTransfer }
    do {
      guard let transfer = try context.existingObject(with: objectID) as? Transfer else {
        throw LedgerError.noSuchTransfer
      }
      return transfer
    } catch let error as NSError where error.code == NSManagedObjectReferentialIntegrityError {
      throw LedgerError.noSuchTransfer
    }
  }

  private static func sum(_ transfers: NSSet?) -> Int64 {
    (transfers as? Set<Transfer> ?? []).reduce(0) { $0 + $1.amount }
  }
}
