import Cairn
import CoreData
package import Foundation
import IncrementalStore

extension CairnIncrementalStore: LockableStore {
  package var revision: UInt64? {
    (rowStore as? CairnRowStore).map { store in
      let snapshot = store.engine.store.snapshot()
      defer { snapshot.close() }
      return snapshot.sequence.rawValue
    }
  }

  package static func whileUnused(at url: URL, since revision: UInt64?, _ body: () throws -> Void) throws {
    try CairnFiles.whileUnused(url, mayBeDamaged: false) { sequence in
      guard revision == nil || sequence == revision else {
        throw StoreFailure.make(
          NSPersistentStoreOperationError, "The store at \(url.path) has been changed while it was migrated.")
      }
      try body()
    }
  }
}
