import OpenCoreData
import Testing

/// Registering, adding and removing stores.
@Suite struct AddingTests {
  let zoo = Zoo()
  let coordinator: NSPersistentStoreCoordinator

  init() { coordinator = NSPersistentStoreCoordinator(managedObjectModel: zoo.model) }

  @Test func aStoreInMemoryNeedsNoURL() throws {
    let store = try coordinator.addPersistentStore(ofType: NSInMemoryStoreType, configurationName: nil, at: nil)
    #expect(store.type == NSInMemoryStoreType)
    #expect(store.identifier == store.metadata[NSStoreUUIDKey] as? String)
    #expect(store.configurationName == "PF_DEFAULT_CONFIGURATION_NAME")
    #expect(coordinator.url(for: store).path == "/dev/null")
    #expect(store.persistentStoreCoordinator === coordinator)
    try coordinator.addPersistentStore(ofType: NSInMemoryStoreType, configurationName: nil, at: nil)
    #expect(coordinator.persistentStores.count == 2)
  }

  @Test func anUnknownTypeIsNamed() throws {
    let type = NSPersistentStore.StoreType(rawValue: "Nowhere")
    let add = { _ = try coordinator.addPersistentStore(type: type, at: URL(fileURLWithPath: "/dev/null")) }
    #expect(errorCode(add) == NSPersistentStoreInvalidTypeError)
    #expect(errorText(add).contains("Nowhere"))
    NSPersistentStoreCoordinator.registerStoreClass(TestStore.self, type: type)
    #expect(errorCode(add) == NSPersistentStoreTypeMismatchError)
    NSPersistentStoreCoordinator.registerStoreClass(nil, forStoreType: "Nowhere")
    #expect(errorCode(add) == NSPersistentStoreInvalidTypeError)
    #expect(coordinator.persistentStores.isEmpty)
  }

