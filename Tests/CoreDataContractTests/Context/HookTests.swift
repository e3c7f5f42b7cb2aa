import CoreData
import Testing

@Suite("The hooks of an object", .anyStore)
struct HookTests {
  private let stack: Stack<RecordingStore>

  init() throws { stack = try Stack(Town.model(personClass: HookedObject.self)) }

  private func ada(_ context: NSManagedObjectContext) throws -> HookedObject {
    try #require(try context.person("Ada") as? HookedObject)
  }

  @Test("`awakeFromInsert` is called once for an inserted object, which has its defaults.")
  func awakeFromInsert() throws {
    try stack.work { context in
      let dan = try #require(context.make("Person") as? HookedObject)
      #expect(dan.hooks == ["awakeFromInsert, age 18"])
    }
  }

  @Test("`awakeFromFetch` is called each time a fetched object gets its values.")
  func awakeFromFetch() throws {
    try stack.work { context in
      let ada = try ada(context)
      #expect(ada.hooks == [])
      _ = (ada["name"], ada["age"])
      #expect(ada.hooks == ["awakeFromFetch"])
      context.refresh(ada, mergeChanges: false)
      #expect(ada.hooks == ["awakeFromFetch", "willTurnIntoFault", "didTurnIntoFault"])
      _ = ada["name"]
      #expect(ada.hooks.last == "awakeFromFetch" && ada.hooks.count == 4)
    }
  }

  @Test("`awakeFromFetch` is called once for each object that a fetch reads with its values, and for no other.")
  func awakeFromFetchOfValues() throws {
    try stack.work { context in
      let ada = try ada(context)
      _ = ada["name"]
      let request = NSFetchRequest<NSManagedObject>(entityName: "Person")
      request.returnsObjectsAsFaults = false
      let people = try context.fetch(request).compactMap { $0 as? HookedObject }
      #expect(people.count > 1 && people.contains(ada))
      for person in people { #expect(person.hooks == ["awakeFromFetch"] && !person.isFault) }
    }
  }

  @Test("A save calls `willSave` before and `didSave` after it.")
  func saving() throws {
    try stack.work { context in
      let ada = try ada(context)
      ada["age"] = 37
      ada.hooks = []
      try context.save()
      #expect(ada.hooks == ["willSave", "didSave"])
    }
  }

  @Test("`willSave` is called before the object gets a permanent identifier and before it is validated.")
  func orderInASave() throws {
    try stack.work { context in
      let dan = try #require(context.make("Person") as? HookedObject)
      var wasTemporary = false
      dan.onWillSave = { dan in
        wasTemporary = wasTemporary || dan.objectID.isTemporaryID
        if dan["name"] == nil { dan["name"] = "Dan" }
      }
      try context.save()
      #expect(wasTemporary && !dan.objectID.isTemporaryID)
      dan.onWillSave = nil
    }
  }

  @Test("Changes made in `willSave` are saved, and `willSave` is called again.")
  func changingInWillSave() throws {
    try stack.work { context in
      let ada = try ada(context)
      ada["age"] = 37
      ada.hooks = []
      ada.onWillSave = { ada in
        if ada["nickname"] == nil { ada["nickname"] = "Countess" }
      }
      try context.save()
      #expect(ada.hooks == ["willSave", "willSave", "didSave"])
      ada.onWillSave = nil
    }
    #expect(stack.backing.rows[1]?.attributes["nickname"] as? String == "Countess")
  }

  @Test("Objects that another object's `willSave` changes get `willSave`, too.")
  func changingOthers() throws {
    try stack.work { context in
      let ada = try ada(context)
      let bob = try #require(try context.person("Bob") as? HookedObject)
      ada["age"] = 37
      ada.onWillSave = { _ in if bob["age"] as? Int == 25 { bob["age"] = 26 } }
      try context.save()
      #expect(bob.hooks.suffix(2) == ["willSave", "didSave"])
      ada.onWillSave = nil
    }
    #expect(stack.backing.rows[2]?.attributes["age"] as? Int == 26)
  }

  @Test("`prepareForDeletion` is called once for each deletion, and a deleted object is detached by the save.")
  func deletion() throws {
    try stack.work { context in
      let ada = try ada(context)
      _ = ada["name"]
      ada.hooks = []
      context.delete(ada)
      #expect(ada.hooks == ["prepareForDeletion"])
      #expect(ada.isDeleted)
      try context.save()
      #expect(!ada.isDeleted)
      #expect(ada.managedObjectContext == nil)
      #expect(ada.hooks.filter { $0 == "prepareForDeletion" }.count == 1)
      #expect(ada.hooks.filter { $0 == "didSave" }.count == 1)
    }
  }

  @Test("`prepareForDeletion` is called for an object that a delete rule deletes.")
  func cascade() throws {
    try stack.work { context in
      let rex = try context.all("Pet")[0]
      let ada = try ada(context)
      let bob = try #require(try context.person("Bob") as? HookedObject)
      context.delete(rex)
      context.delete(ada)
      context.processPendingChanges()
      #expect(ada.hooks.contains("prepareForDeletion"))
      #expect(!bob.hooks.contains("prepareForDeletion"))
    }
  }
}
