import CoreData
import Testing

@Suite("Values that are nil", .anyStore)
struct AbsentValueTests {
  @Test(
    "A nil value is read as nil, for an attribute of any type.",
    arguments: [.integer64, .boolean, .double, .decimal, .string, .date, .binaryData, .uuid, .uri, .transformable]
      as [NSAttributeDescription.AttributeType])
  func null(_ type: NSAttributeDescription.AttributeType) throws {
    #expect(try Things(type).afterwards([nil] as [Any?]).first.map { $0 == nil } == true)
  }

  @Test("A nil value stays nil although the attribute has a default.")
  func defaultValue() throws {
    let attribute = Town.attribute("value", .integer64)
    attribute.defaultValue = 18
    #expect(try Things(attribute).afterwards([nil, 5] as [Any?]).map { $0 as? Int } == [nil, 5])
  }

  @Test("A row reads nil for an attribute that was added later, and keeps values that older models do not know.")
  func laterAttribute() throws {
    let things = Things(.integer64)
    _ = try things.afterwards([7])
    let thing = Town.entity("Thing")
    thing.properties = [Town.attribute("place", .integer64), Town.attribute("later", .string)]
    let model = NSManagedObjectModel()
    model.entities = [thing]
    let coordinator = NSPersistentStoreCoordinator(managedObjectModel: model)
    _ = try coordinator.add(
      RecordingStore.self, things.backing, options: [NSIgnorePersistentStoreVersioningOption: true])
    let context = NSManagedObjectContext(.privateQueue)
    context.persistentStoreCoordinator = coordinator
    try context.performAndWait {
      let thing = try context.all("Thing")[0]
      #expect(thing["later"] == nil)
      thing["later"] = "x"
      try context.save()
    }
    #expect(try things.stack().work { try $0.all("Thing")[0]["value"] as? Int } == 7)
  }
}
