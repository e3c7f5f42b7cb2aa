public import Foundation

/// A class of migration managers that coordinators make themselves, because a class of stores returns it from
/// ``NSPersistentStore/migrationManagerClass()``.
public protocol AutomaticMigrationManager: NSMigrationManager {
  /// A manager for migrations from one model to another.
  init(sourceModel: NSManagedObjectModel, destinationModel: NSManagedObjectModel)
}

/// Migrates a store to another model: makes a new store with the objects that a mapping model makes of those of the old
/// store.
///
/// The manager reads the old store through a context of the source model, and writes the new one through a context of
/// the destination model, in three stages: all objects with their attributes, then all relationships, then validation.
/// In each stage it saves after each thousand objects or so, and turns objects into faults, so that memory holds only
/// the identifiers of all objects: about 400 bytes for each. A ``NSEntityMigrationPolicy`` for each mapping does the work.
///
/// The models that the contexts use are copies in which all objects are of the class ``NSManagedObject``. Nothing is
/// validated before the last stage.
///
/// Used by one thread at a time, except for ``migrationProgress`` and ``cancelMigrationWithError(_:)``, which any thread
/// may use.
open class NSMigrationManager: NSObject {
  /// The model of the old store, in which all objects are of the class ``NSManagedObject``.
  open private(set) var sourceModel: NSManagedObjectModel

  /// The model of the new store, in which all objects are of the class ``NSManagedObject``.
  open private(set) var destinationModel: NSManagedObjectModel

  /// Anything the application wants to note, for example for its policies.
  open var userInfo: [AnyHashable: Any]?

  /// Has no effect: stores that migrate themselves do so when they are added to a coordinator.
  open var usesStoreSpecificMigrationManager = true

  /// The models as they were given, by which classes of policies are looked up.
  let givenModels: [NSManagedObjectModel]
  /// The configuration of the stores; nil for all entities.
  var configuration: String?
  private let state = Locked(MigrationState())
  private var run: MigrationRun?
  /// The number of the last save of the old store that the migration has read; nil if its class does not tell.
  private(set) var sourceRevision: UInt64?

  /// A manager for migrations from one model to another, which are not changed. The classes of policies are looked for
  /// in the modules that have made or loaded the models; see ``NSManagedObjectModel/init(fileID:)``.
  public init(sourceModel: NSManagedObjectModel, destinationModel: NSManagedObjectModel) {
    givenModels = [destinationModel, sourceModel]
    self.sourceModel = sourceModel.withPlainClasses()
    self.destinationModel = destinationModel.withPlainClasses()
  }

  // MARK: Migrating

  /// Migrates a store.
  ///
  /// The metadata that the application has set are copied. Objects get new identifiers, and the new store has another
  /// identifier than the old one.
  ///
  /// The old store is opened for reading only. If the thread has a current `Progress`, the migration is part of it, and
  /// ends when that is cancelled.
  ///
  /// - Parameters:
  ///   - sourceURL: The location of the old store.
  ///   - sourceType: The type of the old store.
  ///   - sourceOptions: The options for the old store.
  ///   - mapping: The mapping model.
  ///   - destinationURL: The location of the new store, at which there must be nothing but an empty file or folder.
  ///   - destinationType: The type of the new store.
  ///   - destinationOptions: The options for the new store.
  /// - Throws: ``NSMigrationError`` if the mapping model does not fit the models, a value does not fit its property,
  ///   objects are not valid, or the manager is migrating already; ``NSMigrationConstraintViolationError``;
  ///   ``NSEntityMigrationPolicyError`` if a policy throws; ``NSMigrationManagerSourceStoreError`` and
  ///   ``NSMigrationManagerDestinationStoreError`` if a store cannot be opened, read or written;
  ///   `NSFileWriteOutOfSpaceError` if less space is free than the old store takes; ``NSMigrationCancelledError`` or the
  ///   error given to ``cancelMigrationWithError(_:)``. The reason is in `NSUnderlyingErrorKey`. The incomplete new store
  ///   is removed if its URL is a file URL.
  open func migrateStore(
    from sourceURL: URL, type sourceType: NSPersistentStore.StoreType, options sourceOptions: [AnyHashable: Any]? = nil,
    mapping: NSMappingModel, to destinationURL: URL, type destinationType: NSPersistentStore.StoreType,
    options destinationOptions: [AnyHashable: Any]? = nil
  ) throws {
    guard run == nil else { throw CoreDataError.make(NSMigrationError, "The manager is migrating a store already.") }
    state.withLock { $0 = MigrationState() }
    let source = MigratedPlace(sourceURL, sourceType.rawValue, sourceOptions)
    let destination = MigratedPlace(destinationURL, destinationType.rawValue, destinationOptions)
    let run = try MigrationRun(self, mapping, source, destination)
    self.run = run
    sourceRevision = (run.source.store as? any LockableStore)?.revision
    defer { self.run = nil }
    try run.perform()
  }

