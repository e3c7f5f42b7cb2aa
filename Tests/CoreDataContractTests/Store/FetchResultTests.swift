import CoreData
import Testing

@Suite("Results of a fetch", .anyStore)
struct FetchResultTests {
  private let stack: Stack<RecordingStore>

  init() throws { stack = try Stack() }

  @Test("Fetched objects stay faults until a value is read.")
  func objects() throws {
    try stack.work { context in
      let found = try context.all("Person")
      #expect(found.map(\.objectID) == [1, 2, 3].map(stack.store.identifier))
      #expect(found.allSatisfy { $0.isFault })
      #expect(found[0]["name"] as? String == "Ada")
      #expect(found.map(\.isFault) == [false, true, true])
    }
  }

  @Test("A fetch of identifiers returns identifiers.")
  func identifiers() throws {
    try stack.work { context throws in
      let request = NSFetchRequest<NSManagedObjectID>(entityName: "Person")
      request.resultType = .managedObjectIDResultType
      request.sortDescriptors = [NSSortDescriptor(key: "name", ascending: true)]
      #expect(try context.fetch(request) == [1, 2, 3].map(stack.store.identifier))
    }
  }

  @Test("A fetch of dictionaries returns dictionaries without keys for nil.")
  func dictionaries() throws {
    stack.backing.change(3, ["nickname": "C"])
    try stack.work { context throws in
      let request = NSFetchRequest<NSDictionary>(entityName: "Person")
      request.resultType = .dictionaryResultType
      request.propertiesToFetch = ["name", "nickname"]
      request.predicate = NSPredicate(format: "age < 30")
      request.sortDescriptors = [NSSortDescriptor(key: "name", ascending: true)]
      #expect(try context.fetch(request) == [["name": "Bob"], ["name": "Cleo", "nickname": "C"]])
    }
  }

  @Test("A store returns a count as the one number in an array.")
  func count() throws {
    try stack.work { context throws in
      #expect(try context.count(for: people()) == 3)
      #expect(try context.count(for: people("age > 30")) == 1)
      #expect(stack.store.fetchRequest?.resultType == .countResultType)
    }
  }

  @Test("A count may be the result of a fetch.")
  func fetchedCount() throws {
    try stack.work { context throws in
      let request = NSFetchRequest<NSNumber>(entityName: "Person")
      request.resultType = .countResultType
      #expect(try context.fetch(request) == [3])
    }
  }

  @Test("A request finds its context's entities by name, and can be executed itself.")
  func executeOfTheRequest() throws {
    try stack.work { context throws in
      #expect(try people().execute().count == 3)
    }
  }
}
