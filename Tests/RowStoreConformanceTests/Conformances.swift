import CairnIncrementalStore
import Foundation
import IncrementalStore
import RowStoreConformance

/// The checks of a store in memory, which only one object can have open.
func memory(_ kind: RowReferenceKind) -> RowStoreConformance {
  RowStoreConformance(isPersistent: false, allowsSeveralStores: false) {
    let store = MemoryRowStore(referenceKind: kind)
    return RowStoreConformance.Database { store }
  }
}

/// The checks of the store on Cairn.
let onCairn = RowStoreConformance {
  let url = URL.temporaryDirectory.appending(path: UUID().uuidString)
  return RowStoreConformance.Database {
    try openCairn(at: url)
  } remove: {
    try FileManager.default.removeItem(at: url)
  }
}

/// Saves are not durable, so that they take less time.
func openCairn(at url: URL) throws -> any RowStore {
  try CairnIncrementalStore.rowStore(at: url, options: [CairnDurabilityOption: "buffered"])
}
