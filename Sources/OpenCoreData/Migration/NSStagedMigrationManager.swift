public import Foundation

/// Migrates a store in stages, from whichever version it has to that of the coordinator to which it is added.
///
/// It is the value of the option ``NSPersistentStoreStagedMigrationManagerOptionKey``. A store of a version that a
/// lightweight stage names goes on with the stages after it; one that a custom stage begins with goes on with that
/// stage. Before a custom stage, and at the end, the store migrates to the version that is needed without anything said
/// about it, however many versions lie between.
///
/// Used by one thread at a time. The handlers of the stages are called on the thread that adds the store.
open class NSStagedMigrationManager: NSObject {
  /// The stages, in the order of the versions.
  public let stages: [NSMigrationStage]

  /// A container with the store, during a handler of a custom stage; nil otherwise. All objects are of the class
  /// ``NSManagedObject``, because the classes of the program may not be those of former versions.
  open private(set) var container: NSPersistentContainer?

  /// A manager for these stages.
  public init(_ stages: [NSMigrationStage]) { self.stages = stages }

  /// Migrates a store.
  ///
  /// - Throws: ``NSManagedObjectModelReferenceNotFoundError`` if no stage names the version of the store;
  ///   ``NSStagedMigrationBackwardMigrationError`` if a stage before that names the model; what the handlers throw; any
  ///   error of a migration. The store then has the version that the last stage or step has given it.
  func migrate(
    _ place: MigratedPlace, _ configuration: String?, to model: NSManagedObjectModel, _ metadata: [String: Any]
  ) throws {
    let first = try firstStage(metadata)
    let last = position(of: model.versionChecksum)
    guard last.map({ $0 >= first.place }) ?? true else {
      throw CoreDataError.make(
        NSStagedMigrationBackwardMigrationError,
        "The store at \(place.url.absoluteString) has a later version than the model, as the stages say.")
    }
    if let pending = first.pending { try finish(pending, place, configuration) }
    for (index, stage) in stages.enumerated() where index >= first.index && index <= last ?? index {
      guard let stage = stage as? NSCustomMigrationStage else { continue }
      try run(stage, place, configuration)
    }
    try open(place, configuration, model.withPlainClasses()) { _ in }
  }

  // MARK: Stages

  /// The stage that names the version of a store, the first that the store still has to go through, and a stage before
  /// that whose last handler has to be called again.
  private func firstStage(
    _ metadata: [String: Any]
  ) throws -> (place: Int, index: Int, pending: NSCustomMigrationStage?) {
    let hashes = metadata[NSStoreModelVersionHashesKey] as? [String: Data] ?? [:]
    let checksum = VersionHash.current.model(hashes).base64EncodedString()
    let pending = metadata[Self.pendingKey] as? String
    for (index, stage) in stages.enumerated().reversed() {
      switch stage {
      case let stage as NSCustomMigrationStage where stage.currentModel.versionChecksum == checksum:
        return (index, index, self.pending(before: index, checksum, pending))
      case let stage as NSCustomMigrationStage where stage.nextModel.versionChecksum == checksum:
        return (index, index + 1, pending == checksum ? stage : nil)
      case let stage as NSLightweightMigrationStage where stage.versionChecksums.contains(checksum):
        return (index, index + 1, self.pending(before: index, checksum, pending))
      default: continue
      }
    }
    throw CoreDataError.make(
      NSManagedObjectModelReferenceNotFoundError,
      "No stage of the migration names the version of the store, whose checksum is \(checksum).")
  }

  private func pending(before index: Int, _ checksum: String, _ pending: String?) -> NSCustomMigrationStage? {
    guard pending == checksum else { return nil }
    return stages.prefix(index).compactMap { $0 as? NSCustomMigrationStage }
      .last { $0.nextModel.versionChecksum == checksum }
  }

  /// The last stage that leads to a version; nil if none does.
  private func position(of checksum: String) -> Int? {
    stages.lastIndex { stage in
      switch stage {
      case let stage as NSCustomMigrationStage: stage.nextModel.versionChecksum == checksum
      case let stage as NSLightweightMigrationStage: stage.versionChecksums.contains(checksum)
      default: false
      }
    }
  }

  private func run(_ stage: NSCustomMigrationStage, _ place: MigratedPlace, _ configuration: String?) throws {
    try open(place, configuration, stage.currentModel.resolvedModel.withPlainClasses()) { store in
      guard store.metadata[Self.pendingKey] as? String != stage.nextModel.versionChecksum else { return }
      try stage.willMigrateHandler?(self, stage)
      // Written before the store migrates, so that a process that ends before the other handler has returned does not
      // make the next one pass over it.
      try note(pending: stage, in: store)
    }
    try finish(stage, place, configuration)
  }

  private func finish(_ stage: NSCustomMigrationStage, _ place: MigratedPlace, _ configuration: String?) throws {
    try open(place, configuration, stage.nextModel.resolvedModel.withPlainClasses()) { store in
      try stage.didMigrateHandler?(self, stage)
      try note(pending: nil, in: store)
    }
  }

  /// The key, in a store's metadata, of the checksum of the version to which a custom stage migrates the store, until the
  /// stage is done.
  static let pendingKey = "NSStagedMigrationPendingVersion"

  private func note(pending stage: NSCustomMigrationStage?, in store: NSPersistentStore) throws {
    guard let context = container?.newBackgroundContext() else { return }
    store.metadata[Self.pendingKey] = stage?.nextModel.versionChecksum
    try context.performAndWait { try context.save() }
  }

  /// Opens the store with a version, to which it migrates if necessary, in a container.
  private func open(
    _ place: MigratedPlace, _ configuration: String?, _ model: NSManagedObjectModel,
    _ body: (NSPersistentStore) throws -> Void
  ) throws {
    let container = NSPersistentContainer(name: place.url.lastPathComponent, managedObjectModel: model)
    var options = place.ownOptions
    options[NSMigratePersistentStoresAutomaticallyOption] = true
    options[NSInferMappingModelAutomaticallyOption] = true
    let coordinator = container.persistentStoreCoordinator
    let store = try coordinator.addPersistentStore(
      ofType: place.type, configurationName: model.hasConfiguration(configuration) ? configuration : nil, at: place.url,
      options: options, fileID: "")
    self.container = container
    defer {
      self.container = nil
      try? coordinator.remove(store)
    }
    try body(store)
  }
}
