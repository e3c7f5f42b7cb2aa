import IncrementalStore
import OpenCoreData
import Synchronization

/// A store in memory that several coordinators can open by its URL.
final class TestRowStore: RowIncrementalStore {
  private static let stores = Mutex<[URL: MemoryRowStore]>([:])

  override class var storeType: String { "TestRowStore" }

  override class func rowStore(at url: URL, options: [AnyHashable: Any]?) throws -> any RowStore {
    stores.withLock { stores in
      let store = stores[url] ?? MemoryRowStore()
      stores[url] = store
      return store
    }
  }

  static func forget(_ url: URL) { stores.withLock { $0[url] = nil } }
}
