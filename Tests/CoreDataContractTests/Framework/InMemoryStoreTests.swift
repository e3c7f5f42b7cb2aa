import CoreData
import Testing

/// The in-memory store of Core Data keeps the same contract.
@Suite("The in-memory store")
struct InMemoryStoreTests {
  private let stack: InMemoryStack

  init() throws { stack = try InMemoryStack() }

  @Test("The in-memory store returns what was saved, filtered, sorted and windowed.")
  func fetching() throws {
    try stack.work { context in
      for (name, age) in [("Cleo", 7), ("Ada", 36), ("Bob", 25), ("Dan", 51)] {
        context.make("Person", ["name": name, "age": age])
      }
      try context.save()
    }
    try stack.work { context throws in
      #expect(try context.names() == "Ada Bob Cleo Dan")
      let request = people("age > 10")
      request.fetchOffset = 1
      request.fetchLimit = 1
      #expect(try context.names(request) == "Bob")
      #expect(try context.count(for: people("age > 10")) == 3)
    }
  }

  @Test("The in-memory store keeps relationships of every kind.")
  func relationships() throws {
    try stack.work { context in
      let (ada, bob) = (context.make("Person", ["name": "Ada"]), context.make("Person", ["name": "Bob"]))
      ada["home"] = context.make("House", ["street": "Elm"])
      ada["friends"] = NSSet(object: bob)
      let errands = ["bread", "milk", "eggs"].map { context.make("Errand", ["title": $0]) }
      ada["errands"] = NSOrderedSet(array: errands)
      try context.save()
    }
    try stack.work { context in
      let ada = try context.person("Ada")
      #expect((ada["home"] as? NSManagedObject)?.names("residents") == ["Ada"])
      #expect(try context.person("Bob").names("friends") == ["Ada"])
      #expect(ada.members("errands").map { $0["title"] as? String } == ["bread", "milk", "eggs"])
    }
  }

  @Test("The in-memory store never uses an identifier twice.")
  func identifiers() throws {
    let first = try stack.work { context in
      let ada = context.make("Person", ["name": "Ada"])
      try context.save()
      context.delete(ada)
      try context.save()
      return ada.objectID
    }
    let second = try stack.work { context in
      let bob = context.make("Person", ["name": "Bob"])
      try context.save()
      return bob.objectID
    }
    #expect(first != second)
  }

  @Test("The in-memory store detects that two contexts change one object.")
  func conflict() throws {
    try stack.work { context in
      context.make("Person", ["name": "Ada"])
      try context.save()
    }
    try stack.work { first in
      let ada = try first.person("Ada")
      ada["age"] = 37
      try stack.work { second in
        try second.person("Ada")["age"] = 38
        try second.save()
      }
      #expect(thrown { try first.save() }?.code == 133020)
    }
  }

  @Test("The in-memory store has its type and an identifier in its metadata.")
  func metadata() throws {
    try stack.work { _ in }
    let metadata = stack.coordinator.metadata(for: stack.coordinator.persistentStores[0])
    #expect(metadata[NSStoreTypeKey] as? String == NSInMemoryStoreType)
    #expect((metadata[NSStoreUUIDKey] as? String)?.isEmpty == false)
  }
}
