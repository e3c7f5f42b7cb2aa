import OpenCoreData
import Testing

/// Identifiers and their URLs.
@Suite struct IdentifierTests {
  let zoo = Zoo()
  let coordinator: NSPersistentStoreCoordinator
  let store: TestStore

  init() throws {
    coordinator = NSPersistentStoreCoordinator(managedObjectModel: zoo.model)
    store = try coordinator.addTestStore(metadata: [NSStoreTypeKey: "Test", NSStoreUUIDKey: "A B/Ü"])
  }

  func identifier(_ reference: Any) -> NSManagedObjectID { store.newObjectID(for: zoo.dog, referenceObject: reference) }

  @Test func integersComeBackAsNumbers() throws {
    for reference in [7, Int64(7), UInt8(7), NSNumber(value: 7), 7 as UInt64] as [Any] {
      let identifier = identifier(reference)
      #expect(store.referenceObject(for: identifier) as? NSNumber == 7)
      #expect(identifier.uriRepresentation().absoluteString == "x-coredata://A%20B%2F%C3%9C/Dog/p7")
      #expect(coordinator.managedObjectID(forURIRepresentation: identifier.uriRepresentation()) == identifier)
    }
    #expect(store.referenceObject(for: identifier(UInt64.max)) as? String == "18446744073709551615")
  }

  @Test(arguments: ["a", "7", "-7", "07", "+7", "7.0", "%37", "a/b c?d#e", "ä", "p7", "-", "🐕", "9223372036854775807"])
  func stringsComeBackAsTheyWere(_ reference: String) throws {
    let identifier = identifier(reference)
    #expect(store.referenceObject(for: identifier) as? String == reference)
    let back = try #require(coordinator.managedObjectID(for: identifier.uriRepresentation().absoluteString))
    #expect(back == identifier)
    #expect(back.hash == identifier.hash)
    #expect(store.referenceObject(for: back) as? String == reference)
  }

  @Test(arguments: [Int64.min, -1, 0, .max])
  func numbersOfAnySizeComeBack(_ reference: Int64) {
    let identifier = identifier(reference)
    #expect(coordinator.managedObjectID(forURIRepresentation: identifier.uriRepresentation()) == identifier)
    #expect(store.referenceObject(for: identifier) as? Int64 == reference)
  }

  @Test func whatIsNeitherNumberNorStringIsDescribed() {
    #expect(store.referenceObject(for: identifier(1.5)) as? String == "1.5")
    #expect(store.referenceObject(for: identifier(NSNumber(value: 1.5))) as? String == "1.5")
    #expect(store.referenceObject(for: identifier(NSString("x"))) as? String == "x")
  }

  @Test func equalityIsOfEntityStoreAndReference() throws {
    let one = identifier(1)
    #expect(one == identifier(1))
    #expect(one != identifier("1"))
    #expect(one != identifier(2))
    #expect(one != store.newObjectID(for: zoo.keeper, referenceObject: 1))
    #expect(Set([one, identifier(1), identifier(2)]).count == 2)
    let other = try coordinator.addTestStore()
    #expect(one != other.newObjectID(for: zoo.dog, referenceObject: 1))
  }

  @Test func identifiersOfOneStoreInTwoCoordinatorsAreEqual() throws {
    let second = NSPersistentStoreCoordinator(managedObjectModel: Zoo().model)
    try second.addTestStore(metadata: [NSStoreTypeKey: "Test", NSStoreUUIDKey: "A B/Ü"])
    let one = identifier(1)
    let other = try #require(second.managedObjectID(forURIRepresentation: one.uriRepresentation()))
    #expect(one == other)
    #expect(one.hash == other.hash)
    #expect(one.persistentStore !== other.persistentStore)
  }

  @Test func identifiersKnowTheirStoreAsLongAsItExists() throws {
    var gone: NSManagedObjectID?
    try {
      let other = try coordinator.addTestStore()
      gone = other.newObjectID(for: zoo.dog, referenceObject: 1)
      #expect(gone?.persistentStore === other)
      try coordinator.remove(other)
    }()
    #expect(gone?.persistentStore == nil)
    #expect(gone?.isTemporaryID == false)
    #expect(gone?.uriRepresentation().lastPathComponent == "p1")
  }

  @Test(arguments: [
    "", "x-coredata://", "x-coredata:///Dog/p1", "x-coredata://A%20B%2F%C3%9C/Cat/p1", "x-coredata://B/Dog/p1",
    "x-coredata://A%20B%2F%C3%9C/Dog/t1", "x-coredata://A%20B%2F%C3%9C/Dog/p", "x-coredata://A%20B%2F%C3%9C/Dog",
    "x-coredata://A%20B%2F%C3%9C/Dog/p1/2", "http://A%20B%2F%C3%9C/Dog/p1", "x-coredata://A%20B%2F%C3%9C/Dog/p%",
  ])
  func otherURLsLeadNowhere(_ text: String) {
    #expect(coordinator.managedObjectID(for: text) == nil)
  }

  @Test func entitiesMayHaveAnyName() throws {
    let model = NSManagedObjectModel()
    model.entities = [entity("Ä/b c", class: "NSManagedObject")]
    let coordinator = NSPersistentStoreCoordinator(managedObjectModel: model)
    let identifier = try coordinator.addTestStore().newObjectID(for: model.entities[0], referenceObject: 1)
    #expect(coordinator.managedObjectID(forURIRepresentation: identifier.uriRepresentation()) == identifier)
  }
}
