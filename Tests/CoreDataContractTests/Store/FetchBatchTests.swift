import CoreData
import Testing

@Suite("Reading many objects together", .anyStore)
struct FetchBatchTests {
  private let stack: Stack<RecordingStore>

  init() throws { stack = try Stack() }

  @Test("A request with a batch size finds the same objects with the same values.", arguments: [1, 2, 100])
  func values(_ size: Int) throws {
    try stack.work { (context) throws in
      try context.person("Bob")["age"] = 50
      context.make("Person", ["name": "Dan"])
      let request = people()
      request.fetchBatchSize = size
      let found = try context.fetch(request)
      #expect(found.map { $0["name"] as? String } == ["Ada", "Bob", "Cleo", "Dan"])
      #expect(found.map { $0["age"] as? Int }.contains(50))
    }
  }

  // How Apple's contexts call a store for a batch is not documented.
  #if !canImport(Darwin)
    @Test("When a fault of a batch fires, the rows of the whole batch are read, and of no other.")
    func batches() throws {
      try stack.work { context in
        let request = people()
        request.fetchBatchSize = 2
        request.returnsObjectsAsFaults = false
        let found = try context.fetch(request)
        #expect(found.map(\.isFault) == [true, true, true])
        let calls = stack.calls { _ = found[1]["name"] }
        #expect(Set(calls.filter { $0.method == .values }) == [.values("Person/1"), .values("Person/2")])
        #expect(found.map(\.isFault) == [false, false, true])
        stack.expectCalls([]) { _ = found[0]["age"] }
        stack.expectCalls([.values("Child/3")]) { _ = found[2]["age"] }
      }
    }

    @Test("The error of a batch is the error of the call that reads the fault.")
    func failing() throws {
      try stack.work { context in
        let request = people()
        request.fetchBatchSize = 2
        let found = try context.fetch(request)
        stack.backing.failing = [.values]
        #expect(throws: Refusal(method: .values)) { try context.existingObject(with: found[0].objectID) }
        stack.backing.failing = []
        #expect(found[0]["name"] as? String == "Ada")
      }
    }

    @Test("After prefetching, neither the relationships nor their objects are read from the store.")
    func prefetching() throws {
      try stack.work { context in
        let request = people()
        request.relationshipKeyPathsForPrefetching = ["pets", "home"]
        let found = try context.fetch(request)
        stack.expectCalls([]) {
          for person in found {
            _ = (person["home"] as? NSManagedObject)?["street"]
            for pet in person.members("pets") { _ = pet["name"] }
          }
        }
      }
    }

    @Test("With a batch size, relationships are prefetched with their batch, and not before.")
    func prefetchingBatches() throws {
      try stack.work { context in
        let request = people()
        request.fetchBatchSize = 2
        request.relationshipKeyPathsForPrefetching = ["pets", "home"]
        let found = try context.fetch(request)
        #expect(found.map(\.isFault) == [true, true, true])
        _ = found[1]["name"]
        #expect(found.map(\.isFault) == [false, false, true])
        stack.expectCalls([]) {
          for person in found.prefix(2) {
            _ = (person["home"] as? NSManagedObject)?["street"]
            for pet in person.members("pets") { _ = pet["name"] }
          }
        }
        let again = try context.fetch(request)
        stack.expectCalls([]) { _ = again[0].members("pets").map { $0["name"] } }
        #expect(again[2].isFault)
      }
    }
  #endif

  @Test("Prefetched relationships have their unsaved changes.")
  func changed() throws {
    try stack.work { (context) throws in
      let (ada, bob) = (try context.person("Ada"), try context.person("Bob"))
      let (former, other) = (ada.names("pets"), bob.names("pets"))
      context.refreshAllObjects()
      let cat = context.make("Pet", ["name": "Cat"])
      cat["owner"] = ada
      if let moved = try context.all("Pet", "owner.name = 'Bob'").first { moved["owner"] = ada }
      let request = people()
      request.relationshipKeyPathsForPrefetching = ["pets"]
      #expect(try context.fetch(request).count == 3)
      #expect(ada.names("pets") == (former + other.prefix(1) + ["Cat"]).sorted())
      #expect(bob.names("pets") == Array(other.dropFirst()))
    }
  }
}