  /// As ``migrateStore(from:type:options:mapping:to:type:options:)``.
  ///
  /// - Throws: ``NSMigrationMissingMappingModelError`` if there is no mapping model, and what that method throws.
  open func migrateStore(
    from sourceURL: URL, sourceType sStoreType: String, options sOptions: [AnyHashable: Any]? = nil,
    with mappings: NSMappingModel?, toDestinationURL dURL: URL, destinationType dStoreType: String,
    destinationOptions dOptions: [AnyHashable: Any]? = nil
  ) throws {
    guard let mappings else {
      throw CoreDataError.make(
        NSMigrationMissingMappingModelError, "A store is to be migrated without a mapping model.")
    }
    try migrateStore(
      from: sourceURL, type: NSPersistentStore.StoreType(rawValue: sStoreType), options: sOptions, mapping: mappings,
      to: dURL, type: NSPersistentStore.StoreType(rawValue: dStoreType), options: dOptions)
  }

  /// Ends the migration, which throws the error, before its next object.
  open func cancelMigrationWithError(_ error: any Error) {
    state.withLock { $0.error = error }
  }

  /// Forgets the objects that were associated, as ``migrateStore(from:type:options:mapping:to:type:options:)`` does at
  /// its end. Does nothing during a migration.
  open func reset() { state.withLock { if run == nil { $0 = MigrationState() } } }

  /// How much of the migration is done, from 0 to 1. Each stage counts as a third, and each mapping as the same part of
  /// a stage.
  open var migrationProgress: Float { state.withLock { $0.progress } }

  /// The error with which the migration is to end.
  var cancelError: (any Error)? { state.withLock { $0.error } }

  func note(progress: Float) { state.withLock { $0.progress = progress } }

  // MARK: During a migration

  /// The mapping model of the migration. Available during a migration, as are the properties below.
  open var mappingModel: NSMappingModel { current.mappings }

  /// The mapping whose objects are being made, related or checked.
  open var currentEntityMapping: NSEntityMapping { current.mapping }

  /// The context of the old store.
  open var sourceContext: NSManagedObjectContext { current.source.context }

  /// The context of the new store.
  open var destinationContext: NSManagedObjectContext { current.destination.context }

  /// The entity of the objects that a mapping reads; nil if it has none.
  open func sourceEntity(for mEntity: NSEntityMapping) -> NSEntityDescription? {
    mEntity.sourceEntityName.flatMap { sourceModel.entitiesByName[$0] }
  }

  /// The entity of the objects that a mapping makes; nil if it has none.
  open func destinationEntity(for mEntity: NSEntityMapping) -> NSEntityDescription? {
    mEntity.destinationEntityName.flatMap { destinationModel.entitiesByName[$0] }
  }

  /// Notes that a mapping has made an object from another one.
  open func associate(
    sourceInstance: NSManagedObject, withDestinationInstance destinationInstance: NSManagedObject,
    for entityMapping: NSEntityMapping
  ) {
    current.associations.add(sourceInstance, destinationInstance, entityMapping.name)
  }

  /// The objects that a mapping has made from objects of the source, in the order of these; all that it has made for
  /// nil.
  open func destinationInstances(
    forEntityMappingName mappingName: String, sourceInstances: [NSManagedObject]?
  ) -> [NSManagedObject] {
    current.associations.destinations(mappingName, sourceInstances, in: destinationContext)
  }

  /// The objects of the source from which a mapping has made objects, in the order of these; all that it has used for
  /// nil.
  open func sourceInstances(
    forEntityMappingName mappingName: String, destinationInstances: [NSManagedObject]?
  ) -> [NSManagedObject] {
    current.associations.sources(mappingName, destinationInstances, in: sourceContext)
  }

