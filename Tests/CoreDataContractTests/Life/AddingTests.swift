import CoreData
import Testing

@Suite("Adding a store", .anyStore)
struct AddingTests {
  private let coordinator = NSPersistentStoreCoordinator(managedObjectModel: Town.model())
  private let backing = Backing.town()

  @Test("the store is made with the coordinator, the configuration, the URL and the options it is added with")
  func whatItIsMadeWith() throws {
    let store = try coordinator.add(RecordingStore.self, backing, options: ["colour": "blue"])
    #expect(store.persistentStoreCoordinator === coordinator)
    #expect(store.configurationName == "PF_DEFAULT_CONFIGURATION_NAME")
    #expect(store.url == backing.url)
    #expect(store.options?["colour"] as? String == "blue")
  }

  @Test("the coordinator has it, and finds it by its URL")
  func coordinatorKnowsIt() throws {
    let store = try coordinator.add(RecordingStore.self, backing)
    #expect(coordinator.persistentStores == [store])
    #expect(coordinator.persistentStore(for: store.url!) === store)
    #expect(coordinator.url(for: store) == store.url)
  }

  @Test("the metadata are loaded exactly once")
  func metadataOnce() throws {
    let store = try coordinator.add(RecordingStore.self, backing)
    #expect(store.calls == [.loadMetadata])
  }

  @Test("the metadata have the type and the identifier, which is that of the store")
  func typeAndIdentifier() throws {
    let store = try coordinator.add(RecordingStore.self, backing)
    #expect(store.metadata[NSStoreTypeKey] as? String == RecordingStore.storeType)
    #expect(store.metadata[NSStoreUUIDKey] as? String == backing.identifier)
    #expect(store.identifier == backing.identifier)
    #expect(coordinator.metadata(for: store)[NSStoreUUIDKey] as? String == backing.identifier)
  }

  @Test("a store that says it is of another type is refused")
  func anotherType() throws {
    let error = thrown { try coordinator.add(MistypedStore.self, backing) }
    #expect(error?.domain == NSCocoaErrorDomain && error?.code == 134010)
    #expect(coordinator.persistentStores.isEmpty)
  }

  @Test("a store that cannot load its metadata is not added, and its error comes out")
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
