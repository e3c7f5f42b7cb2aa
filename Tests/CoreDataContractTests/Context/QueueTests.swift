import CoreData
import Testing

@Suite("Queues of contexts", .anyStore)
struct QueueTests {
  private let stack: Stack<RecordingStore>

  init() throws { stack = try Stack() }

  @Test("A block of `performAndWait` has run when the call returns, and may be nested.")
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

  @Test("`performAndWait` returns the value of its block and throws its error.")
  func valueAndError() throws {
    let context = stack.context()
    #expect(try context.performAndWait { try context.names() } == "Ada Bob Cleo")
    stack.backing.failing = [.fetch]
    #expect(throws: Refusal(method: .fetch)) { try context.performAndWait { try context.names() } }
  }

  @Test("Blocks of `perform` run one after another, in their order, in the background.")
  func perform() {
    let context = stack.context()
    context.name = ""
    for step in 1...5 { context.perform { [unowned context] in context.name? += "\(step)" } }
    context.performAndWait {}
    #expect(context.name == "12345")
  }

  @Test("An asynchronous `perform` returns the value of its block or throws its error.", arguments: [true, false])
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

  @Test("The types that may be passed between queues are `Sendable`.")
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
    @Test("Using a context outside its queue ends the program.")
    func wrongQueue() async {
      await #expect(processExitsWith: .failure) {
        let stack = try Stack<RecordingStore>()
        _ = stack.context().registeredObjects
      }
    }
  #endif
}