  @Test("Every store names, when it is added, each value transformer that is not registered.")
  func unregisteredTransformers() throws {
    let names = ["", "NSSecureUnarchiveFromDataTransformer", "Colour", "Place"]
    let attributes = names.enumerated().map { place, name in
      attribute("value\(place)", .transformable) { $0.valueTransformerName = name }
    }
    let note = entity("Note", class: "NSManagedObject")
    note.properties = [
      attributes[0], attributes[1], composite("parts", [attributes[2], attributes[3]]),
      attribute("passing", .transformable) { ($0.valueTransformerName, $0.isTransient) = ("Passing", true) },
    ]
    let model = NSManagedObjectModel()
    model.entities = [note]
    let coordinator = NSPersistentStoreCoordinator(managedObjectModel: model)
    let add = {
      _ = try coordinator.addPersistentStore(ofType: NSInMemoryStoreType, configurationName: nil, at: nil)
    }
    #expect(errorCode(add) == NSCoreDataError)
    #expect(
      errorText(add).contains(#""Colour", which Note.value2 needs; or "Place", which Note.value3 needs"#))
    #expect(!errorText(add).contains("Passing") && !errorText(add).contains("Secure"))
    let registered = [NSValueTransformerName("Colour"), NSValueTransformerName("Place")]
    let transformer = NSSecureUnarchiveFromDataTransformer()
    for name in registered { ValueTransformer.setValueTransformer(transformer, forName: name) }
    defer { for name in registered { ValueTransformer.setValueTransformer(nil, forName: name) } }
    #expect(throws: Never.self) { try add() }
  }

  @Test func metadataAreLoadedOnceAndCompleted() throws {
    let store = try coordinator.addTestStore()
    #expect(store.openings == 1)
    let metadata = coordinator.metadata(for: store)
    #expect(metadata[NSStoreModelVersionHashesKey] as? [String: Data] == zoo.model.entityVersionHashesByName)
    #expect(metadata[NSStoreModelVersionIdentifiersKey] != nil)
    #expect(metadata[NSPersistentStoreModelVersionChecksumKey] as? String == zoo.model.versionChecksum)
  }

  @Test func anErrorOfTheStoreComesOut() throws {
    let error = NSError(domain: NSCocoaErrorDomain, code: 77)
    #expect(errorCode { try coordinator.addTestStore(options: ["error": error]) } == 77)
    #expect(coordinator.persistentStores.isEmpty)
  }

  @Test func metadataWithoutTypeOrIdentifierAreRefused() {
    #expect(
      errorCode { try coordinator.addTestStore(metadata: [NSStoreUUIDKey: "a"]) } == NSPersistentStoreTypeMismatchError)
    #expect(
      errorCode { try coordinator.addTestStore(metadata: [NSStoreTypeKey: "Test"]) } == NSPersistentStoreOpenError)
  }

  @Test func aPlaceAndAnIdentifierOccurOnce() throws {
    try coordinator.addTestStore(at: "/nowhere/a")
    #expect(errorCode { try coordinator.addTestStore(at: "/nowhere/b/../a") } == NSPersistentStoreOpenError)
    let metadata = [NSStoreTypeKey: "Test", NSStoreUUIDKey: "same"]
    try coordinator.addTestStore(metadata: metadata)
    #expect(errorCode { try coordinator.addTestStore(metadata: metadata) } == NSPersistentStoreOpenError)
    #expect(coordinator.persistentStores.count == 2)
  }

  @Test func theModelMustBeTheOneOfTheStore() throws {
    var hashes = zoo.model.entityVersionHashesByName
    hashes["Dog"] = Data([1])
    let metadata: [String: Any] = [
      NSStoreTypeKey: "Test", NSStoreUUIDKey: "a", NSStoreModelVersionHashesKey: hashes,
    ]
    let add = { _ = try coordinator.addTestStore(metadata: metadata) }
    #expect(errorCode(add) == NSPersistentStoreIncompatibleVersionHashError)
    #expect(errorText(add).contains("Dog") && !errorText(add).contains("Keeper"))
    try coordinator.addTestStore(metadata: metadata, options: [NSIgnorePersistentStoreVersioningOption: true])
  }

  @Test func onlyTheConfigurationIsCompared() throws {
    let zoo = Zoo()
    zoo.model.setEntities([zoo.keeper], forConfigurationName: "people")
    let coordinator = NSPersistentStoreCoordinator(managedObjectModel: zoo.model)
    let metadata: [String: Any] = [
      NSStoreTypeKey: "Test", NSStoreUUIDKey: "a",
      NSStoreModelVersionHashesKey: ["Keeper": zoo.keeper.versionHash],
    ]
    try coordinator.addPersistentStore(
      ofType: testType.rawValue, configurationName: "people", at: nil, options: ["metadata": metadata])
    #expect(
      errorCode { try coordinator.addTestStore(metadata: metadata.merging([NSStoreUUIDKey: "b"]) { $1 }) }
        == NSPersistentStoreIncompatibleVersionHashError)
    #expect(
      errorCode {
        try coordinator.addPersistentStore(ofType: testType.rawValue, configurationName: "animals", at: nil)
      } == NSPersistentStoreIncompatibleSchemaError)
  }

  @Test func missingClassesAreNamed() {
    let model = NSManagedObjectModel()
    model.entities = [
      entity("One", class: "Nowhere.One"), entity("Two", class: "OpenCoreDataTests.TestStore"),
      entity("Three", class: "OpenCoreData.NSManagedObject"), entity("Four", class: "NSManagedObject"),
    ]
    let coordinator = NSPersistentStoreCoordinator(managedObjectModel: model)
    let text = errorText { try coordinator.addTestStore() }
    #expect(text.contains("Nowhere.One of the entity One; or OpenCoreDataTests.TestStore of the entity Two."))
  }

  @Test func aRemovedStoreIsGone() throws {
    let store = try coordinator.addTestStore()
    try coordinator.remove(store)
    #expect(coordinator.persistentStores.isEmpty)
    #expect(store.persistentStoreCoordinator == nil)
    #expect(errorCode { try coordinator.remove(store) } == NSPersistentStoreOperationError)
  }

  @Test func changesAreAnnounced() throws {
    var seen: [String] = []
    let names: [NSNotification.Name] = [
      .NSPersistentStoreCoordinatorWillRemoveStore, .NSPersistentStoreCoordinatorStoresDidChange,
    ]
    nonisolated(unsafe) let note: (Notification) -> Void = { notification in
      for (key, value) in notification.userInfo ?? [:] {
        seen.append("\(notification.name.rawValue) \(key) \((value as? [TestStore])?.count ?? 0)")
      }
    }
    let observers = names.map { name in
      NotificationCenter.default.addObserver(forName: name, object: coordinator, queue: nil) { unsafe note($0) }
    }
    defer { for observer in observers { NotificationCenter.default.removeObserver(observer) } }
    try coordinator.remove(try coordinator.addTestStore())
    #expect(
      seen == [
        "NSPersistentStoreCoordinatorStoresDidChangeNotification added 1",
        "NSPersistentStoreCoordinatorWillRemoveStoreNotification removed 1",
        "NSPersistentStoreCoordinatorStoresDidChangeNotification removed 1",
      ])
  }

  @Test func metadataAreReadAndWrittenWithoutOpening() throws {
    let url = URL(fileURLWithPath: "/nowhere")
    try NSPersistentStoreCoordinator.setMetadata(["note": "hello"], type: testType, at: url)
    let metadata = try NSPersistentStoreCoordinator.metadataForPersistentStore(type: testType, at: url)
    #expect(metadata["note"] as? String == "hello")
    #expect(
      errorCode { _ = try NSPersistentStoreCoordinator.metadataForPersistentStore(type: .inMemory, at: url) }
        == NSPersistentStoreOperationError)
  }

  @Test func metadataThatAreSetKeepTypeAndIdentifier() throws {
    let store = try coordinator.addTestStore()
    let uuid = store.identifier
    coordinator.setMetadata(["note": "hello", NSStoreUUIDKey: "other"], for: store)
    #expect(coordinator.metadata(for: store)["note"] as? String == "hello")
    #expect(store.identifier == uuid)
    #expect(store.type == "Test")
  }

  @Test func destroyingRemovesStoreAndFile() throws {
    let url = FileManager.default.temporaryDirectory.appendingPathComponent(UUID().uuidString)
    try Data([1]).write(to: url)
    try coordinator.addTestStore(at: url.path)
    try coordinator.destroyPersistentStore(at: url, type: testType)
    #expect(coordinator.persistentStores.isEmpty)
    #expect(!FileManager.default.fileExists(atPath: url.path))
    try coordinator.destroyPersistentStore(at: url, type: testType)
  }

  @Test func anUsedModelCannotBeChangedAndMayBeUsedAgain() throws {
    let second = NSPersistentStoreCoordinator(managedObjectModel: zoo.model)
    try second.addTestStore()
    #expect(second.managedObjectModel === zoo.model)
  }
}
