import Foundation
import Synchronization

/// What leads from an object to its context, and what a context learns of objects that nobody uses any more, on whatever thread they
/// are freed.
final class Registration: @unchecked Sendable {
  /// Nil once the context is gone. Read on its queue only, or by whoever holds the context.
  unowned(unsafe) var context: NSManagedObjectContext?
  private let freed = Mutex<[NSManagedObjectID]>([])

  init(_ context: NSManagedObjectContext) { unsafe self.context = context }

  func objectIsFreed(_ id: NSManagedObjectID) { freed.withLock { $0.append(id) } }

  /// The identifiers of those freed since the last call.
  func takeFreed() -> [NSManagedObjectID] {
    freed.withLock { freed in
      guard !freed.isEmpty else { return [] }
      return exchange(&freed, with: [])
    }
  }

  private func exchange<Value>(_ value: inout Value, with other: Value) -> Value {
    defer { value = other }
    return value
  }
}
