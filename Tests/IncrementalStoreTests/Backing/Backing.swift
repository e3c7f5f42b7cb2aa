import CairnIncrementalStore
import CoreData
import IncrementalStore

#if PostgreSQL
  import PostgreSQLIncrementalStore
#endif

/// The numbered rows of a store, for one store after another to open. Reads and changes made here are those of another
/// client, which opens the store with a coordinator of its own each time.
final class Backing {
  /// The key of a store's options under which it finds its rows.
  static let option = "Backing"

  let identifier = UUID().uuidString
  /// The methods that a store is to refuse.
  var failing: Set<StoreMethod> = []
  private let kind = StoreKind.current
  private let memory: MemoryRowStore
  /// Held open, so that each client need not open the files again.
  private var held: (any RowStore)?
  /// Rows to be inserted as soon as the model is known.
  private var waiting: [BackingRow] = []
  /// Metadata to be set as soon as the model is known.
  private var waitingMetadata: [String: Any] = [:]
  private var store: (model: NSManagedObjectModel, type: NSPersistentStore.StoreType)?
  /// The table and the reference of each object; the first object is number 1.
  private var references: [(entityName: String, reference: Any)] = []
  private var numbers: [String: Int] = [:]

  init() { memory = MemoryRowStore(referenceKind: kind.references ?? .integer) }

  deinit {
    try? held?.close()
    #if PostgreSQL
      if kind == .postgreSQL { try? PostgreSQLIncrementalStore.destroyPersistentStore(at: database, options: nil) }
    #endif
    try? FileManager.default.removeItem(at: url)
  }

  /// Where Cairn keeps the store; other kinds of store keep nothing there.
  var url: URL { URL.temporaryDirectory.appending(path: identifier) }

  #if PostgreSQL
    /// Where PostgreSQL keeps the store.
    private var database: URL {
      let address = ProcessInfo.processInfo.environment["CAIRN_POSTGRESQL"] ?? ""
      return NSPersistentStoreDescription.postgreSQL(address, namespace: identifier)!.url!
    }
  #endif

  // MARK: For stores

  func rowStore() throws -> any RowStore {
    #if PostgreSQL
      if kind == .postgreSQL { return try PostgreSQLIncrementalStore.rowStore(at: database, options: nil) }
    #endif
    guard kind == .cairn else { return memory }
    return try CairnIncrementalStore.rowStore(at: url, options: [CairnDurabilityOption: "buffered"])
  }

  /// Fills the store before the first store object that opens it has loaded anything.
  func prepare(_ model: NSManagedObjectModel, _ type: String) throws {
    guard store == nil else { return }
    store = (model, NSPersistentStore.StoreType(rawValue: type))
    held = try rowStore()
    try insertWaiting()
    if !waitingMetadata.isEmpty { metadata = waitingMetadata }
  }

  func number(_ reference: Any) -> Int? { numbers["\(reference)"] }

  func reference(_ number: Int) -> (entityName: String, reference: Any) { references[number - 1] }

  /// Records an object that has been given a reference.
  func note(_ entityName: String, _ reference: Any) {
    references.append((entityName, reference))
    numbers["\(reference)"] = references.count
  }

  // MARK: For tests

  @discardableResult
  func add(
    _ entityName: String, _ attributes: [String: Any] = [:], toOne: [String: Int] = [:], toMany: [String: [Int]] = [:]
  ) -> Int {
    waiting.append(BackingRow(entityName: entityName, attributes: attributes, toOne: toOne, toMany: toMany))
    let number = references.count + waiting.count
    if store != nil { succeeding { try insertWaiting() } }
    return number
  }

  /// Adds many rows at once.
  func add(_ entityName: String, each attributes: [[String: Any]]) {
    waiting += attributes.map { BackingRow(entityName: entityName, attributes: $0, toOne: [:], toMany: [:]) }
    if store != nil { succeeding { try insertWaiting() } }
  }

  /// The stored rows. Rows that are set get their versions from the store.
  var rows: [Int: BackingRow] {
    get { succeeding { try work { client in try client.rows(references.indices.map { $0 + 1 }) } } }
    set {
      let old = rows
      succeeding { try work { client in try client.change(from: old, to: newValue) } }
    }
  }

  var metadata: [String: Any] {
    get { store == nil ? waitingMetadata : succeeding { try work { $0.store.metadata } } }
    set {
      waitingMetadata = newValue
      guard store != nil else { return }
      succeeding {
        try work { client in
          client.store.metadata.merge(newValue) { $1 }
          try client.context.save()
        }
      }
    }
  }

  private func insertWaiting() throws {
    guard !waiting.isEmpty else { return }
    try work { client in try client.insert(waiting) }
    waiting = []
  }

  /// Runs a closure as the other client, to which nothing is refused.
  private func work<Result>(_ body: (OtherClient) throws -> Result) throws -> Result {
    let (model, type) = store!
    let refused = failing
    failing = []
    defer { failing = refused }
    let coordinator = NSPersistentStoreCoordinator(managedObjectModel: model)
    let opened = try coordinator.addPersistentStore(
      type: type, at: url, options: [Backing.option: self, NSIgnorePersistentStoreVersioningOption: true])
    defer { succeeding { try coordinator.remove(opened) } }
    let context = NSManagedObjectContext(.privateQueue)
    context.persistentStoreCoordinator = coordinator
    return try context.performAndWait { try body(OtherClient(store: opened as! BackedStore, context: context)) }
  }
}

/// Ends the process if the other client fails, since no test can continue without it.
private func succeeding<Result>(_ body: () throws -> Result) -> Result {
  do {
    return try body()
  } catch {
    fatalError("The other client fails: \(error)")
  }
}
