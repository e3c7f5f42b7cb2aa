import CoreData

/// Migrates a store to another model by what can be inferred from the store's schema and the model.
///
/// One commit changes the schema, the metadata, and what little else has to change at once: until then the store
/// belongs to the former model, from then on to the new one. What the new model no longer has is removed after that.
package struct StoreMigration {
  private let rows: any RowStore
  private let url: URL
  private let model: NSManagedObjectModel
  private let configuration: String
  private let coder: ValueCoder
  private let step: Int
  private let space: DiskSpace
  /// About how many entries are held in memory.
  private let entryLimit: Int

  /// The key of a store option that tests set: how many rows are rewritten in one save.
  package static let stepOption = "MigrationStep"

  init(
    _ rows: any RowStore, _ url: URL, _ model: NSManagedObjectModel, _ configuration: String, _ coder: ValueCoder,
    step: Int, space: DiskSpace? = nil
  ) {
    self.step = step
    self.space = space ?? DiskSpace(at: url)
    // Keys are in another order than rows, so that each save changes packs all over the store: the fewer, the better.
    entryLimit = rows.placesEntriesBySchema ? .max : 5 * step
    self.rows = rows
    self.url = url
    self.model = model
    self.configuration = configuration
    self.coder = coder
  }

  /// Whether a store was written with another model, and its options allow a migration.
  ///
  /// - Throws: 134140 if the options allow no mapping to be inferred.
  static func isNeeded(
    _ head: StoreHead, _ model: NSManagedObjectModel, _ configuration: String, _ options: [AnyHashable: Any]?
  ) throws -> Bool {
    func isOn(_ key: String) -> Bool { (options?[key] as? NSNumber)?.boolValue == true }
    guard head.metadata[NSStoreModelVersionHashesKey] != nil, isOn(NSMigratePersistentStoresAutomaticallyOption),
      !isOn(NSIgnorePersistentStoreVersioningOption), !isOn(NSReadOnlyPersistentStoreOption),
      !model.isConfiguration(withName: configuration, compatibleWithStoreMetadata: head.metadata)
    else { return false }
    guard isOn(NSInferMappingModelAutomaticallyOption) else {
      throw StoreFailure.make(
        NSMigrationMissingMappingModelError,
        "The store was written with another model. \(NSInferMappingModelAutomaticallyOption) is not set, and there is "
          + "no mapping model.")
    }
    return true
  }

  /// - Throws: 134190 if the migration cannot be inferred; 134111 if objects violate a new uniqueness constraint; 640
  ///   if there is not enough space for what is written; 134120 if the thread's progress is cancelled. The store then
  ///   still belongs to the former model.
  func run() throws -> StoreHead {
    do {
      return try migrate(prepare())
    } catch {
      if (error as NSError).code == KeySource.violation { try? building.withdraw() }
      throw error
    }
  }

  private var building: EntryBuilding { EntryBuilding(rows, url, model, coder, limit: entryLimit) }

  private func migrate(_ prepared: MigrationProgress?) throws -> StoreHead {
    var progress = prepared
    while true {
      if let progress {
        try reserve()
        try RowRewriting(rows, url, model, coder, step: step).run(progress)
        try building.run(progress)
      }
      if let head = try finish() {
        progress?.finish()
        return head
      }
      // So much has been saved in the meantime that it does not fit into the last save.
      progress = progress ?? MigrationProgress(url)
      try progress?.checkCancelled()
    }
  }

  /// Checks whether the migration can take place.
  ///
  /// - Returns: Nil if nothing has to be written before the save that changes the schema.
  private func prepare() throws -> MigrationProgress? {
    let snapshot = try rows.snapshot()
    guard let head = try StoreHead.load(snapshot, url) else { return nil }
    let evolution = try ReservedNumbers.evolution(head, model, coder)
    let indexes = rows.hasIndexesOfItsOwn ? [] : evolution.schema.indexes.filter { $0.state == .building(from: nil) }
    let planned = MigrationWork(evolution)
    guard !planned.rewriters.isEmpty || !planned.sources.isEmpty || !indexes.isEmpty else { return nil }
    try Self.check(evolution, snapshot)
    let progress = MigrationProgress(url)
    let work = try MigrationWork(evolution, indexes, snapshot) { count in
      if count % step == 0 { try progress.checkCancelled() }
    }
    try space.require(work.bytes, for: "The migration of \(url.absoluteString)")
    progress.begin(work.units)
    guard work.units == 0 else { return progress }
    progress.finish()
    return nil
  }

  private func reserve() throws {
    _ = try rows.save { snapshot in
      var changes = RowChanges()
      guard let head = try StoreHead.load(snapshot, url) else { return changes }
      let evolution = try ReservedNumbers.evolution(head, model, coder)
      guard let reserved = ReservedNumbers.reserving(head, evolution, for: model) else { return changes }
      changes.rows = [
        try StoreHead.change(StoreHead.metadataReference, StoreHead.bytes(of: reserved.metadata), snapshot),
        try StoreHead.change(StoreHead.schemaReference, reserved.stored.bytes, snapshot),
      ]
      return changes
    }
  }

  /// Changes the schema.
  ///
  /// - Returns: The head of the migrated store; nil if so many rows or entries have changed that the store still lacks
  ///   some.
  private func finish() throws -> StoreHead? {
    var result: StoreHead?
    var isLost = false
    _ = try rows.save { snapshot in
      (result, isLost) = (nil, false)
      guard let head = try StoreHead.load(snapshot, url) else {
        isLost = true
        return RowChanges()
      }
      // Another process or coordinator may have migrated the store in the meantime.
      guard !model.isConfiguration(withName: configuration, compatibleWithStoreMetadata: head.metadata) else {
        result = head
        return RowChanges()
      }
      let evolution = try ReservedNumbers.evolution(head, model, coder)
      try Self.check(evolution, snapshot)
      let entries = try MigratedEntries(evolution, snapshot, limit: entryLimit)
      guard entries.areWhole else { return try changes(entries, head, evolution, snapshot) }
      guard let late = try lateRows(evolution, snapshot) else { return RowChanges() }
      let migrated = StoreHead(metadata: metadata(head.metadata), stored: try finished(evolution.schema, snapshot))
      result = migrated
      return try changes(migrated, late, entries, evolution, snapshot)
    }
    guard !isLost else {
      throw StoreFailure.make(NSMigrationError, "The store at \(url.absoluteString) has lost its metadata.")
    }
    return result
  }

  /// - Throws: 134190 if there are objects that must not exist.
  static func check(_ evolution: SchemaEvolution, _ snapshot: any RowSnapshot) throws {
    for (entity, reason) in evolution.mustBeEmpty where try snapshot.count(in: entity.number) > 0 {
      let present = evolution.schema.entities.first { $0.number == entity.number }
      throw SchemaEvolution.failure(
        "The entity \(entity.name) \(reason), and the store has objects of it", entity.name, present?.name)
    }
  }

  private func finished(_ schema: Schema, _ snapshot: any RowSnapshot) throws -> Schema {
    var schema = schema
    try schema.finishEmptyIndexes(snapshot)
    return schema
  }

  private func metadata(_ old: [String: Any]) -> [String: Any] {
    let names = (model.entities(forConfigurationName: configuration) ?? model.entities).compactMap(\.name)
    return old.filter { $0.key != ReservedNumbers.key }.merging([
      NSStoreModelVersionHashesKey: model.entityVersionHashesByName.filter { names.contains($0.key) },
      NSStoreModelVersionIdentifiersKey: Array(model.versionIdentifiers),
      NSPersistentStoreModelVersionChecksumKey: model.versionChecksum,
    ]) { $1 }
  }

  /// The changes of some of the entries, before the schema changes; none if their numbers are not reserved.
  private func changes(
    _ entries: MigratedEntries, _ head: StoreHead, _ evolution: SchemaEvolution, _ snapshot: any RowSnapshot
  ) throws -> RowChanges {
    var changes = RowChanges()
    guard ReservedNumbers.reserving(head, evolution, for: model) == nil else { return changes }
    changes.rows = try EntryBuilding.listing(entries.numbers, head.stored, snapshot)
    (changes.removals, changes.additions) = entries.changes(of: entries.numbers).sorted
    return changes
  }

  /// The rows that others have changed since they were rewritten; nil if these are more than are rewritten in one step.
  private func lateRows(_ evolution: SchemaEvolution, _ snapshot: any RowSnapshot) throws -> [RowChanges.Row]? {
    var rows: [RowChanges.Row] = []
    for (entity, rewriter) in RowRewriting.rewriters(evolution) {
      try snapshot.forEachRow(in: entity, from: nil) { row in
        let bytes = try rewriter.rewritten(row, entity)
        if bytes != row.bytes {
          rows.append(
            RowChanges.Row(table: entity, reference: row.reference, change: .put(bytes), revision: row.revision))
        }
        return rows.count <= step
      }
    }
    return rows.count <= step ? rows : nil
  }

  private func changes(
    _ head: StoreHead, _ rows: [RowChanges.Row], _ entries: MigratedEntries, _ evolution: SchemaEvolution,
    _ snapshot: any RowSnapshot
  ) throws -> RowChanges {
    var changes = RowChanges()
    changes.rows =
      [
        try StoreHead.change(StoreHead.metadataReference, StoreHead.bytes(of: head.metadata), snapshot),
        try StoreHead.change(StoreHead.schemaReference, head.stored.bytes, snapshot),
      ] + rows
    let lasting = entries.numbers.filter { number in !evolution.sources.contains { $0.origin == number } }
    (changes.removals, changes.additions) = entries.changes(of: lasting).sorted
    return changes
  }
}