  /// The objects of their destination entities that all mappings together have made from objects of the source.
  func destinationInstances(forSourceInstances sources: [Any]) -> [NSManagedObject] {
    let sources = sources.compactMap { $0 as? NSManagedObject }
    return current.mappings.entityMappings.flatMap { mapping in
      destinationInstances(forEntityMappingName: mapping.name, sourceInstances: sources)
        .filter { $0.entity.name == mapping.destinationEntityName }
    }
  }

  private var current: MigrationRun {
    guard let run else { fatalError("The migration manager has no contexts and mappings except during a migration.") }
    return run
  }
}

/// What other threads may read and set during a migration.
private struct MigrationState: Sendable {
  var progress: Float = 0
  var error: (any Error)?
}

// MARK: Functions of expressions

extension NSMigrationManager: FunctionTarget, KeyValueCoding {
  /// The functions of `$manager` that expressions of mappings call:
  ///
  /// * `destinationInstancesForEntityMappingNamed:sourceInstances:`, a name and an object or a collection of objects:
  ///   ``destinationInstances(forEntityMappingName:sourceInstances:)``;
  /// * `sourceInstancesForEntityMappingNamed:destinationInstances:`, accordingly;
  /// * `destinationInstancesForSourceRelationshipNamed:sourceInstances:`, the name of a relationship, which is not used,
  ///   and an object or a collection of objects: the objects of their destination entities that all mappings
  ///   together have made from these;
  /// * `fetchRequestForSourceEntityNamed:predicateString:`, the name of an entity and a predicate: a request for the
  ///   objects of the source, without those of subentities.
  ///
  /// Ends the program for other functions and arguments.
  public func callFunction(_ name: String, arguments: [Any?]) -> Any? {
    switch (name, arguments[0] as? String) {
    case ("destinationInstancesForEntityMappingNamed:sourceInstances:", let mapping?):
      destinationInstances(forEntityMappingName: mapping, sourceInstances: objects(in: arguments[1]))
    case ("sourceInstancesForEntityMappingNamed:destinationInstances:", let mapping?):
      sourceInstances(forEntityMappingName: mapping, destinationInstances: objects(in: arguments[1]))
    case ("destinationInstancesForSourceRelationshipNamed:sourceInstances:", _?):
      destinationInstances(forSourceInstances: objects(in: arguments[1]))
    case ("fetchRequestForSourceEntityNamed:predicateString:", let entity?):
      fetchRequest(forSourceEntityNamed: entity, arguments[1] as? String)
    default:
      fatalError("The migration manager has no function \(name) of \(arguments.map { $0 ?? "nil" }).")
    }
  }

  /// The values of `$manager` that expressions read: `sourceContext`, `destinationContext`, `sourceModel`,
  /// `destinationModel`, `mappingModel` and `userInfo`; nil for other keys.
  public func value(forKey key: String) -> Any? {
    switch key {
    case "sourceContext": sourceContext
    case "destinationContext": destinationContext
    case "sourceModel": sourceModel
    case "destinationModel": destinationModel
    case "mappingModel": mappingModel
    case "userInfo": userInfo
    default: nil
    }
  }

  private func fetchRequest(forSourceEntityNamed name: String, _ predicate: String?) -> NSFetchRequest<Any> {
    let request = NSFetchRequest<Any>(entityName: name)
    request.includesSubentities = false
    request.predicate = predicate.map { NSPredicate(format: $0) }
    return request
  }

  private func objects(in value: Any?) -> [NSManagedObject] {
    MappedValues.objects(in: value).compactMap { $0 as? NSManagedObject }
  }
}

extension NSManagedObjectModel {
  /// A copy in which all objects are of the class `NSManagedObject`.
  func withPlainClasses() -> NSManagedObjectModel {
    let copy = copied(self)
    copy.logsWarnings = false
    for entity in copy.entities { entity.managedObjectClassName = "NSManagedObject" }
    return copy
  }

  /// Whether the model has a configuration; true for nil, which stands for all entities.
  func hasConfiguration(_ name: String?) -> Bool { entities(forConfigurationName: name) != nil }
}
