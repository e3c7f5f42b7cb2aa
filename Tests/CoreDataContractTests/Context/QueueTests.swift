import CoreData
import Testing

@Suite("Queues of contexts", .anyStore)
struct QueueTests {
  private let stack: Stack<RecordingStore>

  init() throws { stack = try Stack() }

  @Test("a block that is waited for has run when the call returns, and may wait for another")
  func performAndWait() {
    let context = stack.context()
    var steps: [Int] = []
    context.performAndWait {
      steps.append(1)
      context.performAndWait { steps.append(2) }
      steps.append(3)
    }
    steps.append(4)
    #expect(steps == [1, 2, 3, 4])
  }

  @Test("its value and its error come out")
  func valueAndError() throws {
    let context = stack.context()
    #expect(try context.performAndWait { try context.names() } == "Ada Bob Cleo")
    stack.backing.failing = [.fetch]
    #expect(throws: Refusal(method: .fetch)) { try context.performAndWait { try context.names() } }
  }

  @Test("blocks that are performed run one after the other, in their order, in the background")
  func perform() {
    let context = stack.context()
    context.name = ""
    for step in 1...5 { context.perform { [unowned context] in context.name? += "\(step)" } }
    context.performAndWait {}
    #expect(context.name == "12345")
  }

  @Test("an asynchronous caller gets the value or the error", arguments: [true, false])
  func asynchronous(_ isImmediate: Bool) async throws {
    let context = stack.context()
    let names = try await context.perform(schedule: isImmediate ? .immediate : .enqueued) { [unowned context] in
      try context.names()
    }
    #expect(names == "Ada Bob Cleo")
    await #expect(throws: Refusal(method: .fetch)) {
      try await context.perform { throw Refusal(method: .fetch) }
    }
  }

  @Test("what may be handed from one queue to another is Sendable")
  func sendable() {
    func accepts<Value: Sendable>(_: Value.Type) {}
    accepts(NSManagedObjectID.self)
    accepts(NSPersistentStoreCoordinator.self)
    accepts(NSPersistentContainer.self)
    accepts(NSManagedObjectContextConcurrencyType.self)
    accepts(NSMergePolicyType.self)
    #expect(stack.context().concurrencyType == .privateQueueConcurrencyType)
  }

  // Apple's Core Data does so only if its concurrency debugging is switched on.
  #if !canImport(Darwin)
    @Test("using a context elsewhere ends the program")
    func wrongQueue() async {
      await #expect(processExitsWith: .failure) {
        let stack = try Stack<RecordingStore>()
        _ = stack.context().registeredObjects
      }
    }
  #endif
}
