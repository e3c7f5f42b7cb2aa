import IncrementalStore
import OpenCoreData
import Synchronization

#if PostgreSQL
  import Foundation
  import PostgreSQLIncrementalStore
  import Testing
#endif

/// A store that several coordinators can open by its URL: in memory or, if there is a server for it, in PostgreSQL.
final class TestRowStore: RowIncrementalStore {
  private static let stores = Mutex<[URL: MemoryRowStore]>([:])

  override class var storeType: String { "TestRowStore" }

  override class func rowStore(at url: URL, options: [AnyHashable: Any]?) throws -> any RowStore {
    #if PostgreSQL
      if let database = database(url) { return try PostgreSQLIncrementalStore.rowStore(at: database, options: options) }
    #endif
    return stores.withLock { stores in
      let store = stores[url] ?? MemoryRowStore()
      stores[url] = store
      return OwnerCheckingStore(store)
    }
  }

  static func forget(_ url: URL) {
    #if PostgreSQL
      if let database = database(url) {
        // There may be no store any more, or never have been one.
        try? PostgreSQLIncrementalStore.verify(at: database) { Issue.record("The columns of \(url): \($0)") }
        try? PostgreSQLIncrementalStore.destroyPersistentStore(at: database, options: nil)
      }
    #endif
    stores.withLock { $0[url] = nil }
  }

  #if PostgreSQL
    private static func database(_ url: URL) -> URL? {
      guard let address = ProcessInfo.processInfo.environment["CAIRN_POSTGRESQL"] else { return nil }
      let name = "\(url.lastPathComponent.suffix(24)) \(UInt(bitPattern: url.absoluteString.hashValue))"
      return NSPersistentStoreDescription.postgreSQL(address, namespace: name)?.url
    }
  #endif
}

extension TestRowStore: ConcurrentStore {}
