public import Foundation

extension NSPersistentStoreCoordinator {
  /// Makes a store of a registered class and adds it.
  ///
  /// - Parameters:
  ///   - type: The type under which the class is registered.
  ///   - configuration: The configuration of the model whose entities the store keeps; nil for all.
  ///   - storeURL: The location of the store, which may not exist yet. A coordinator has at most one store at each
  ///     location.
  ///   - options: The options for the store.
  ///   - fileID: The file of the caller, in whose module the classes of entities are looked for, too; see
  ///     ``NSManagedObjectModel/init(fileID:)``.
  /// - Throws: ``NSPersistentStoreInvalidTypeError`` if no class is registered; ``NSCoreDataError`` if the program
  ///   lacks classes of entities, or if transformers of attributes are not registered; ``NSPersistentStoreIncompatibleVersionHashError`` if the store was written with
  ///   another model and has not migrated itself; ``NSInferredMappingModelError`` if a migration cannot be inferred; any
  ///   error of the store when it is opened. The coordinator is then unchanged.
  @discardableResult
  public func addPersistentStore(
    type: NSPersistentStore.StoreType, configuration: String? = nil, at storeURL: URL,
    options: [AnyHashable: Any]? = nil, fileID: String = #fileID
  ) throws -> NSPersistentStore {
    try addPersistentStore(
      ofType: type.rawValue, configurationName: configuration, at: storeURL, options: options, fileID: fileID)
  }

  /// As ``addPersistentStore(type:configuration:at:options:fileID:)``. A store without a location gets the URL `/dev/null`,
  /// which any number of stores may have.
  @discardableResult
  public func addPersistentStore(
    ofType storeType: String, configurationName configuration: String?, at storeURL: URL?,
    options: [AnyHashable: Any]? = nil, fileID: String = #fileID
  ) throws -> NSPersistentStore {
    managedObjectModel.note(callerIn: fileID)
    managedObjectModel.logWarnings()
    try checkVacant(storeURL)
    try migrate(MigratedPlace(storeURL ?? nowhere, storeType, options), configuration)
    let store = try changingStores {
      try checkVacant(storeURL)
      let entities = try entities(ofConfiguration: configuration)
      let storeClass = try StoreRegistry.storeClass(for: storeType)
      let store = storeClass.init(
        persistentStoreCoordinator: self, configurationName: configuration, at: storeURL ?? nowhere, options: options)
      try store.loadMetadata()
      try prepare(store, ofType: storeType, entities)
      stores.append(store)
      store.didAdd(to: self)
      RemoteChanges.observe(store, of: self)
      return store
    }
    announceChange([NSAddedPersistentStoresKey: [store]])
    return store
  }

  /// Adds the described store, and calls the block with the description and the error, if there was one: before this
  /// method returns, or later on another thread if the description asks for that.
  public func addPersistentStore(
    with storeDescription: NSPersistentStoreDescription, fileID: String = #fileID,
    completionHandler block: @escaping (NSPersistentStoreDescription, (any Error)?) -> Void
  ) {
    let description = copied(storeDescription)
    managedObjectModel.note(callerIn: description.fileID)
    let add = {
      do {
        try self.addPersistentStore(
          ofType: description.type, configurationName: description.configuration, at: description.url,
          options: description.options, fileID: fileID)
        block(description, nil)
      } catch {
        block(description, error)
      }
    }
    guard description.shouldAddStoreAsynchronously else { return add() }
    nonisolated(unsafe) let addLater = add
    DispatchQueue.global().async { unsafe addLater() }
  }

  /// Removes a store. Its objects can no longer be fetched or saved.
  ///
  /// - Throws: ``NSPersistentStoreOperationError`` if the coordinator does not have the store.
  public func remove(_ store: NSPersistentStore) throws {
    _ = try own(store)
    NotificationCenter.default.post(
      name: .NSPersistentStoreCoordinatorWillRemoveStore, object: self,
      userInfo: [NSRemovedPersistentStoresKey: [store]])
    try changingStores {
      let store = try own(store)
      RemoteChanges.end(store)
      store.willRemove(from: self)
      stores.removeAll { $0 === store }
      store.persistentStoreCoordinator = nil
    }
    announceChange([NSRemovedPersistentStoresKey: [store]])
  }

  /// Returns a store of the coordinator as an ``NSIncrementalStore``.
  ///
  /// - Throws: ``NSPersistentStoreOperationError`` if the coordinator does not have the store.
  func own(_ store: NSPersistentStore) throws -> NSIncrementalStore {
    if let own = stores.first(where: { $0 === store }) { return own }
    throw CoreDataError.make(
      NSPersistentStoreOperationError,
      "The coordinator does not have the store at \(store.url?.absoluteString ?? "?").",
      [NSAffectedStoresErrorKey: [store]])
  }

  /// Posts the notification about stores that were added or removed. Must not be called under the store lock.
  func announceChange(_ userInfo: [AnyHashable: Any]) {
    NotificationCenter.default.post(
      name: .NSPersistentStoreCoordinatorStoresDidChange, object: self, userInfo: userInfo)
  }

  // MARK: Checks

