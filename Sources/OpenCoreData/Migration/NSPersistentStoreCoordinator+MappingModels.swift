import Foundation

extension NSPersistentStoreCoordinator {
  /// Migrates a store that is about to be added, if it was written with another model, its options allow a migration,
  /// and there are stages or a mapping model for it.
  func migrate(_ place: MigratedPlace, _ configuration: String?) throws {
    guard place.url.isFileURL, place.url != nowhere, !place.isOn(NSReadOnlyPersistentStoreOption) else { return }
    try MigrationTurns.shared.withTurn(at: place.url) { try migrateInTurn(place, configuration) }
  }

  private func migrateInTurn(_ place: MigratedPlace, _ configuration: String?) throws {
    let storeClass = try StoreRegistry.storeClass(for: place.type)
    let replacement = MigratedReplacement(place.url, storeClass)
    try replacement.restore()
    guard place.mayMigrate else { return }
    replacement.clear()
    let manager = place.options[NSPersistentStoreStagedMigrationManagerOptionKey] as? NSStagedMigrationManager
    let folders = managedObjectModel.folders.union([Bundle.main.resourceURL].compactMap(\.self))
    guard manager != nil || folders.contains(where: NSMappingModel.hasFiles) else { return }
    // Whatever else is wrong with the store is found when it is added.
    guard let metadata = try? storeClass.metadataForPersistentStore(with: place.url),
      metadata[NSStoreModelVersionHashesKey] != nil,
      !managedObjectModel.isConfiguration(withName: configuration, compatibleWithStoreMetadata: metadata)
        || manager != nil && metadata[NSStagedMigrationManager.pendingKey] != nil
    else { return }
    if let manager { return try manager.migrate(place, configuration, to: managedObjectModel, metadata) }
    guard let sourceModel = NSManagedObjectModel.version(in: folders, forStoreMetadata: metadata),
      let mappings = NSMappingModel(in: folders, sourceModel, managedObjectModel)
    else { return }
    try migrate(place, metadata[NSStoreUUIDKey] as? String, configuration, from: sourceModel, by: mappings)
  }

  /// Migrates a store to the coordinator's model in its place.
  private func migrate(
    _ place: MigratedPlace, _ identifier: String?, _ configuration: String?, from sourceModel: NSManagedObjectModel,
    by mappings: NSMappingModel
  ) throws {
    let storeClass = try StoreRegistry.storeClass(for: place.type)
    let replacement = MigratedReplacement(place.url, storeClass)
    let manager = try storeClass.makeMigrationManager(from: sourceModel, to: managedObjectModel)
    manager.configuration = configuration
    try manager.migrateStore(
      from: place.url, sourceType: place.type, options: place.options, with: mappings,
      toDestinationURL: replacement.copy, destinationType: place.type, destinationOptions: place.options)
    do {
      try replacement.replace(identifier, unchangedSince: manager.sourceRevision)
    } catch {
      replacement.discard()
      throw error
    }
  }
}

extension NSPersistentStore {
  /// Makes a manager of the class that ``migrationManagerClass()`` returns.
  static func makeMigrationManager(
    from sourceModel: NSManagedObjectModel, to destinationModel: NSManagedObjectModel
  ) throws -> NSMigrationManager {
    let managerClass: AnyClass = migrationManagerClass()
    if managerClass == NSMigrationManager.self {
      return NSMigrationManager(sourceModel: sourceModel, destinationModel: destinationModel)
    }
    guard let managerClass = managerClass as? any AutomaticMigrationManager.Type else {
      throw CoreDataError.make(
        NSMigrationError,
        "\(self).migrationManagerClass() is no subclass of NSMigrationManager that adopts AutomaticMigrationManager.")
    }
    return managerClass.init(sourceModel: sourceModel, destinationModel: destinationModel)
  }
}

extension MigratedPlace {
  /// Whether the options allow a migration when the store is added.
  fileprivate var mayMigrate: Bool {
    (isOn(NSMigratePersistentStoresAutomaticallyOption)
      || options[NSPersistentStoreStagedMigrationManagerOptionKey] != nil)
      && !isOn(NSIgnorePersistentStoreVersioningOption)
  }

  fileprivate func isOn(_ option: String) -> Bool { (options[option] as? NSNumber)?.boolValue == true }
}
