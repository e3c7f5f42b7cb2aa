import Foundation
import Synchronization

/// What leads from an object to its context, and what a context learns of objects that nobody uses any more, on whatever thread they
/// are freed.
final class Registration: @unchecked Sendable {
  /// Nil once the context is gone, or was reset.
  private(set) weak var context: NSManagedObjectContext?
  private let queue: ContextQueue
  private let freed = Mutex<[NSManagedObjectID]>([])

  init(_ context: NSManagedObjectContext) {
    self.context = context
    queue = context.contextQueue
  }

  /// The context has begun anew: its objects are in none any more.
  func end() { context = nil }

  /// Whether the caller is on the queue of the context, without keeping that.
  var isOwned: Bool { queue.isOwned }

  func objectIsFreed(_ id: NSManagedObjectID) { freed.withLock { $0.append(id) } }

  /// The identifiers of those freed since the last call.
  func takeFreed() -> [NSManagedObjectID] {
    freed.withLock { freed in
      guard !freed.isEmpty else { return [] }
      defer { freed = [] }
      return freed
    }
  }
}
