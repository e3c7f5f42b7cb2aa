import CoreData
import Testing

@Suite("Calls of a store during a fetch", .anyStore)
struct FetchCallTests {
  private let stack: Stack<RecordingStore>

  init() throws { stack = try Stack() }

  @Test("A fetch sends the request first, then registers the objects, and requests values when they are read.")
  func order() throws {
    try stack.work { context in
      var found: [NSManagedObject] = []
      let fetching = try stack.calls { found = try context.all("Person", "age > 20") }
      #expect(fetching == [.fetch("Person"), .register(["Person/1", "Person/2"])])
      stack.expectCalls([.values("Person/2")]) { _ = found[1]["name"] }
      stack.expectCalls([]) { _ = found[1]["age"] }
    }
  }

  @Test("A fetch does not register again the objects that the context already has.")
  func secondFetch() throws {
    try stack.work { context in
      let first = try context.all("Person")
      var second: [NSManagedObject] = []
      try stack.expectCalls([.fetch("Person")]) { second = try context.all("Person") }
      #expect(second == first)
    }
  }

  @Test("Each context registers the objects that it fetches.")
  func severalContexts() throws {
    try stack.work { first in
      let kept = try first.all("Pet")
      let calls = try stack.calls { try stack.work { _ = try $0.all("Pet") } }
      #expect(calls.contains(.register(["Pet/5"])))
      withExtendedLifetime(kept) {}
    }
  }

  @Test("A store gets the context that fetches.")
  func contextOfTheFetch() throws {
    let stack = try Stack<ContextStore>()
    try stack.work { context in
      _ = try context.all("Person")
      #expect(stack.store.lastContext === context)
    }
  }

  @Test(
    "A fetch throws the error of the store.",
    arguments: [NSFetchRequestResultType.managedObjectResultType, .countResultType])
  func failure(_ type: NSFetchRequestResultType) throws {
    stack.backing.failing = [.fetch]
    stack.work { context in
      #expect(throws: Refusal(method: .fetch)) {
        if type == .countResultType { _ = try context.count(for: people()) } else { _ = try context.fetch(people()) }
      }
    }
  }
}

/// Remembers the context of the last request.
private final class ContextStore: RecordingStore {
  private(set) weak var lastContext: NSManagedObjectContext?

  override func execute(_ request: NSPersistentStoreRequest, with context: NSManagedObjectContext?) throws -> Any {
    lastContext = context
    return try super.execute(request, with: context)
  }
}
