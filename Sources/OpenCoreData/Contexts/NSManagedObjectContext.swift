public import Foundation

/// A scratchpad of objects: fetches them, one for each row, tracks their changes, and saves them.
///
/// A context belongs to a queue. Call everything but ``perform(_:)``, `performAndWait(_:)`, ``name`` and
/// ``concurrencyType`` on that queue: in a block that one of these methods runs, or, for a context of the main queue,
/// in any code that runs there. Any other call ends the program with a message that names the context.
open class NSManagedObjectContext: NSObject {
  /// The kind of queue on which the context works.
  public let concurrencyType: NSManagedObjectContextConcurrencyType

  let queue: DispatchQueue
  let contextQueue: ContextQueue
  /// Replaced when the context is reset.
  private(set) var registry: ObjectRegistry
  /// The registry, for other threads.
  let sharedRegistry: Locked<ObjectRegistry>
  /// The contexts whose parent is this one.
  let children = ContextList()
  var pending = PendingChanges()
  /// The stores that inserted objects were assigned to.
  var assignedStores: [ObjectIdentifier: NSPersistentStore] = [:]
  /// Retains the registered objects if `isRetaining` is set.
  var retained = ObjectList()
  private(set) var isRetaining = false
  /// Ends of changed relationships that are as the changes want them, as far as is known. A save compares them with the
  /// store.
  var checkedEnds: [CheckedEnd] = []
  /// The objects that a save changes only because their derivations read changed objects.
  var ownersByDerivation = ObjectList()
  /// Retains the objects that the last merge has named as inserted.
  var merged: [NSManagedObject] = []
  /// Objects that have left the context or were deleted by somebody else, and may refer to each other.
  var departed = ObjectList()
  var isPropagating = false
  /// Nil without an undo manager.
  var undoRecorder: UndoRecorder?
  /// The state of the stores that the context reads; nil if that is what was saved last.
  var generation: NSQueryGenerationToken?
  /// Nil until somebody asks for the changes of an object.
  var objectStreams: ObjectStreams?
  /// Whether objects are validated before they are saved.
  var validatesSaves = true
  var isSaving = false
  /// Nil unless a call that can throw is reading values.
  var unreadable: UnreadableFaults?
  /// The identifier for the next object that is made, if it is to be a fault and not inserted.
  var faultInTheMaking: NSManagedObjectID?
  /// The identifiers of newly registered objects that the stores have not been told of; nil if the stores are told at
  /// once. Only used where no access contains another, so the compiler need not have that checked.
  @exclusivity(unchecked) var untold: [NSManagedObjectID]?
  /// Whether faults take their values from the rows that the running fetch finds.
  var takesFetchedRows = false
  /// The objects that have taken their values for the running fetch, and are to be told so. Only used where no access
  /// contains another, so the compiler need not have that checked.
  @exclusivity(unchecked) var realised: [NSManagedObject] = []
  private var coordinator: NSPersistentStoreCoordinator?
  private var parentContext: NSManagedObjectContext?

  /// A context without a coordinator and without a parent.
  public init(concurrencyType ct: NSManagedObjectContextConcurrencyType) {
    concurrencyType = ct
    contextQueue = ContextQueue(ct)
    queue = ct == .mainQueueConcurrencyType ? .main : DispatchQueue(label: "NSManagedObjectContext")
    registry = ObjectRegistry(contextQueue)
    sharedRegistry = Locked(registry)
    super.init()
    registry.begin(self)
  }

  /// A context without a coordinator and without a parent.
  public convenience init(_ type: ConcurrencyType) { self.init(concurrencyType: type.rawValue) }

  deinit {
    let known = takeRegisteredWithStores()
    // Objects that refer to each other would otherwise keep each other in memory.
    let objects = registry.objects
    _ = pending.event.end()
    pending.forgetAll(objects)
    registry.end()
    for object in objects { object.forgetValues() }
    persistentStoreCoordinator?.didUnregister(known)
    objectStreams?.finish()
  }

  // MARK: Settings

  /// The context's name in messages. May be set from any thread before the context is used.
  open var name: String?

  /// The coordinator whose stores the context fetches from and saves to; that of the parent if there is one. Set it or
  /// the parent once, before anything else.
  open var persistentStoreCoordinator: NSPersistentStoreCoordinator? {
    get { parentContext.map(\.persistentStoreCoordinator) ?? coordinator }
    set {
      if let parentContext {
        require(
          newValue === parentContext.persistentStoreCoordinator,
          "\(label) has a parent, and so the coordinator of the parent.")
        return
      }
      require(
        coordinator == nil || coordinator === newValue || registry.objects.isEmpty,
        "\(label) has objects of another coordinator.")
      coordinator = newValue
      newValue?.adopt(self)
    }
  }

  /// The context that this one fetches from and saves to, in place of stores; nil if it uses a coordinator.
  ///
  /// The child sees the unsaved changes of its parent, and saves into the parent, which saves in turn. The child
  /// retains the parent. The parent must have a queue, and the child waits for that queue whenever it fetches, fires a
  /// fault or saves. Set the parent once, before anything else.
  open var parent: NSManagedObjectContext? {
    get { parentContext }
    set {
      guard newValue !== parentContext else { return }
      require(registry.objects.isEmpty, "\(label) has objects already: set its parent before anything else.")
      require(
        coordinator == nil || coordinator === newValue?.persistentStoreCoordinator,
        "\(label) has another coordinator than its new parent.")
      newValue?.requireParenthood(of: self)
      parentContext = newValue
      newValue?.children.add(self)
    }
  }

