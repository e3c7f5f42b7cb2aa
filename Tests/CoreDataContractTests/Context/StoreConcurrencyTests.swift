import CoreData
import Synchronization
import Testing

@Suite("A store and several contexts", .anyStore)
struct StoreConcurrencyTests {
  @Test("A store is called by one thread at a time, whichever contexts use it.")
  func oneAtATime() async throws {
    let stack = try Stack<SolitaryStore>()
    let (coordinator, overlap) = (stack.coordinator, stack.store.overlap)
    try await withThrowingTaskGroup(of: Void.self) { group in
      for worker in 0..<4 {
        group.addTask {
          let context = NSManagedObjectContext(.privateQueue)
          context.persistentStoreCoordinator = coordinator
          context.mergePolicy = NSMergePolicy.mergeByPropertyObjectTrump
          try context.performAndWait {
            for round in 0..<20 {
              for person in try context.all("Person") { person["age"] = worker + round }
              context.make("Errand", ["title": "\(worker).\(round)"])
              try context.save()
              context.reset()
            }
          }
        }
      }
      try await group.waitForAll()
    }
    #expect(overlap.worst == 1)
    let errands = stack.backing.rows.values.count { $0.entityName == "Errand" }
    #expect(errands == 2 + 4 * 20)
  }
}

/// Counts how many calls are in progress at once, and the most there have been.
private final class Overlap: Sendable {
  private let counts = Mutex((now: 0, most: 0))

  var worst: Int { counts.withLock { $0.most } }

  func during<Result>(_ body: () throws -> Result) rethrows -> Result {
    counts.withLock { counts in
      counts.now += 1
      counts.most = max(counts.most, counts.now)
    }
    defer { counts.withLock { $0.now -= 1 } }
    return try body()
  }
}

private final class SolitaryStore: RecordingStore {
  let overlap = Overlap()

  override func save(_ request: NSSaveChangesRequest, with context: NSManagedObjectContext?) throws -> Any {
    try overlap.during { try super.save(request, with: context) }
  }

  override func fetch(_ request: NSFetchRequest<NSManagedObject>, with context: NSManagedObjectContext) throws -> Any {
    try overlap.during { try super.fetch(request, with: context) }
  }

  override func obtainPermanentIDs(for array: [NSManagedObject]) throws -> [NSManagedObjectID] {
    try overlap.during { try super.obtainPermanentIDs(for: array) }
  }
}
