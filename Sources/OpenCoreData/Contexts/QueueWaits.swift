/// A block of a context, with all blocks that it waits for. It waits for one queue at a time.
final class QueueOwner: @unchecked Sendable {
  /// The context that it waits for. Protected by the lock of ``QueueWaits``.
  fileprivate var awaited: NSManagedObjectContext?

  /// What runs on the main queue, unless it is a block of a context.
  static let mainQueue = QueueOwner()
}

/// Who owns which queue, and who waits for which: blocks that would wait for each other end the program instead of
/// hanging.
enum QueueWaits {
  /// The owners of the queues that run blocks.
  private static let owners = Locked<[ObjectIdentifier: QueueOwner]>([:])

  /// Notes that an owner is going to wait for the queue of a context. Ends the program if the owner of that queue waits
  /// for this one, directly or through others.
  static func begin(_ owner: QueueOwner, for context: NSManagedObjectContext) {
    let cycle: [NSManagedObjectContext]? = owners.withLock { owners in
      owner.awaited = context
      var cycle = [context]
      while let last = cycle.last?.contextQueue.identity,
        let other = owners[last] ?? (last == ContextQueue.mainIdentity ? .mainQueue : nil)
      {
        if other === owner { return cycle }
        guard let awaited = other.awaited else { return nil }
        cycle.append(awaited)
      }
      return nil
    }
    guard let cycle else { return }
    fatalError(
      """
      Blocks of contexts would wait for each other for ever. A block waits for the first of these contexts, a block of \
      the first for the second, and so on; the block that waits for the first is a block of the last. Blocks wait in \
      performAndWait(_:), and when a child context needs its parent. \(cycle.map(\.label).joined(separator: ". ")).
      """)
  }

  /// Runs a block on a queue, for which its owner waits no longer.
  static func run<Result, Failure: Error>(
    _ owner: QueueOwner, on queue: ContextQueue, _ body: () throws(Failure) -> Result
  ) throws(Failure) -> Result {
    let former = owners.withLock { owners in
      owner.awaited = nil
      return owners.updateValue(owner, forKey: queue.identity)
    }
    defer { owners.withLock { $0[queue.identity] = former } }
    return try body()
  }
}