  /// Anything the application wants to note.
  public let userInfo = NSMutableDictionary()

  /// The ``NSMergePolicy`` for objects that somebody else has changed since they were fetched, and for objects that
  /// violate a uniqueness constraint; ``NSMergePolicy/error`` by default.
  open var mergePolicy: Any = NSMergePolicy.error

  /// The author of the changes, for stores that keep a persistent history.
  open var transactionAuthor: String?

  /// The maximum age in seconds of the values that a fault takes from a store's row cache when it fires. Below 0, the
  /// default, there is no limit. Only for stores that have a row cache.
  open var stalenessInterval: TimeInterval = -1

  /// Whether the context keeps unchanged objects in memory that nothing else refers to; false by default.
  open var retainsRegisteredObjects: Bool {
    get { isRetaining }
    set {
      isRetaining = newValue
      retained = newValue ? ObjectList(registry.objects) : ObjectList()
    }
  }

  /// Whether deletions reach related objects at the end of an event, when changes are processed, and not only when the
  /// context is saved; true by default.
  open var propagatesDeletesAtEndOfEvent = true

  /// Whether a fault whose row is gone has no values from then on and is deleted, instead of ending the program; true
  /// by default.
  open var shouldDeleteInaccessibleFaults = true

  /// Whether the context merges the changes that other contexts of the coordinator save, on its own queue; false by
  /// default. A child merges what its parent saves or merges, and what other children save into the parent. Ends the
  /// program if it is set to true for a context without a queue.
  open var automaticallyMergesChangesFromParent: Bool {
    get { isMergingAutomatically.withLock { $0 } }
    set {
      if newValue { requireQueue() }
      isMergingAutomatically.withLock { $0 = newValue }
    }
  }

  private let isMergingAutomatically = Locked(false)

  /// Called for a fault whose row is gone. Returns whether the object has no values from then on and is deleted; if
  /// not, the program ends.
  open func shouldHandleInaccessibleFault(
    _ fault: NSManagedObject, for oid: NSManagedObjectID, triggeredByProperty property: NSPropertyDescription?
  ) -> Bool { shouldDeleteInaccessibleFaults }

  /// Saves all changes or none; a child context into its parent. With several stores, if one fails, the changes that
  /// others have saved before stay saved.
  ///
  /// - Throws: validation errors, among them 1550 for a relationship that was set to an object that is deleted or was
  ///   never inserted; a conflict that the merge policy does not resolve, 133020, or 133021 for a uniqueness
  ///   constraint; any error of a store. The context is then as it was before, except that permanent identifiers of
  ///   inserted objects and changes made by the merge policy stay.
  open func save() throws {
    checkQueue()
    try saveChanges()
  }

  /// Removes all objects from the context.
  func beginAnew() {
    registry.end()
    registry = ObjectRegistry(contextQueue)
    sharedRegistry.withLock { $0 = registry }
    registry.begin(self)
  }

  // MARK: For messages

  /// The context's name in messages.
  var label: String {
    let kind =
      switch concurrencyType {
      case .confinementConcurrencyType: "without a queue"
      case .privateQueueConcurrencyType: "of a private queue"
      case .mainQueueConcurrencyType: "of a main queue"
      }
    return "The context \(name.map { "\"\($0)\"" } ?? "without a name") \(kind)"
  }

  /// Ends the program if the caller is not on the queue of the context.
  func checkQueue() {
    guard !isOwned else { return }
    fatalError(
      "\(label) was used on another queue: call it, and its objects, in perform(_:) or performAndWait(_:).")
  }

  /// Ends the program if the context has no queue.
  func requireQueue() {
    require(
      concurrencyType != .confinementConcurrencyType,
      "\(label) neither runs blocks later nor merges automatically: call it on the thread to which it is confined.")
  }

  /// Whether the caller is on the queue of the context.
  var isOwned: Bool { contextQueue.isOwned }
}

/// The kind of queue on which a context works. The raw values are those of Core Data.
public enum NSManagedObjectContextConcurrencyType: UInt, Sendable {
  /// None: the context is confined to one thread, or to one serial queue, as the application sees to without a check.
  ///
  /// Such a context is called directly. `performAndWait(_:)` runs its block at once, on the
  /// calling thread; ``NSManagedObjectContext/perform(_:)``, and merging automatically, end the program. Apple has
  /// deprecated this type.
  case confinementConcurrencyType = 0
  /// A queue of its own.
  case privateQueueConcurrencyType = 1
  /// The main queue.
  case mainQueueConcurrencyType = 2
}

extension NSManagedObjectContext {
  /// The kind of queue on which a context works, in the newer spelling.
  public struct ConcurrencyType: Hashable, Sendable {
    let rawValue: NSManagedObjectContextConcurrencyType

    /// A queue of its own.
    public static let privateQueue = ConcurrencyType(rawValue: .privateQueueConcurrencyType)
    /// The main queue.
    public static let mainQueue = ConcurrencyType(rawValue: .mainQueueConcurrencyType)
  }
}
