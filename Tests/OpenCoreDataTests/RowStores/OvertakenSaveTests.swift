import IncrementalStore
import OpenCoreData
import Synchronization
import Testing

/// A save that others overtake after its versions were compared, and before the store has its turn.
@Suite struct OvertakenSaveTests {
  private let mine: NSPersistentStoreCoordinator
  private let theirs: NSPersistentStoreCoordinator
  private let account: NSManagedObjectID
  private let rows: InterruptedRows

  init() throws {
    let entity = entity("Account", class: "NSManagedObject")
    entity.properties = ["balance", "transfers"].map {
      attribute($0, .integer64, isOptional: false, defaultValue: 0)
    }
    let model = NSManagedObjectModel()
    model.entities = [entity]
    NSPersistentStoreCoordinator.registerStoreClass(InterruptedStore.self, forStoreType: InterruptedStore.storeType)
    let rows = InterruptedRows()
    func coordinator() throws -> NSPersistentStoreCoordinator {
      let coordinator = NSPersistentStoreCoordinator(managedObjectModel: model)
      _ = try coordinator.addPersistentStore(
        ofType: InterruptedStore.storeType, configurationName: nil, at: nil, options: [InterruptedStore.rows: rows])
      return coordinator
    }
    (mine, theirs, self.rows) = (try coordinator(), try coordinator(), rows)
    let context = Self.context(of: mine)
    account = try context.performAndWait {
      let account = NSEntityDescription.insertNewObject(forEntityName: "Account", into: context)
      account.balance = 100
      try context.save()
      return account.objectID
    }
  }

  @Test("An object that another coordinator has changed conflicts, also if the row cache has the change by then.")
  func overtaken() throws {
    let context = Self.context(of: mine)
    try context.performAndWait {
      let account = context.object(with: account)
      account.balance += 1
      rows.beforeNextSave { [self] in
        try deposit(10)
        // The row cache of the coordinator that is saving gets the new row.
        let reader = Self.context(of: mine)
        let request = NSFetchRequest<NSManagedObject>(entityName: "Account")
        request.returnsObjectsAsFaults = false
        #expect(try reader.performAndWait { try reader.fetch(request).map(\.balance) } == [110])
      }
      let error = #expect(throws: NSError.self) { try context.save() }
      #expect(error?.code == NSManagedObjectMergeError)
      #expect((error?.userInfo[NSPersistentStoreSaveConflictsErrorKey] as? [NSMergeConflict])?.count == 1)
      context.mergePolicy = AddingPolicy()
      try context.save()
    }
    #expect(try balance() == 111)
  }

  /// Another coordinator adds to the balance.
  private func deposit(_ amount: Int64) throws {
    let context = Self.context(of: theirs)
    try context.performAndWait {
      context.object(with: account).balance += amount
      try context.save()
    }
  }

  private func balance() throws -> Int64? {
    let context = Self.context(of: theirs)
    return try context.performAndWait {
      let request = NSFetchRequest<NSManagedObject>(entityName: "Account")
      request.returnsObjectsAsFaults = false
      return try context.fetch(request).first?.balance
    }
  }

  private static func context(of coordinator: NSPersistentStoreCoordinator) -> NSManagedObjectContext {
    let context = NSManagedObjectContext(.privateQueue)
    context.persistentStoreCoordinator = coordinator
    return context
  }
}

/// A store whose rows are given to it, so that several coordinators share them.
private final class InterruptedStore: RowIncrementalStore {
  static let rows = "rows"

  override class var storeType: String { "InterruptedStore" }

  override class func rowStore(at url: URL, options: [AnyHashable: Any]?) throws -> any RowStore {
    options?[rows] as! InterruptedRows
  }
}

extension InterruptedStore: ConcurrentStore {}

/// Rows in memory that run a closure when a save has come to them and is not yet begun.
private final class InterruptedRows: RowStore {
  private let rows = MemoryRowStore()
  private let interruption = Mutex<(@Sendable () throws -> Void)?>(nil)

  func beforeNextSave(_ body: @escaping @Sendable () throws -> Void) { interruption.withLock { $0 = body } }

  var referenceKind: RowReferenceKind { rows.referenceKind }

  var keepsSnapshots: Bool { rows.keepsSnapshots }

  func snapshot() -> any RowSnapshot { rows.snapshot() }

  func row(_ reference: RowReference, in table: UInt32) throws -> IncrementalStore.StoredRow? {
    try rows.row(reference, in: table)
  }

  func save(_ changes: (any RowSnapshot) throws -> RowChanges) throws -> UInt64 {
    let interrupt = interruption.withLock { interruption in
      defer { interruption = nil }
      return interruption
    }
    try interrupt?()
    return try rows.save(changes)
  }

  func reserveReferences(_ count: Int) -> [RowReference] { rows.reserveReferences(count) }

  func close() throws {}
}
