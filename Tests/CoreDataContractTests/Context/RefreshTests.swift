import CoreData
import Testing

@Suite("Refreshing objects", .anyStore)
struct RefreshTests {
  private let stack: Stack<RecordingStore>

  init() throws { stack = try Stack() }

  @Test("without merging makes a fault and forgets the changes")
  func withoutMerging() throws {
    try stack.work { context in
      let ada = try context.person("Ada")
      ada["age"] = 37
      context.refresh(ada, mergeChanges: false)
      #expect(ada.isFault && !ada.hasChanges && !context.hasChanges)
      #expect(ada["age"] as? Int == 36)
    }
  }

  @Test("with merging takes the store's values and puts the changes on top, and leaves what is transient")
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

  @Test("with merging agrees with the store's version, so that the next save is no conflict")
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

  @Test("all of them makes faults of what is unchanged and keeps what is changed")
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

  @Test("nothing is read again by itself: what another client changed is seen after a refresh")
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

  @Test("fetching what is in memory leaves its values, whatever the request says", arguments: [false, true])
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

  @Test("how old values may be is for stores with a cache to look at; there is no limit unless set")
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

  @Test("a reset forgets everything, and says so")
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
