import CoreData

/// Opens the store in a directory, and creates the directory if it is missing.
func openContext(in directory: URL) throws -> NSManagedObjectContext {
  try FileManager.default.createDirectory(at: directory, withIntermediateDirectories: true)
  CustomIncrementalStore.register()
  let coordinator = NSPersistentStoreCoordinator(managedObjectModel: model())
  _ = try coordinator.addPersistentStore(
    type: NSPersistentStore.StoreType(rawValue: CustomIncrementalStore.type),
    at: directory.appending(path: "articles.plist"))
  let context = NSManagedObjectContext(.mainQueue)
  context.persistentStoreCoordinator = coordinator
  return context
}

/// The model in the resources: compiled by Xcode on Apple's platforms, uncompiled elsewhere.
private func model() -> NSManagedObjectModel {
  #if canImport(Darwin)
    let file = Bundle.module.url(forResource: "Articles", withExtension: "momd")
  #else
    let file = Bundle.module.url(forResource: "Articles", withExtension: "xcdatamodeld")
  #endif
  guard let file, let model = NSManagedObjectModel(contentsOf: file) else { fatalError("There is no model.") }
  return model
}
