import CoreData
import Testing

/// Apple's Core Data raises exceptions for some of these answers, and goes on with wrong results for others.
#if !canImport(Darwin)
  @Suite("Wrong answers of a store")
  struct WrongAnswerTests {
    private let stack: Stack<WrongAnswerStore>

    init() throws { stack = try Stack() }

    @Test(
      "A fetch fails if the store does not return objects.", arguments: [[1], "none", [nil as Int?]] as [any Sendable])
    func objects(_ answer: any Sendable) {
      stack.store.answer = answer
      stack.work { context in
        #expect(thrown { try context.fetch(people()) } != nil)
      }
    }

    @Test(
      "A count fails if the store does not return an array with one number.",
      arguments: [3, [Int](), ["three"]] as [any Sendable])
    func count(_ answer: any Sendable) {
      stack.store.answer = answer
      stack.work { context in
        #expect(thrown { try context.count(for: people()) } != nil)
      }
    }

    @Test("A save fails if the store does not return one identifier for each new object.")
    func permanentIDs() {
      stack.store.loses = true
      stack.work { context in
        context.make("Person", ["name": "Dan"])
        #expect(thrown { try context.save() } != nil)
        #expect(context.insertedObjects.count == 1)
      }
    }
  }

  private final class WrongAnswerStore: RecordingStore {
    var answer: Any?
    var loses = false

    override func fetch(_ request: NSFetchRequest<NSManagedObject>, with context: NSManagedObjectContext) throws -> Any
    {
      try answer ?? super.fetch(request, with: context)
    }

    override func obtainPermanentIDs(for array: [NSManagedObject]) throws -> [NSManagedObjectID] {
      try super.obtainPermanentIDs(for: loses ? Array(array.dropLast()) : array)
    }
  }
#endif
