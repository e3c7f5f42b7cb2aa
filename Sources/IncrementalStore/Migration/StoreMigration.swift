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

  /// The key of a store option that tests set: how many rows are rewritten in one save.
  package static let stepOption = "MigrationStep"

  init(
    _ rows: any RowStore, _ url: URL, _ model: NSManagedObjectModel, _ configuration: String, _ coder: ValueCoder,
    step: Int
  ) {
    self.step = step
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

  /// - Throws: 134190 if the migration cannot be inferred; 134111 if objects violate a new uniqueness constraint; 640 if
  ///   there is not enough space for the rows that are rewritten; 134120 if the thread's progress is cancelled. The store
  ///   then still belongs to the former model.
  func run() throws -> StoreHead {
    try RowRewriting(rows, url, model, coder, step: step).run(Self.check)
    var result: StoreHead?
    _ = try rows.save { snapshot in
      guard let head = try StoreHead.load(snapshot, url) else { return RowChanges() }
      // Another process or coordinator may have migrated the store in the meantime.
      guard !model.isConfiguration(withName: configuration, compatibleWithStoreMetadata: head.metadata) else {
        result = head
        return RowChanges()
      }
      let evolution = try ReservedNumbers.evolution(head, model, coder)
      try Self.check(evolution, snapshot)
      let migrated = StoreHead(metadata: metadata(head.metadata), stored: try finished(evolution.schema, snapshot))
      result = migrated
      return try changes(head.stored, migrated, evolution, snapshot)
    }
    guard let result else {
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
    ]) { $1 }
  }

  private func changes(
    _ former: Schema, _ head: StoreHead, _ evolution: SchemaEvolution, _ snapshot: any RowSnapshot
  ) throws -> RowChanges {
    var changes = RowChanges()
    changes.rows = [
      try StoreHead.change(StoreHead.metadataReference, StoreHead.bytes(of: head.metadata), snapshot),
      try StoreHead.change(StoreHead.schemaReference, head.stored.bytes, snapshot),
    ]
    var rewriters: [UInt32: RowRewriter] = [:]
    // Rows that others have changed since they were rewritten.
    for entity in former.entities.map(\.number).sorted() {
      guard let rewriter = RowRewriter(entity, evolution.rewrites, former) else { continue }
      rewriters[entity] = rewriter
      try snapshot.forEachRow(in: entity, from: nil) { row in
        let bytes = try rewriter.rewritten(row, entity)
        if bytes != row.bytes {
          changes.rows.append(
            RowChanges.Row(table: entity, reference: row.reference, change: .put(bytes), revision: row.revision))
        }
        return true
      }
    }
    var entries = EntryChanges()
    let rewritten = MappedSnapshot(snapshot) { [rewriters] row, table in try rewriters[table]?.rewritten(row) }
      .completed(by: head.stored.completions)
    try ConstraintChanges(from: former.keepingConstraints(of: head.stored), to: head.stored)
      .collect(rewritten, into: &entries)
    for source in evolution.sources { try source.collect(snapshot, into: &entries) }
    (changes.removedEntries, changes.addedEntries) = entries.sorted
    return changes
  }
}

extension Schema {
  /// The schema without the constraints that another one does not have, whose keys are removed later.
  fileprivate func keepingConstraints(of other: Schema) -> Schema {
    let kept = Set(other.entities.flatMap(\.constraints).map(\.number))
    var schema = self
    for place in schema.entities.indices {
      schema.entities[place].constraints.removeAll { !kept.contains($0.number) }
    }
    return schema
  }
}
