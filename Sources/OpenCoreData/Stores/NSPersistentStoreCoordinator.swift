public import Foundation
import Synchronization

/// Stands between contexts and stores: makes the stores, retains them, and passes requests to them.
///
/// Stores are called under one lock, the *store lock*, by one thread at a time. If all stores permit it, as those on
/// Cairn and PostgreSQL do, several threads read at once without the lock, also while another thread saves. All methods
/// may be called on any thread; they wait for the lock if they need it.
open class NSPersistentStoreCoordinator: NSObject, @unchecked Sendable {
  /// The model, which can no longer be changed.
  public let managedObjectModel: NSManagedObjectModel

  private let storeLock = NSRecursiveLock()
  /// The thread that holds the store lock; 0 if none does.
  private let storeLockOwner = Atomic<UInt>(0)
  /// Whether one of the stores is a `LoadingStore`.
  let hasLoadingStores = Atomic(false)
  /// Whether all stores may be read without the store lock.
  private let haveConcurrentStores = Atomic(false)
  private let readers = StoreReaders()
  private let queue = DispatchQueue(label: "NSPersistentStoreCoordinator")
  private let adopted = ContextList()

  /// Protects the properties below. While it is held, no other lock is taken and nothing is called.
  private let lock = NSLock()
  private var addedStores: [NSIncrementalStore] = []
  private var givenName: String?

  /// Makes a coordinator without stores. Afterwards neither the model nor any part of it can be changed.
  @_disfavoredOverload
  public init(managedObjectModel model: NSManagedObjectModel) {
    managedObjectModel = model
    model.freeze()
  }

  /// Makes a coordinator without stores. Afterwards neither the model nor any part of it can be changed.
  ///
  /// - Parameters:
  ///   - model: The model of the stores.
  ///   - fileID: The file of the caller, in whose module the classes of entities are looked for, too; see
  ///     ``NSManagedObjectModel/init(fileID:)``.
  public init(managedObjectModel model: NSManagedObjectModel, fileID: String = #fileID) {
    managedObjectModel = model
    model.note(callerIn: fileID)
    model.freeze()
  }

  /// A name by which developers recognise the coordinator.
  open var name: String? {
    get { lock.withLock { givenName } }
    set { lock.withLock { givenName = newValue } }
  }

  /// The stores in the order in which they were added.
  open var persistentStores: [NSPersistentStore] { stores }

  /// The stores as `NSIncrementalStore`. They change only within ``changingStores(_:)``.
  var stores: [NSIncrementalStore] {
    get { lock.withLock { addedStores } }
    set {
      let areLoading = newValue.contains { $0 is any LoadingStore }
      hasLoadingStores.store(areLoading, ordering: .relaxed)
      haveConcurrentStores.store(
        !areLoading && newValue.allSatisfy { $0 is any ConcurrentStore }, ordering: .relaxed)
      lock.withLock { addedStores = newValue }
    }
  }

  // MARK: The store lock

  /// Runs the block while no other thread calls a store, except to read one that permits it. May be called again within
  /// the block.
  func withStoreLock<R>(_ body: () throws -> R) rethrows -> R {
    try storeLock.withLock {
      let former = storeLockOwner.exchange(Self.currentThread, ordering: .relaxed)
      defer { storeLockOwner.store(former, ordering: .relaxed) }
      return try body()
    }
  }

  /// Runs the block, which only reads, while no store is added or removed: at once if the stores permit it, otherwise
  /// while no other thread calls a store. May be called again within the block.
  func withStoresToRead<R>(_ body: () throws -> R) rethrows -> R {
    if ownsStoreLock { return try body() }
    guard haveConcurrentStores.load(ordering: .relaxed) else { return try withStoreLock(body) }
    return try readers.read(Self.currentThread) {
      // A store of another kind may have been added meanwhile.
      guard haveConcurrentStores.load(ordering: .relaxed) else { return try withStoreLock(body) }
      return try body()
    }
  }

  /// Runs the block, which adds or removes stores, while no other thread calls a store. May be called again within the
  /// block.
  func changingStores<R>(_ body: () throws -> R) rethrows -> R {
    try readers.change(Self.currentThread) { try withStoreLock(body) }
  }

  /// Whether the calling thread holds the store lock.
  var ownsStoreLock: Bool { storeLockOwner.load(ordering: .relaxed) == Self.currentThread }

  private static var currentThread: UInt { number(of: pthread_self()) }

  /// A thread is a number or a pointer, depending on the C library.
  private static func number(of thread: UInt) -> UInt { thread }
  private static func number(of thread: OpaquePointer) -> UInt { UInt(bitPattern: thread) }

  /// Runs the block under the store lock, and returns when it has run. May be called within itself.
  open func performAndWait(_ block: () -> Void) { withStoreLock(block) }

  /// Runs the block under the store lock, and returns its result. May be called within itself.
  open func performAndWait<T>(_ block: () throws -> T) rethrows -> T { try withStoreLock(block) }

  /// Runs the block later on a queue of the coordinator, under the store lock.
  open func perform(_ block: @escaping () -> Void) {
    nonisolated(unsafe) let block = block
    queue.async { self.withStoreLock { unsafe block() } }
  }

  /// Runs the block under the store lock, and returns its result. The thread waits until others are done; no other task
  /// runs on it meanwhile.
  public nonisolated(nonsending) func perform<T>(_ block: @escaping () throws -> T) async rethrows -> T {
    try withStoreLock(block)
  }

  // MARK: Contexts

  /// Records a context that uses the coordinator, without retaining it.
  func adopt(_ context: NSManagedObjectContext) { adopted.add(context) }

  /// The contexts that use the coordinator directly.
  var contexts: [NSManagedObjectContext] { adopted.contexts }
}
