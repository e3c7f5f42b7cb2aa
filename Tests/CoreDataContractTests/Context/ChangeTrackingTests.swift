import CoreData
import Testing

@Suite("Changes of an object", .anyStore)
struct ChangeTrackingTests {
  private let stack: Stack<RecordingStore>

  init() throws { stack = try Stack() }

  @Test("The changed values are those since the object was fetched or saved.")
  func changedValues() throws {
    try stack.work { context in
      let ada = try context.person("Ada")
      #expect(ada.changedValues().isEmpty && !ada.hasChanges)
      ada["age"] = 37
      ada["nickname"] = "Countess"
      #expect(Set(ada.changedValues().keys) == ["age", "nickname"])
      #expect(ada.changedValues()["age"] as? Int == 37)
      #expect(ada.hasChanges && ada.isUpdated && context.hasChanges && context.updatedObjects == [ada])
      try context.save()
      #expect(ada.changedValues().isEmpty && !ada.hasChanges && !context.hasChanges)
    }
  }

  @Test("The committed values are those that were last fetched or saved.")
  func committedValues() throws {
    try stack.work { context in
      let ada = try context.person("Ada")
      ada["age"] = 37
      #expect(ada.committedValues(forKeys: ["age"])["age"] as? Int == 36)
      #expect(ada.committedValues(forKeys: nil)["name"] as? String == "Ada")
      #expect(ada.committedValues(forKeys: ["nickname"])["nickname"] is NSNull?)
      try context.save()
      #expect(ada.committedValues(forKeys: ["age"])["age"] as? Int == 37)
    }
  }

  @Test("Setting a primitive value is not noticed as a change.")
  func primitiveValue() throws {
    try stack.work { context in
      let ada = try context.person("Ada")
      _ = ada["age"]
      ada.setPrimitiveValue(37, forKey: "age")
      #expect(ada.primitiveValue(forKey: "age") as? Int == 37)
      #expect(!ada.hasChanges && !context.hasChanges)
    }
  }

  @Test("A custom accessor that sets a relationship's primitive value changes both ends.")
  func primitiveRelationship() throws {
    try stack.work { context in
      let (ada, bob, cleo) = (try context.person("Ada"), try context.person("Bob"), try context.person("Cleo"))
      let house = try context.all("House")[0]
      cleo.willChangeValue(forKey: "home")
      cleo.setPrimitiveValue(house, forKey: "home")
      #expect(house.names("residents") == ["Ada", "Bob"])
      cleo.didChangeValue(forKey: "home")
      #expect(house.names("residents") == ["Ada", "Bob", "Cleo"])
      #expect(context.updatedObjects == [cleo, house])

      house.willChangeValue(forKey: "residents")
      house.setPrimitiveValue([cleo, bob] as Set, forKey: "residents")
      house.didChangeValue(forKey: "residents")
      #expect(ada["home"] == nil && bob["home"] as? NSManagedObject == house)

      cleo.willChangeValue(forKey: "home")
      cleo.setPrimitiveValue(nil, forKey: "home")
      cleo.didChangeValue(forKey: "home")
      try context.save()
      context.reset()
      #expect(try context.all("House")[0].names("residents") == ["Bob"])
      #expect(try context.person("Ada")["home"] == nil)
    }
  }

  @Test("Changing a transient attribute is a change that is not saved.")
  func transient() throws {
    try stack.work { context in
      let ada = try context.person("Ada")
      ada["mood"] = "merry"
      #expect(ada.hasChanges && !ada.hasPersistentChangedValues)
      ada["age"] = 37
      #expect(ada.hasPersistentChangedValues)
    }
  }

  @Test("Setting a relationship changes both ends.")
  func inverse() throws {
    try stack.work { context in
      let (ada, cleo) = (try context.person("Ada"), try context.person("Cleo"))
      let house = try context.all("House")[0]
      cleo["home"] = house
      #expect(house.names("residents") == ["Ada", "Bob", "Cleo"])
      #expect(context.updatedObjects.contains(cleo) && context.updatedObjects.contains(house))
      ada["home"] = nil
      #expect(house.names("residents") == ["Bob", "Cleo"])
    }
  }

  @Test("A rollback discards all changes.")
  func rollback() throws {
    try stack.work { context in
      let (ada, rex) = (try context.person("Ada"), try context.all("Pet")[0])
      ada["age"] = 37
      let dan = context.make("Person", ["name": "Dan"])
      context.delete(rex)
      context.rollback()
      #expect(!context.hasChanges)
      #expect(ada["age"] as? Int == 36)
      #expect(!rex.isDeleted && rex["name"] as? String == "Rex")
      #expect(dan.managedObjectContext == nil && !dan.isInserted)
      #expect(try context.names() == "Ada Bob Cleo")
    }
  }

  @Test("A failed save leaves all changes pending, and a rollback discards them.")
  func failedSave() throws {
    try stack.work { context in
      let ada = try context.person("Ada")
      ada["name"] = nil
      #expect(thrown { try context.save() }?.code == 1570)
      #expect(context.updatedObjects == [ada] && ada.changedValues().keys.contains("name"))
      context.rollback()
      #expect(ada["name"] as? String == "Ada")
      try context.save()
    }
  }

  @Test("A change inside a transformable value is not noticed.")
  func mutableValue() throws {
    let list = Town.entity("List")
    list.properties = [Town.attribute("items", .transformable)]
    let model = NSManagedObjectModel()
    model.entities = [list]
    let stack = try Stack<RecordingStore>(model, Backing())
    try stack.work { context in
      let list = context.make("List", ["items": NSMutableArray(array: ["bread"])])
      try context.save()
      (list["items"] as? NSMutableArray)?.add("milk")
      #expect(!list.hasChanges && !context.hasChanges)
    }
  }
}
