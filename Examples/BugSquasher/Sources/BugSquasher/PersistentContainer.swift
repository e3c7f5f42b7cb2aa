import CoreData

/// The name of the model, and the first part of the type of the store.
let containerName = "BugSquasher"

/// Opens the store in a directory, and creates the directory if it is missing.
func persistentContainer(in directory: URL) throws -> NSPersistentContainer {
  try FileManager.default.createDirectory(at: directory, withIntermediateDirectories: true)
  let storeType = NSPersistentStore.StoreType(rawValue: BugSquasherIncrementalStore.storeType)
  NSPersistentStoreCoordinator.registerStoreClass(BugSquasherIncrementalStore.self, type: storeType)

  let container = NSPersistentContainer(name: containerName, managedObjectModel: model())
  let bugSquasherStoreDescription = NSPersistentStoreDescription(url: directory.appending(path: "bugs.txt"))
  bugSquasherStoreDescription.type = BugSquasherIncrementalStore.storeType
  container.persistentStoreDescriptions = [bugSquasherStoreDescription]

  var failure: (any Error)?
  container.loadPersistentStores { _, error in failure = error }
  if let failure { throw failure }
  return container
}

/// The model in the resources: compiled by Xcode on Apple's platforms, uncompiled elsewhere.
private func model() -> NSManagedObjectModel {
  #if canImport(Darwin)
    let file = Bundle.module.url(forResource: containerName, withExtension: "momd")
  #else
    let file = Bundle.module.url(forResource: containerName, withExtension: "xcdatamodeld")
  #endif
  guard let file, let model = NSManagedObjectModel(contentsOf: file) else { fatalError("There is no model.") }
  return model
}
