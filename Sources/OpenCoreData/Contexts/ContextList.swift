/// Contexts that are told of saves. Retains none of them. May be used on any thread.
final class ContextList: Sendable {
  private struct Element {
    weak let context: NSManagedObjectContext?
  }

  private let elements = Locked<[Element]>([])

  func add(_ context: NSManagedObjectContext) {
    // A context whose other references are released meanwhile must not be deallocated before the lock is released.
    let others = elements.withLock { elements in
      let others = elements.compactMap(\.context).filter { $0 !== context }
      elements = (others + [context]).map { Element(context: $0) }
      return others
    }
    withExtendedLifetime(others) {}
  }

  /// The contexts that are in memory.
  var contexts: [NSManagedObjectContext] { elements.withLock { $0.compactMap(\.context) } }
}
