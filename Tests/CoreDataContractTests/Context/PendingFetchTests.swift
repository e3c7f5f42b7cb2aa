import CoreData
import Testing

@Suite("A fetch while changes are pending", .anyStore)
struct PendingFetchTests {
  private let stack: Stack<RecordingStore>

  init() throws { stack = try Stack() }

  /// Runs a closure with pending changes: Dan is new, Bob is deleted, Ada is 16 instead of 36, Cleo 70 instead of 7.
  private func changed<Result>(_ body: (NSManagedObjectContext) throws -> Result) throws -> Result {
    try stack.work { context in
      context.make("Person", ["name": "Dan", "age": 51])
      context.delete(try context.person("Bob"))
      try context.person("Ada")["age"] = 16
      try context.person("Cleo")["age"] = 70
      return try body(context)
    }
  }

  @Test("A fetch returns inserted objects that are not saved, and no deleted ones.")
  func insertedAndDeleted() throws {
    #expect(try changed { try $0.names() } == "Ada Cleo Dan")
  }

  @Test("A fetch returns objects whose unsaved values satisfy the predicate, and no others.")
  func updated() throws {
    #expect(try changed { try $0.names(people("age >= 18")) } == "Cleo Dan")
    #expect(try changed { try $0.names(people("age < 18")) } == "Ada")
  }

  @Test("A fetch that excludes pending changes returns saved objects, with their new values.")
  func withoutPendingChanges() throws {
    let request = people("age >= 18")
    request.includesPendingChanges = false
    try changed { context throws in
      #expect(try context.names(request) == "Ada Bob")
      #expect(try context.fetch(request).map { $0["age"] as? Int } == [16, 25])
    }
  }

  @Test("A count includes pending changes like a fetch.")
  func count() throws {
    try changed { context throws in
      #expect(try context.count(for: people()) == 3)
      #expect(try context.count(for: people("age >= 18")) == 2)
      let saved = people("age >= 18")
      saved.includesPendingChanges = false
      #expect(try context.count(for: saved) == 2)
      saved.predicate = nil
      #expect(try context.count(for: saved) == 3)
    }
  }

  @Test("A fetch of identifiers returns temporary ones for new objects.")
  func identifiers() throws {
    try changed { context throws in
      let request = NSFetchRequest<NSManagedObjectID>(entityName: "Person")
      request.resultType = .managedObjectIDResultType
      let found = try context.fetch(request)
      #expect(Set(found) == Set(try context.fetch(people()).map(\.objectID)))
      #expect(found.filter(\.isTemporaryID).count == 1)
    }
  }

  @Test("A fetch of dictionaries returns the saved state.")
  func dictionaries() throws {
    try changed { context throws in
      let request = NSFetchRequest<NSDictionary>(entityName: "Person")
      request.resultType = .dictionaryResultType
      request.propertiesToFetch = ["name", "age"]
      request.sortDescriptors = [NSSortDescriptor(key: "name", ascending: true)]
      #expect(
        try context.fetch(request) == [
          ["name": "Ada", "age": 36], ["name": "Bob", "age": 25], ["name": "Cleo", "age": 7],
        ])
    }
  }

  @Test("A fetch finds pending objects of subentities, and omits them if it excludes subentities.")
  func subentities() throws {
    try stack.work { context throws in
      context.make("Child", ["name": "Dora"])
      #expect(try context.names() == "Ada Bob Cleo Dora")
      let request = people()
      request.includesSubentities = false
      #expect(try context.names(request) == "Ada Bob")
    }
  }

  @Test("A predicate treats nil in pending values as in saved ones.")
  func null() throws {
    try stack.work { context in
      context.make("Person", ["name": "Dan", "nickname": "D"])
      context.make("Person", ["name": "Eve"])
      let request = people("nickname != 'D'")
      #expect(try context.names(request) == "Ada Bob Cleo Eve")
      try context.save()
      #expect(try context.names(request) == "Ada Bob Cleo Eve")
    }
  }

  @Test("A fetch does not see the pending changes of another context.")
  func otherContext() throws {
    try changed { _ throws in
      #expect(try stack.work { try $0.names() } == "Ada Bob Cleo")
    }
  }

  // Apple's Core Data applies offset and limit to the rows of the store, before it considers pending changes.
  #if !canImport(Darwin)
    @Test("A fetch sorts pending objects with the others before it applies offset and limit.")
    func window() throws {
      try changed { context throws in
        context.make("Person", ["name": "Abel"])
        let request = people()
        var windows: [String] = []
        for offset in 0...4 {
          request.fetchOffset = offset
          request.fetchLimit = 2
          windows.append(try context.names(request))
        }
        #expect(windows == ["Abel Ada", "Ada Cleo", "Cleo Dan", "Dan", ""])
        request.fetchOffset = 3
        request.fetchLimit = 2
        #expect(try context.count(for: request) == 1)
      }
    }
  #endif
}
