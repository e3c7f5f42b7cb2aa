import OpenCoreData
import Synchronization
import Testing

@Suite("Failed migrations")
struct FailedMigrationTests {
  private let coordinator = NSPersistentStoreCoordinator(managedObjectModel: Zoo().model)

  /// A store that lists the locations of destroyed stores.
  private final class RemoteStore: TestStore {
    static let destroyed = Mutex<[URL]>([])

    override class func destroyPersistentStore(at url: URL, options: [AnyHashable: Any]?) throws {
      destroyed.withLock { $0.append(url) }
    }
  }

  /// Tries to migrate a store to a location whose store cannot be opened.
  private func migrate(to url: URL) throws {
    let type = NSPersistentStore.StoreType(rawValue: "Remote")
    NSPersistentStoreCoordinator.registerStoreClass(RemoteStore.self, type: type)
    let store = try coordinator.addTestStore()
    let error = NSError(domain: NSCocoaErrorDomain, code: 77)
    try coordinator.migratePersistentStore(store, to: url, options: ["error": error], type: type)
  }

  @Test("A failed migration destroys nothing at a location that only the store class can examine.")
  func remote() throws {
    let url = try #require(URL(string: "remote://town/\(UUID())"))
    #expect(errorCode { try migrate(to: url) } == 77)
    #expect(!RemoteStore.destroyed.withLock { $0 }.contains(url))
    #expect(coordinator.persistentStores.count == 1)
  }

  @Test("A failed migration destroys the new store at a location where nothing was.")
  func file() throws {
    let url = URL(fileURLWithPath: "/nowhere/\(UUID())")
    #expect(errorCode { try migrate(to: url) } == 77)
    #expect(RemoteStore.destroyed.withLock { $0 }.contains(url))
  }

  @Test("A migration does not begin if the location has something other than an empty file or folder.")
  func device() throws {
    let url = URL(fileURLWithPath: "/dev/zero")
    #expect(errorCode { try migrate(to: url) } == NSPersistentStoreOpenError)
    #expect(!RemoteStore.destroyed.withLock { $0 }.contains(url))
  }
}
