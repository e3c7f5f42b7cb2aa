import CoreData
import Testing

/// Apple's Core Data raises exceptions for some of these answers, and goes on with wrong results for others.
#if !canImport(Darwin)
  @Suite("A store that answers with something else")
  struct WrongAnswerTests {
    private let stack: Stack<WrongAnswerStore>

    init() throws { stack = try Stack() }

    @Test("than objects fails the fetch", arguments: [[1], "none", [nil as Int?]] as [any Sendable])
    func objects(_ answer: any Sendable) {
      stack.store.answer = answer
      stack.work { context in
        #expect(thrown { try context.fetch(people()) } != nil)
      }
    }

    @Test("than an array with one number fails the count", arguments: [3, [Int](), ["three"]] as [any Sendable])
    func count(_ answer: any Sendable) {
      stack.store.answer = answer
      stack.work { context in
        #expect(thrown { try context.count(for: people()) } != nil)
      }
    }

    @Test("than as many identifiers as there are new objects fails the save")
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
