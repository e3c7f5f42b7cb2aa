import CoreData
import Testing

@Suite("Fetch requests", .anyStore)
struct FetchRequestTests {
  private let stack: Stack<RecordingStore>

  init() throws { stack = try Stack() }

  @Test("A store gets everything of a fetch request that it must honour or refuse.")
  func wholeRequest() throws {
    let request = people("age > 1")
    request.fetchLimit = 2
    request.fetchOffset = 1
    request.includesSubentities = false
    request.shouldRefreshRefetchedObjects = true
    try stack.work { _ = try $0.fetch(request) }
    let seen = try #require(stack.store.fetchRequest)
    #expect(seen.entity?.name == "Person" && seen.entityName == "Person")
    #expect(seen.predicate == request.predicate)
    #expect(seen.sortDescriptors?.map(\.key) == ["name"])
    #expect(seen.fetchLimit == 2 && seen.fetchOffset == 1)
    #expect(!seen.includesSubentities && seen.shouldRefreshRefetchedObjects)
    #expect(seen.resultType == .managedObjectResultType)
  }

  @Test("A store gets everything of a fetch request from which dictionaries are made.")
  func dictionaries() throws {
    let request = NSFetchRequest<NSDictionary>(entityName: "Person")
    request.resultType = .dictionaryResultType
    request.propertiesToFetch = ["age"]
    request.propertiesToGroupBy = ["age"]
    request.havingPredicate = NSPredicate(format: "age > 1")
    request.returnsDistinctResults = true
    try stack.work { _ = try $0.fetch(request) }
    let seen = try #require(stack.store.fetchRequest)
    #expect(seen.resultType == .dictionaryResultType && seen.returnsDistinctResults)
    #expect(seen.propertiesToFetch?.map { ($0 as? NSPropertyDescription)?.name ?? $0 as! String } == ["age"])
    #expect(seen.propertiesToGroupBy?.map { ($0 as? NSPropertyDescription)?.name ?? $0 as! String } == ["age"])
    #expect(seen.havingPredicate == request.havingPredicate)
  }

  @Test("A store gets the hints of a fetch request that it may ignore.")
  func hints() throws {
    let request = people()
    request.includesPropertyValues = false
    request.returnsObjectsAsFaults = false
    request.relationshipKeyPathsForPrefetching = ["home"]
    request.includesPendingChanges = false
    try stack.work { _ = try $0.fetch(request) }
    let seen = try #require(stack.store.fetchRequest)
    #expect(!seen.includesPropertyValues && !seen.returnsObjectsAsFaults)
    #expect(seen.relationshipKeyPathsForPrefetching == ["home"])
  }

  @Test("A store gets a request for managed objects, whatever result the caller's request is for.")
  func typeOfTheResult() throws {
    try stack.work { context throws in
      let request = NSFetchRequest<any NSFetchRequestResult>(entityName: "Person")
      #expect(try context.fetch(request).count == 3)
      #expect(try context.count(for: request) == 3)
      #expect(stack.store.fetchRequest != nil)
    }
  }

  @Test("A store may change the request without affecting the caller's request.")
  func changedByTheStore() throws {
    let stack = try Stack<MeddlingStore>()
    let request = people()
    try stack.work { _ = try $0.fetch(request) }
    #expect(request.fetchLimit == 0 && request.predicate == nil)
  }

  @Test("A store gets a request for objects of the entity alone if the request excludes subentities.")
  func subentities() throws {
    let request = people()
    request.includesSubentities = false
    try stack.work { context throws in
      #expect(try context.names(request) == "Ada Bob")
      #expect(try context.names() == "Ada Bob Cleo")
    }
  }

  @Test("A store gets the sort descriptors, offset and limit of the request.")
  func window() throws {
    let request = people()
    request.fetchOffset = 1
    request.fetchLimit = 1
    #expect(try stack.work { try $0.names(request) } == "Bob")
  }
}

/// Changes the requests that it receives.
private final class MeddlingStore: RecordingStore {
  override func fetch(_ request: NSFetchRequest<NSManagedObject>, with context: NSManagedObjectContext) throws -> Any {
    request.fetchLimit = 1
    request.predicate = NSPredicate(value: false)
    return try super.fetch(request, with: context)
  }
}