  /// Throws if the coordinator has a store at a location.
  func checkVacant(_ url: URL?) throws {
    guard let url, url != nowhere, persistentStore(for: url) != nil else { return }
    throw CoreDataError.make(
      NSPersistentStoreOpenError, "The coordinator already has a store at \(url.absoluteString).")
  }

  /// The entities of a configuration. Throws if the model lacks the configuration, or the program lacks the class of an
  /// entity or the transformer of an attribute.
  func entities(ofConfiguration name: String?) throws -> [NSEntityDescription] {
    guard let entities = managedObjectModel.entities(forConfigurationName: name) else {
      throw CoreDataError.make(
        NSPersistentStoreIncompatibleSchemaError, "The model has no configuration named \(name ?? "").")
    }
    let unfollowable = managedObjectModel.unfollowableDerivations
    guard unfollowable.isEmpty else {
      throw CoreDataError.make(
        NSPersistentStoreIncompatibleSchemaError, unfollowable.sorted().joined(separator: "; ") + ".")
    }
    let missing = entities.filter { $0.managedObjectClass == nil }.map(ManagedObjectClass.complaint)
    guard missing.isEmpty else {
      throw CoreDataError.make(
        NSCoreDataError,
        "The program has no class of managed objects named \(missing.sorted().joined(separator: "; or ")). "
          + "Set managedObjectClassName to NSStringFromClass of the class, which includes the module.")
    }
    let unregistered = entities.flatMap(\.unregisteredTransformers)
    guard unregistered.isEmpty else {
      throw CoreDataError.make(
        NSCoreDataError,
        "No value transformer is registered under the name \(Set(unregistered).sorted().joined(separator: "; or ")). "
          + "ValueTransformer.setValueTransformer(_:forName:) registers one.")
    }
    return entities
  }

  /// Checks the metadata that a store has loaded; afterwards its rows may be read.
  func prepare(_ store: NSIncrementalStore, ofType type: String, _ entities: [NSEntityDescription]) throws {
    let metadata = store.metadata ?? [:]
    let found = metadata[NSStoreTypeKey] as? String
    guard found == type else {
      throw CoreDataError.make(
        NSPersistentStoreTypeMismatchError,
        "A store of the type \(type) was asked for; the metadata that \(Swift.type(of: store)) has loaded say "
          + "\(found ?? "none").")
    }
    guard let uuid = metadata[NSStoreUUIDKey] as? String, !uuid.isEmpty else {
      throw CoreDataError.make(
        NSPersistentStoreOpenError, "The metadata that \(Swift.type(of: store)) has loaded have no \(NSStoreUUIDKey).")
    }
    guard !stores.contains(where: { $0.identity?.uuid == uuid }) else {
      throw CoreDataError.make(
        NSPersistentStoreOpenError, "The coordinator already has a store with the identifier \(uuid).")
    }
    try IncompleteCopy.check(store)
    try checkVersions(of: store, entities)
    store.fix(uuid, entities: entities)
    try (store as? NSAtomicStore)?.fill()
  }

  /// Gives a new store the version hashes of the model. A store that has version hashes must have been written with the
  /// model, unless its options allow any model.
  private func checkVersions(of store: NSIncrementalStore, _ entities: [NSEntityDescription]) throws {
    let metadata = store.metadata ?? [:]
    guard metadata[NSStoreModelVersionHashesKey] != nil else {
      let hashes = managedObjectModel.entityVersionHashesByName
      let names = entities.compactMap(\.name)
      store.metadata = metadata.merging([
        NSStoreModelVersionHashesKey: hashes.filter { names.contains($0.key) },
        NSStoreModelVersionIdentifiersKey: Array(managedObjectModel.versionIdentifiers),
        NSPersistentStoreModelVersionChecksumKey: managedObjectModel.versionChecksum,
      ]) { given, _ in given }
      return
    }
    let isIgnored = (store.options?[NSIgnorePersistentStoreVersioningOption] as? NSNumber)?.boolValue == true
    guard
      isIgnored
        || managedObjectModel.isConfiguration(
          withName: store.configurationName, compatibleWithStoreMetadata: metadata)
    else {
      throw CoreDataError.make(
        NSPersistentStoreIncompatibleVersionHashError,
        """
        The store at \(store.url?.absoluteString ?? "?") was written with another model; \(difference(metadata, entities)). \
        A store on Cairn is migrated if \(NSMigratePersistentStoresAutomaticallyOption) and \
        \(NSInferMappingModelAutomaticallyOption) are set and it is not read-only (CORE-DATA.md, "Another model").
        """,
        ["metadata": metadata])
    }
  }

  /// The names of the entities in which the store and the model differ, as part of a message.
  private func difference(_ metadata: [String: Any], _ entities: [NSEntityDescription]) -> String {
    let stored = metadata[NSStoreModelVersionHashesKey] as? [String: Data] ?? [:]
    let own = managedObjectModel.entitiesByName
    let names = Set(stored.keys).union(entities.compactMap(\.name))
      .filter { own[$0]?.hasVersionHash(stored[$0]) != true }
    return "the entities that differ are \(names.sorted().joined(separator: ", "))"
  }
}

/// The URL of stores without a location.
let nowhere = URL(fileURLWithPath: "/dev/null")
