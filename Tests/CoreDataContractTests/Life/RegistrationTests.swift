import CoreData
import Testing

@Suite("Registering a class of stores", .anyStore)
struct RegistrationTests {
  private final class OneStore: RecordingStore {}
  private final class OtherStore: RecordingStore {}

  private let coordinator = NSPersistentStoreCoordinator(managedObjectModel: Town.model())
  private let backing = Backing.town()

  @Test("A store is made from the class that is registered for its type.")
  func classOfTheType() throws {
    let store: NSPersistentStore = try coordinator.add(OneStore.self, .town())
    #expect(store is OneStore)
    #expect(store.type == OneStore.storeType)
  }

  @Test("The older method with a string for the type registers the class, too.")
  func olderSpelling() throws {
    NSPersistentStoreCoordinator.registerStoreClass(OtherStore.self, forStoreType: OtherStore.storeType)
    let store = try coordinator.addPersistentStore(
      ofType: OtherStore.storeType, configurationName: nil, at: backing.url, options: [Backing.option: backing])
    #expect(store is OtherStore)
  }

  @Test("A type whose registration was removed is unknown.")
  func takingBack() throws {
    let type = NSPersistentStore.StoreType(rawValue: "TakenBack")
    NSPersistentStoreCoordinator.registerStoreClass(OneStore.self, type: type)
    NSPersistentStoreCoordinator.registerStoreClass(nil, type: type)
    let error = thrown {
      try coordinator.addPersistentStore(type: type, at: backing.url, options: [Backing.option: backing])
    }
    #expect(error?.domain == NSCocoaErrorDomain && error?.code == 134000)
    #expect(coordinator.persistentStores.isEmpty)
  }
}
