import CoreData
import Testing

@Suite("Refreshing objects", .anyStore)
struct RefreshTests {
  private let stack: Stack<RecordingStore>

  init() throws { stack = try Stack() }

  @Test("Refreshing without merging makes a fault and discards the changes.")
  func withoutMerging() throws {
    try stack.work { context in
      let ada = try context.person("Ada")
      ada["age"] = 37
      context.refresh(ada, mergeChanges: false)
      #expect(ada.isFault && !ada.hasChanges && !context.hasChanges)
      #expect(ada["age"] as? Int == 36)
    }
  }

  @Test("Refreshing with merging takes the store's values, and keeps changes and transient values.")
  func withMerging() throws {
    try stack.work { context in
      let ada = try context.person("Ada")
      ada["age"] = 37
      ada["mood"] = "merry"
      stack.backing.change(1, ["name": "Augusta", "age": 99])
      context.refresh(ada, mergeChanges: true)
      #expect(ada["name"] as? String == "Augusta")
      #expect(ada["age"] as? Int == 37)
      #expect(ada["mood"] as? String == "merry")
      #expect(ada.changedValues()["age"] as? Int == 37)
    }
  }

  @Test("Refreshing with merging takes the store's version, so that the next save is no conflict.")
  func newVersion() throws {
    try stack.work { context in
      let ada = try context.person("Ada")
      ada["age"] = 37
      stack.backing.change(1, ["name": "Augusta"])
      context.refresh(ada, mergeChanges: true)
      try context.save()
    }
    #expect(stack.backing.rows[1]?.version == 3)
  }

  @Test("Refreshing all objects makes unchanged ones faults and keeps changes.")
  func all() throws {
    try stack.work { context in
      let (ada, bob) = (try context.person("Ada"), try context.person("Bob"))
      ada["age"] = 37
      _ = bob["name"]
      stack.backing.change(1, ["nickname": "Countess"])
      context.refreshAllObjects()
      #expect(bob.isFault && !ada.isFault)
      #expect(ada["age"] as? Int == 37)
      #expect(ada["nickname"] as? String == "Countess")
    }
  }

  @Test("A change by another client is seen only after a refresh.")
  func silentChange() throws {
    try stack.work { context in
      let ada = try context.person("Ada")
      #expect(ada["age"] as? Int == 36)
      stack.backing.change(1, ["age": 37])
      #expect(try context.person("Ada")["age"] as? Int == 36)
      context.refresh(ada, mergeChanges: true)
      #expect(ada["age"] as? Int == 37)
    }
  }

  @Test(
    "Fetching an object that is in memory does not change its values, whatever the request says.",
    arguments: [false, true])
  func refetching(_ shouldRefresh: Bool) throws {
    try stack.work { context in
      let ada = try context.person("Ada")
      #expect(ada["age"] as? Int == 36)
      stack.backing.change(1, ["age": 37])
      let request = people()
      request.shouldRefreshRefetchedObjects = shouldRefresh
      #expect(try context.fetch(request).first === ada)
      #expect(ada["age"] as? Int == 36)
    }
  }

  @Test("The staleness interval is for stores with a cache, and has no limit by default.")
  func staleness() throws {
    try stack.work { context in
      #expect(NSManagedObjectContext(.privateQueue).stalenessInterval < 0)
      context.stalenessInterval = 0
      #expect(context.stalenessInterval == 0)
      let ada = try context.person("Ada")
      _ = ada["age"]
      stack.backing.change(1, ["age": 37])
      #expect(ada["age"] as? Int == 36)
      context.refresh(ada, mergeChanges: false)
      #expect(ada["age"] as? Int == 37)
    }
  }

  @Test("A reset discards everything, and posts a notification.")
  func reset() throws {
    try stack.work { context in
      let changes = Notices(NSManagedObjectContext.didChangeObjectsNotification, of: context)
      let ada = try context.person("Ada")
      ada["age"] = 37
      context.make("Person", ["name": "Dan"])
      context.reset()
      #expect(!context.hasChanges && context.registeredObjects.isEmpty)
      #expect(changes.last?.userInfo?["invalidatedAll"] != nil)
      #expect(try context.names() == "Ada Bob Cleo")
      #expect(try context.person("Ada")["age"] as? Int == 36)
    }
  }
}
