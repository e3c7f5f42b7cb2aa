import Foundation

/// One migration of a manager: three stages, in each of which every mapping has its turn.
final class MigrationRun {
  let mappings: NSMappingModel
  let source: MigrationStack
  let destination: MigrationStack
  /// The mapping that has its turn.
  private(set) var mapping: NSEntityMapping
  var associations = MigrationAssociations()

  private unowned let manager: NSMigrationManager
  private let place: MigratedPlace
  private let policies: [NSEntityMigrationPolicy]
  private let progress = Progress(totalUnitCount: 1000)

  /// After how many objects the new store is saved.
  private static let batch = 1000

  /// Opens the stores.
  init(
    _ manager: NSMigrationManager, _ mappings: NSMappingModel, _ from: MigratedPlace, _ to: MigratedPlace
  ) throws {
    self.manager = manager
    self.mappings = mappings
    place = to
    policies = try MappingCheck(manager).policies(of: mappings)
    mapping = mappings.entityMappings.first ?? NSEntityMapping()
    source = try MigrationStack(
      manager.sourceModel, from, manager.configuration, isReadOnly: true, failing: NSMigrationManagerSourceStoreError)
    do {
      try IncompleteCopy.vacate(
        to.url, of: StoreRegistry.storeClass(for: to.type), to.ownOptions,
        failing: NSMigrationManagerDestinationStoreError)
      try from.checkSpace(at: to.url)
      destination = try MigrationStack(
        manager.destinationModel, to, manager.configuration, isReadOnly: false,
        failing: NSMigrationManagerDestinationStoreError)
    } catch {
      source.close()
      throw error
    }
  }

  func perform() throws {
    do {
      try source.context.performAndWait { try destination.context.performAndWait(runStages) }
      source.close()
      destination.close()
    } catch {
      source.close()
      destination.close()
      if place.url.isFileURL, place.url != nowhere { place.destroy() }
      throw error
    }
  }

  private func runStages() throws {
    destination.store.carryMetadata(of: source.store)
    IncompleteCopy.begin(destination.store)
    // There may be no objects with which the metadata are saved.
    try destination.context.save()
    try stage(0) { mapping, policy, fraction in
      try asPolicy(mapping) { try policy.begin(mapping, with: manager) }
      if manager.sourceEntity(for: mapping) != nil {
        try makeObjects(mapping, policy, fraction)
      }
      try asPolicy(mapping) { try policy.endInstanceCreation(forMapping: mapping, manager: manager) }
    }
    try stage(1) { mapping, policy, fraction in
      let hasNone = type(of: policy) == NSEntityMigrationPolicy.self && mapping.relationshipMappings?.isEmpty == true
      let made = hasNone ? [] : associations.destinations(mapping.name)
      try inBatches(made, of: destination.context, fraction) { object in
        try asPolicy(mapping) {
          try policy.createRelationships(forDestination: object, in: mapping, manager: manager)
        }
      }
      try asPolicy(mapping) { try policy.endRelationshipCreation(forMapping: mapping, manager: manager) }
    }
    try stage(2) { mapping, policy, _ in
      try asPolicy(mapping) { try policy.performCustomValidation(forMapping: mapping, manager: manager) }
    }
    try validate()
    try stage(2) { mapping, policy, _ in
      try asPolicy(mapping) { try policy.end(mapping, manager: manager) }
    }
    try save()
    IncompleteCopy.end(destination.store)
    try destination.context.save()
    note(1)
  }

  // MARK: Stages

  /// Gives each mapping its turn, and saves after each.
  private func stage(
    _ number: Int,
    _ body: (NSEntityMapping, NSEntityMigrationPolicy, _ fraction: (Double) -> Void) throws -> Void
  ) throws {
    let count = Double(max(policies.count, 1))
    for (place, (mapping, policy)) in zip(mappings.entityMappings, policies).enumerated() {
      self.mapping = mapping
      func note(_ fraction: Double) { self.note((Double(number) + (Double(place) + fraction) / count) / 3) }
      note(0)
      try checkCancelled()
      try body(mapping, policy, note)
      try save()
    }
  }

  private func makeObjects(
    _ mapping: NSEntityMapping, _ policy: NSEntityMigrationPolicy, _ fraction: (Double) -> Void
  ) throws {
    try inBatches(sources(of: mapping, policy), of: source.context, fraction) { object in
      try asPolicy(mapping) {
        try policy.createDestinationInstances(forSource: object, in: mapping, manager: manager)
      }
    }
  }

  /// The identifiers of the objects that a mapping reads.
  private func sources(of mapping: NSEntityMapping, _ policy: NSEntityMigrationPolicy) throws -> [NSManagedObjectID] {
    let request: NSFetchRequest<Any>
    switch mapping.sourceExpression?.form {
    case nil:
      request = NSFetchRequest<Any>(entityName: mapping.sourceEntityName ?? "")
      request.includesSubentities = false
    case .fetch(let fetch, _, _)?: request = try self.request(in: value(of: fetch, mapping, policy), mapping)
    case _?:
      let value = mapping.sourceExpression.flatMap { self.value(of: $0, mapping, policy) }
      if let value, !(value is any StoreFetch) { return try identifiers(in: value, mapping) }
      request = try self.request(in: value, mapping)
    }
    request.resultType = .managedObjectIDResultType
    return try reading(source.context) { try source.context.fetch(request).compactMap { $0 as? NSManagedObjectID } }
  }

