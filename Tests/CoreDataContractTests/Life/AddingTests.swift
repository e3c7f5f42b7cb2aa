import CoreData
import Testing

@Suite("Adding a store", .anyStore)
struct AddingTests {
  private let coordinator = NSPersistentStoreCoordinator(managedObjectModel: Town.model())
  private let backing = Backing.town()

  @Test("A store is made with the coordinator, configuration, URL and options it is added with.")
  func whatItIsMadeWith() throws {
    let store = try coordinator.add(RecordingStore.self, backing, options: ["colour": "blue"])
    #expect(store.persistentStoreCoordinator === coordinator)
    #expect(store.configurationName == "PF_DEFAULT_CONFIGURATION_NAME")
    #expect(store.url == backing.url)
    #expect(store.options?["colour"] as? String == "blue")
  }

  @Test("A coordinator has an added store, and finds it by its URL.")
  func coordinatorKnowsIt() throws {
    let store = try coordinator.add(RecordingStore.self, backing)
    #expect(coordinator.persistentStores == [store])
    #expect(coordinator.persistentStore(for: store.url!) === store)
    #expect(coordinator.url(for: store) == store.url)
  }

  @Test("Adding a store loads its metadata exactly once.")
  func metadataOnce() throws {
    let store = try coordinator.add(RecordingStore.self, backing)
    #expect(store.calls == [.loadMetadata])
  }

  @Test("An added store's metadata have its type and identifier.")
  func typeAndIdentifier() throws {
    let store = try coordinator.add(RecordingStore.self, backing)
    #expect(store.metadata[NSStoreTypeKey] as? String == RecordingStore.storeType)
    #expect(store.metadata[NSStoreUUIDKey] as? String == backing.identifier)
    #expect(store.identifier == backing.identifier)
    #expect(coordinator.metadata(for: store)[NSStoreUUIDKey] as? String == backing.identifier)
  }

  @Test("A store whose metadata name another type is refused.")
  func anotherType() throws {
    let error = thrown { try coordinator.add(MistypedStore.self, backing) }
    #expect(error?.domain == NSCocoaErrorDomain && error?.code == 134010)
    #expect(coordinator.persistentStores.isEmpty)
  }

  @Test("A store that cannot load its metadata is not added, and its error is thrown.")
  func failure() throws {
    backing.failing = [.loadMetadata]
    #expect(throws: Refusal(method: .loadMetadata)) { try coordinator.add(RecordingStore.self, backing) }
    #expect(coordinator.persistentStores.isEmpty)
  }
}

/// Says that it has another type than the one for which it is registered.
private final class MistypedStore: RecordingStore {
  override func loadMetadata() throws {
    try super.loadMetadata()
    metadata[NSStoreTypeKey] = "AnotherStore"
  }
}
