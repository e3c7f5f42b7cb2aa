public import Foundation

/// A scratchpad of objects: fetches them, one for each row, tracks what changes, and saves all changes or none.
///
/// A context belongs to a queue. Everything but ``perform(_:)``, ``performAndWait(_:)``, ``name`` and ``concurrencyType`` is to be called
/// on it: from a block that one of these runs, or, for a context of the main queue, by whatever runs there. Any other call ends the
/// program with a message that names the context.
open class NSManagedObjectContext: NSObject {
  /// On which queue it works.
  public let concurrencyType: NSManagedObjectContextConcurrencyType

  let queue: DispatchQueue
  let contextQueue: ContextQueue
  /// Another one once the context was reset.
  private(set) var registry: ObjectRegistry
  var pending = PendingChanges()
  /// The stores that inserted objects were assigned to.
  var assignedStores: [ObjectIdentifier: NSPersistentStore] = [:]
  /// Keeps unchanged objects, if the context is to.
  var retained = ObjectList()
  var lockedObjects = ObjectList()
  var isPropagating = false
  /// The identifier of the object that is being made as a fault, instead of being inserted.
  var faultInTheMaking: NSManagedObjectID?
  /// The identifiers of objects that became known since the stores were told; nil if they are told at once.
  var untold: [NSManagedObjectID]?
  private var coordinator: NSPersistentStoreCoordinator?

  /// A context without coordinator.
  public init(concurrencyType ct: NSManagedObjectContextConcurrencyType) {
    concurrencyType = ct
    contextQueue = ContextQueue(isMain: ct == .mainQueueConcurrencyType)
    queue = ct == .mainQueueConcurrencyType ? .main : DispatchQueue(label: "NSManagedObjectContext")
    registry = ObjectRegistry(contextQueue)
    super.init()
    registry.begin(self)
  }

  /// A context without coordinator.
  public convenience init(_ type: ConcurrencyType) { self.init(concurrencyType: type.rawValue) }

  deinit {
    let known = takeRegisteredWithStores()
    // Objects that refer to each other would keep each other.
    for object in registry.objects { object.forgetValues() }
    coordinator?.didUnregister(known)
  }

  // MARK: What it is

  /// What messages call the context. May be set from anywhere before the context is used.
  open var name: String?

  /// The coordinator whose stores it fetches from and saves to. Set it once, before anything else.
  open var persistentStoreCoordinator: NSPersistentStoreCoordinator? {
    get { coordinator }
    set {
      precondition(
        coordinator == nil || coordinator === newValue || registry.objects.isEmpty,
        "\(label) has objects of another coordinator.")
      coordinator = newValue
      newValue?.adopt(self)
    }
  }

  /// Anything the application wants to note.
  public let userInfo = NSMutableDictionary()

  /// What becomes of objects that were changed by somebody else since they were fetched, or that violate a uniqueness constraint: an
  /// ``NSMergePolicy``; that of errors unless set.
  open var mergePolicy: Any = NSMergePolicy.error

  /// Who makes the changes, for the persistent history of a store that keeps one.
  open var transactionAuthor: String?

  /// How old, in seconds, values of a store's row cache may be when a fault fires; below 0, the default, of any age. It is for stores
  /// that have a row cache.
  open var stalenessInterval: TimeInterval = -1

  /// Whether it keeps objects without changes that nobody else uses; false unless set.
  open var retainsRegisteredObjects = false {
    didSet { retained = retainsRegisteredObjects ? ObjectList(registry.objects) : ObjectList() }
  }

  /// Whether deletions reach related objects when changes are processed, and not at once; true unless set.
  open var propagatesDeletesAtEndOfEvent = true

  /// Whether an object whose row is gone has no values from then on and is deleted, instead of ending the program; true unless set.
  open var shouldDeleteInaccessibleFaults = true

  /// Whether what other contexts of the coordinator save is merged, on the context's own queue; false unless set.
  open var automaticallyMergesChangesFromParent: Bool {
    get { isMergingAutomatically.withLock { $0 } }
    set { isMergingAutomatically.withLock { $0 = newValue } }
  }

  private let isMergingAutomatically = Locked(false)

  /// Called for a fault whose row is gone; returns whether the object is to have no values and be deleted.
  open func shouldHandleInaccessibleFault(
    _ fault: NSManagedObject, for oid: NSManagedObjectID, triggeredByProperty property: NSPropertyDescription?
  ) -> Bool { shouldDeleteInaccessibleFaults }

  /// Saves all changes, or none.
  ///
  /// - Throws: validation errors, among them 1550 for a relationship that was set to an object that is deleted or was never
  ///   inserted; a conflict, 133020 or, of a uniqueness constraint, 133021, that the merge policy does not resolve; what a
  ///   store throws. Nothing has changed then, except that inserted objects may have their permanent identifiers, and for what
  ///   the policy has resolved.
  open func save() throws {
    checkQueue()
    try saveChanges()
  }

  /// From now on none of the objects that there are is in the context.
  func beginAnew() {
    registry.end()
    registry = ObjectRegistry(contextQueue)
    registry.begin(self)
  }

  // MARK: For messages

  /// What messages call it.
  var label: String {
    let kind = concurrencyType == .mainQueueConcurrencyType ? "main queue" : "private queue"
    return "The context \(name.map { "\"\($0)\"" } ?? "without a name") of a \(kind)"
  }

  /// Ends the program if the caller is not on the queue of the context.
  func checkQueue() {
    guard !isOwned else { return }
    preconditionFailure(
      "\(label) was used on another queue: call it, and its objects, in perform(_:) or performAndWait(_:).")
  }

  /// Whether the caller is on the queue of the context.
  var isOwned: Bool { contextQueue.isOwned }
}

/// On which queue a context works. The raw values are those of Core Data.
public enum NSManagedObjectContextConcurrencyType: UInt, Sendable {
  /// A queue of its own.
  case privateQueueConcurrencyType = 1
  /// The main queue.
  case mainQueueConcurrencyType = 2
}

extension NSManagedObjectContext {
  /// On which queue a context works, in the newer spelling.
  public struct ConcurrencyType: Hashable, Sendable {
    let rawValue: NSManagedObjectContextConcurrencyType

    /// A queue of its own.
    public static let privateQueue = ConcurrencyType(rawValue: .privateQueueConcurrencyType)
    /// The main queue.
    public static let mainQueue = ConcurrencyType(rawValue: .mainQueueConcurrencyType)
  }
}