  private func value(
    of expression: NSExpression, _ mapping: NSEntityMapping, _ policy: NSEntityMigrationPolicy
  ) -> Any? {
    expression.expressionValue(
      with: nil, context: ["manager": manager, "entityMapping": mapping, "entityPolicy": policy])
  }

  private func request(in value: Any?, _ mapping: NSEntityMapping) throws -> NSFetchRequest<Any> {
    guard let request = value as? any StoreFetch else { throw noObjects(mapping) }
    return request.forAnything()
  }

  private func identifiers(in value: Any, _ mapping: NSEntityMapping) throws -> [NSManagedObjectID] {
    try MappedValues.objects(in: value).map { value in
      guard let object = value as? NSManagedObject, object.managedObjectContext === source.context else {
        throw noObjects(mapping)
      }
      return object.objectID
    }
  }

  private func noObjects(_ mapping: NSEntityMapping) -> NSError {
    CoreDataError.make(
      NSMigrationError,
      "The source expression of the mapping \(mapping.name ?? "") gives neither objects of the source nor a request.")
  }

  /// Validates all objects of the new store, and the required values of each.
  private func validate() throws {
    for entity in manager.destinationModel.entities
    where !entity.isAbstract && destination.store.entityNames.contains(entity.name ?? "") {
      let request = NSFetchRequest<NSManagedObjectID>(entityName: entity.name ?? "")
      request.includesSubentities = false
      request.resultType = .managedObjectIDResultType
      try inBatches(destination.context.fetch(request), of: destination.context, { _ in }) { object in
        do {
          try object.validateForInsert()
        } catch {
          throw CoreDataError.make(
            NSMigrationError,
            "The migrated object \(object.objectID.uriRepresentation().absoluteString) of the entity "
              + "\(entity.name ?? "") is not valid: \((error as NSError).localizedDescription)",
            [NSUnderlyingErrorKey: error])
        }
      }
    }
  }

  // MARK: Batches

  /// Calls `body` with the objects with these identifiers that still exist, and saves from time to time.
  private func inBatches(
    _ ids: [NSManagedObjectID], of context: NSManagedObjectContext, _ fraction: (Double) -> Void,
    _ body: (NSManagedObject) throws -> Void
  ) throws {
    for (place, id) in ids.enumerated() {
      try checkCancelled()
      if let object = try existing(id, in: context) { try body(object) }
      guard (place + 1) % Self.batch == 0 else { continue }
      try save()
      fraction(Double(place + 1) / Double(ids.count))
    }
  }

  private func existing(_ id: NSManagedObjectID, in context: NSManagedObjectContext) throws -> NSManagedObject? {
    do {
      return try reading(context) { try context.existingObject(with: id) }
    } catch {
      guard StoreCalls.isMissing(error) else { throw error }
      return nil
    }
  }

  private func save() throws {
    do {
      if destination.context.hasChanges { try destination.context.save() }
    } catch {
      let isConstraint = (error as NSError).code == NSManagedObjectConstraintMergeError
      throw CoreDataError.make(
        isConstraint ? NSMigrationConstraintViolationError : NSMigrationManagerDestinationStoreError,
        "The migrated objects cannot be saved: \((error as NSError).localizedDescription)",
        [NSUnderlyingErrorKey: error])
    }
    associations.settle()
    source.release()
    destination.release()
  }

  // MARK: Failures

  /// Runs a method of a policy.
  private func asPolicy(_ mapping: NSEntityMapping, _ body: () throws -> Void) throws {
    do {
      try body()
    } catch {
      let code = (error as NSError).domain == NSCocoaErrorDomain ? (error as NSError).code : 0
      guard code != NSMigrationError else { throw error }
      throw CoreDataError.make(
        NSEntityMigrationPolicyError,
        "The migration policy of the mapping \(mapping.name ?? "") has failed: \((error as NSError).localizedDescription)",
        [NSUnderlyingErrorKey: error])
    }
  }

  private func reading<Result>(_ context: NSManagedObjectContext, _ body: () throws -> Result) throws -> Result {
    do {
      return try body()
    } catch {
      guard !StoreCalls.isMissing(error) else { throw error }
      throw CoreDataError.make(
        context === source.context ? NSMigrationManagerSourceStoreError : NSMigrationManagerDestinationStoreError,
        "The migration cannot read: \((error as NSError).localizedDescription)",
        [NSUnderlyingErrorKey: error])
    }
  }

  private func checkCancelled() throws {
    if let error = manager.cancelError { throw error }
    guard progress.isCancelled else { return }
    throw CoreDataError.make(NSMigrationCancelledError, "The migration was cancelled.")
  }

  private func note(_ fraction: Double) {
    manager.note(progress: Float(fraction))
    progress.completedUnitCount = Int64(fraction * 1000)
  }
}
