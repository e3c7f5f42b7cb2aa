import Dispatch
import Foundation

/// The identity of a context's queue.
final class ContextQueue: Sendable {
  private let type: NSManagedObjectContextConcurrencyType

  init(_ type: NSManagedObjectContextConcurrencyType) { self.type = type }

  /// The same for all contexts of the main queue.
  var identity: ObjectIdentifier { type == .mainQueueConcurrencyType ? Self.mainIdentity : ObjectIdentifier(self) }

  static let mainIdentity = ObjectIdentifier(ContextQueue.self)

  /// Whether the caller is on the queue; always true if there is none.
  var isOwned: Bool {
    switch type {
    case .confinementConcurrencyType: true
    case .privateQueueConcurrencyType: QueueOwnership.owns(self)
    case .mainQueueConcurrencyType: QueueOwnership.owns(self) || QueueOwnership.ownsMainQueue
    }
  }
}

/// The contexts that the running block owns: a chain, the innermost first, to which a thread-local variable points.
///
/// Ownership is by queue and not by thread. `performAndWait` passes the caller's chain to the thread that runs its
/// block, because the caller waits meanwhile; `perform` begins a new chain.
final class QueueOwnership {
  private unowned let context: NSManagedObjectContext
  private let queue: ContextQueue
  private let outer: QueueOwnership?
  private let owner: QueueOwner
  /// Whether a caller on the main queue waits for the block.
  private let ownsMainQueue: Bool

  private init(_ context: NSManagedObjectContext, outer: QueueOwnership?, ownsMainQueue: Bool) {
    self.context = context
    queue = context.contextQueue
    self.outer = outer
    self.ownsMainQueue = ownsMainQueue || outer?.ownsMainQueue ?? false
    owner = Self.owner(outer, ownsMainQueue: self.ownsMainQueue) ?? QueueOwner()
  }

  /// The key of the thread-local variable.
  private static let key: pthread_key_t = {
    var key = pthread_key_t()
    let status = unsafe pthread_key_create(&key, nil)
    require(status == 0, "There is no room for another variable of threads.")
    return key
  }()

  private static let mainQueue: DispatchSpecificKey<Void> = {
    let key = DispatchSpecificKey<Void>()
    DispatchQueue.main.setSpecific(key: key, value: ())
    return key
  }()

  /// The chain of the running block.
  static var current: QueueOwnership? {
    guard let pointer = unsafe pthread_getspecific(key) else { return nil }
    return unsafe Unmanaged<QueueOwnership>.fromOpaque(pointer).takeUnretainedValue()
  }

  /// The context whose block is running.
  static var innermost: NSManagedObjectContext? { current?.context }

  /// Whether the caller runs on the main queue, on whichever thread, or in a block that a caller on the main queue
  /// waits for.
  static var ownsMainQueue: Bool { current?.ownsMainQueue ?? false || DispatchQueue.getSpecific(key: mainQueue) != nil }

  /// Whether a queue is in the chain of the running block.
  static func owns(_ queue: ContextQueue) -> Bool {
    guard let pointer = unsafe pthread_getspecific(key) else { return false }
    return unsafe Unmanaged<QueueOwnership>.fromOpaque(pointer)._withUnsafeGuaranteedRef { $0.contains(queue) }
  }

  private func contains(_ queue: ContextQueue) -> Bool { self.queue === queue || outer?.contains(queue) ?? false }

  /// The owner of the queues in a chain; nil if there are none.
  static func owner(_ chain: QueueOwnership?, ownsMainQueue: Bool) -> QueueOwner? {
    chain?.owner ?? (ownsMainQueue ? .mainQueue : nil)
  }

  /// Runs a block that owns a context and, if a caller waits for the block, everything that the caller owns.
  static func with<Result, Failure: Error>(
    _ context: NSManagedObjectContext, outer: QueueOwnership?, ownsMainQueue: Bool = false,
    _ body: () throws(Failure) -> Result
  ) throws(Failure) -> Result {
    let before = unsafe pthread_getspecific(key)
    let link = QueueOwnership(context, outer: outer, ownsMainQueue: ownsMainQueue)
    unsafe pthread_setspecific(key, Unmanaged.passUnretained(link).toOpaque())
    defer {
      unsafe pthread_setspecific(key, before)
      withExtendedLifetime(link) {}
    }
    if outer.map({ $0.contains(context.contextQueue) }) ?? false { return try body() }
    return try QueueWaits.run(link.owner, on: context.contextQueue, body)
  }
}
