import CoreData
import Testing

/// A coordinator with a store of the given class, and contexts for it.
struct Stack<Store: RecordingStore> {
  let backing: Backing
  let coordinator: NSPersistentStoreCoordinator
  let store: Store

  init(
    _ model: NSManagedObjectModel = Town.model(), _ backing: Backing = .town(), options: [AnyHashable: Any] = [:]
  ) throws {
    self.backing = backing
    coordinator = NSPersistentStoreCoordinator(managedObjectModel: model)
    store = try coordinator.add(Store.self, backing, options: options)
  }

  /// A context with a queue of its own.
  func context() -> NSManagedObjectContext {
    let context = NSManagedObjectContext(.privateQueue)
    context.persistentStoreCoordinator = coordinator
    context.stalenessInterval = Store.stalenessInterval
    return context
  }

  /// Runs a closure with a new context, which is released afterwards.
  @discardableResult
  func work<Result>(_ body: (NSManagedObjectContext) throws -> Result) rethrows -> Result {
    let context = context()
    return try context.performAndWait { try body(context) }
  }

  /// The calls to the store during a closure.
  func calls(_ body: () throws -> Void) rethrows -> [StoreCall] {
    store.calls = []
    try body()
    return store.calls
  }

  /// Expects exactly these calls to the store during a closure.
  func expectCalls(
    _ expected: [StoreCall], sourceLocation: SourceLocation = #_sourceLocation, _ body: () throws -> Void
  ) rethrows {
    let calls = try calls(body)
    #expect(calls == expected, sourceLocation: sourceLocation)
  }
}

extension NSPersistentStoreCoordinator {
  func add<Store: RecordingStore>(
    _: Store.Type, _ backing: Backing, configuration: String? = nil, options: [AnyHashable: Any] = [:]
  ) throws -> Store {
    let type = NSPersistentStore.StoreType(rawValue: Store.storeType)
    NSPersistentStoreCoordinator.registerStoreClass(Store.self, type: type)
    let store = try addPersistentStore(
      type: type, configuration: configuration, at: backing.url,
      options: options.merging([Backing.option: backing]) { $1 })
    return store as! Store
  }
}
