import CairnIncrementalStore
import Foundation
import OpenCoreData

/// Opens a store with a model, to which it migrates, and returns 0.
func migrate(_ path: String, _ model: String) throws -> Int32 {
  CairnIncrementalStore.register()
  let coordinator = NSPersistentStoreCoordinator(
    managedObjectModel: try NSManagedObjectModel(modelFileAt: URL(fileURLWithPath: model)))
  let store = try coordinator.addPersistentStore(
    type: .cairn, at: URL(fileURLWithPath: path),
    options: [
      NSMigratePersistentStoresAutomaticallyOption: true, NSInferMappingModelAutomaticallyOption: true,
      BuildsIndexesFirstOption: true,
    ])
  try coordinator.remove(store)
  return 0
}
