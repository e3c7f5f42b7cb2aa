import Foundation
import OpenCoreData

/// Accounts in a store that many contexts use at once.
///
/// Identifiers and coordinators may be used on any thread; contexts and objects stay where they were made.
struct Bank: Sendable {
  enum Kind: CaseIterable {
    /// Called by one thread at a time.
    case inMemory
    /// Read by several threads at once, also during a save.
    case concurrent
  }

  static let opening: Int64 = 1000

  let coordinator: NSPersistentStoreCoordinator
  let accounts: [NSManagedObjectID]
  private let place: Place

  init(accounts count: Int, _ kind: Kind = .inMemory) throws {
    place = Place(kind)
    coordinator = try Self.coordinator(place)
    let context = Self.context(of: coordinator, name: "opening")
    accounts = try context.performAndWait {
      let objects = (0..<count).map { _ in
        NSEntityDescription.insertNewObject(forEntityName: "Account", into: context)
      }
      for object in objects { object.balance = Self.opening }
      try context.save()
      return objects.map(\.objectID)
    }
  }

  /// The same accounts, for another coordinator of the store.
  private init(sharing bank: Bank) throws {
    (place, accounts) = (bank.place, bank.accounts)
    coordinator = try Self.coordinator(place)
  }

  /// The same bank as another part of the program sees it that has a coordinator of its own.
  func branch() throws -> Bank { try Bank(sharing: self) }

  private static func coordinator(_ place: Place) throws -> NSPersistentStoreCoordinator {
    let account = entity("Account", class: "NSManagedObject")
    account.properties = [
      attribute("balance", .integer64, isOptional: false, defaultValue: 0),
      attribute("transfers", .integer64, isOptional: false, defaultValue: 0),
    ]
    let model = NSManagedObjectModel()
    model.entities = [account]
    let coordinator = NSPersistentStoreCoordinator(managedObjectModel: model)
    switch place.kind {
    case .inMemory:
      _ = try coordinator.addPersistentStore(ofType: NSInMemoryStoreType, configurationName: nil, at: nil)
    case .concurrent:
      NSPersistentStoreCoordinator.registerStoreClass(TestRowStore.self, forStoreType: TestRowStore.storeType)
      _ = try coordinator.addPersistentStore(ofType: TestRowStore.storeType, configurationName: nil, at: place.url)
    }
    return coordinator
  }

  /// Where the store is as long as somebody uses it.
  private final class Place: Sendable {
    let kind: Kind
    let url = URL(filePath: "/bank \(UUID().uuidString)")

    init(_ kind: Kind) { self.kind = kind }

    deinit { if kind == .concurrent { TestRowStore.forget(url) } }
  }

  func context(_ name: String, _ type: NSManagedObjectContext.ConcurrencyType = .privateQueue) -> NSManagedObjectContext
  {
    Self.context(of: coordinator, name: name, type)
  }

  private static func context(
    of coordinator: NSPersistentStoreCoordinator, name: String,
    _ type: NSManagedObjectContext.ConcurrencyType = .privateQueue
  ) -> NSManagedObjectContext {
    let context = NSManagedObjectContext(type)
    context.name = name
    context.persistentStoreCoordinator = coordinator
    return context
  }

  /// The sums of the balances and of the transfer counts that all accounts have at one moment.
  func audit() throws -> (balance: Int64, transfers: Int64) {
    let context = context("auditor")
    return try context.performAndWait {
      let request = NSFetchRequest<NSManagedObject>(entityName: "Account")
      request.returnsObjectsAsFaults = false
      return try context.fetch(request).reduce((0, 0)) { ($0.0 + $1.balance, $0.1 + $1.transfers) }
    }
  }

  /// The saved balances, and the sum of the accounts' transfer counts.
  func saved() throws -> (balances: [Int64], transfers: Int64) {
    let context = context("auditor")
    return try context.performAndWait {
      let objects = try accounts.map(context.existingObject)
      return (objects.map(\.balance), objects.reduce(0) { $0 + $1.transfers })
    }
  }
}

extension NSManagedObject {
  var balance: Int64 {
    get { value(forKey: "balance") as! Int64 }
    set { setValue(newValue, forKey: "balance") }
  }

  /// How many transfers the account has taken part in.
  var transfers: Int64 {
    get { value(forKey: "transfers") as! Int64 }
    set { setValue(newValue, forKey: "transfers") }
  }
}

/// Settles conflicts by adding the differences of both sides, which gives correct sums whoever saves first.
final class AddingPolicy: NSMergePolicy, @unchecked Sendable {
  init() { super.init(merge: .mergeByPropertyObjectTrumpMergePolicyType) }

  override func resolve(optimisticLockingConflicts list: [NSMergeConflict]) throws {
    let sums = list.map { conflict in
      let saved = conflict.persistedSnapshot ?? conflict.cachedSnapshot
      return ["balance", "transfers"].map { key in
        let mine = conflict.sourceObject.value(forKey: key) as! Int64
        return mine - (conflict.objectSnapshot?[key] as! Int64) + (saved?[key] as! Int64)
      }
    }
    try super.resolve(optimisticLockingConflicts: list)
    for (conflict, sums) in zip(list, sums) {
      conflict.sourceObject.balance = sums[0]
      conflict.sourceObject.transfers = sums[1]
    }
  }
}

/// Hands a value to another thread where the compiler does not allow it. The receiver makes sure that only one thread
/// uses the value at a time.
struct Handed<Value>: @unchecked Sendable {
  let value: Value

  init(_ value: Value) { self.value = value }
}

/// Runs a closure on `count` new threads, and waits for all of them; throws the error of the first that failed.
func onThreads(_ count: Int, _ body: @escaping @Sendable (Int) throws -> Void) async throws {
  try await withThrowingTaskGroup { group in
    for number in 0..<count {
      group.addTask {
        try await withCheckedThrowingContinuation { (continuation: CheckedContinuation<Void, any Error>) in
          Thread.detachNewThread { continuation.resume(with: Result { try body(number) }) }
        }
      }
    }
    try await group.waitForAll()
  }
}
