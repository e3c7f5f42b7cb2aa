import CoreData
package import Foundation
import IncrementalStore

extension CairnIncrementalStore: LockableStore {
  package var revision: UInt64? { (rowStore as? CairnRowStore).map { CairnFiles.revision(of: $0.engine.store) } }

  package static func isInUse(at url: URL) -> Bool { CairnFiles.isInUse(url) }

  package static func whileUnused(at url: URL, since revision: UInt64, _ body: () throws -> Void) throws {
    try CairnFiles.whileUnused(url, mayBeDamaged: false) { found in
      guard found == revision else {
        throw StoreFailure.make(
          NSPersistentStoreOperationError, "The store at \(url.path) has been changed while it was migrated.")
      }
      try body()
    }
  }
}
