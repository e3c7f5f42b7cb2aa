import CoreData

/// The description of a store in its table 0: its metadata and its schema.
package struct StoreHead {
  static let metadataReference = RowReference.integer(1)
  package static let schemaReference = RowReference.integer(2)
  package static let historyReference = RowReference.integer(4)
  package static let remoteReference = RowReference.integer(5)
  package static let table: UInt32 = 0

  let metadata: [String: Any]
  let stored: Schema

  /// Reads the head of a store. A store that has none gets its metadata and an empty schema first.
  ///
  /// - Throws: 134080 if the store has no metadata and is read-only, or if it does not keep them; 134010 if it has
  ///   another type; 259 if it is damaged.
  static func load(
    _ rows: any RowStore, _ url: URL, _ type: String, isReadOnly: Bool, making metadata: () -> [String: Any]
  ) throws -> StoreHead {
    if let head = try load(rows.snapshot(), url) { return try head.checked(type, url) }
    guard !isReadOnly else {
      throw StoreFailure.make(NSPersistentStoreOpenError, "There is no Core Data store at \(url.absoluteString).")
    }
    let bytes = try bytes(of: metadata())
    _ = try rows.save { snapshot in
      var changes = RowChanges()
      // Another process or coordinator may have written the head in the meantime.
      guard try snapshot.row(metadataReference, in: table) == nil else { return changes }
      changes.rows = [
        try change(metadataReference, bytes, snapshot), try change(schemaReference, Schema().bytes, snapshot),
      ]
      return changes
    }
    guard let head = try load(rows.snapshot(), url) else {
      throw StoreFailure.make(
        NSPersistentStoreOpenError, "The store at \(url.absoluteString) did not save its metadata.")
    }
    return try head.checked(type, url)
  }

  static func load(_ snapshot: any RowSnapshot, _ url: URL) throws -> StoreHead? {
    guard let metadata = try snapshot.row(metadataReference, in: table) else { return nil }
    guard let schema = try snapshot.row(schemaReference, in: table) else {
      throw StoreFailure.damaged(
        "The store at \(url.absoluteString)", RowDamage("it has metadata but no schema", at: 0))
    }
    let values = try StoreFailure.reading("The metadata of the store at \(url.absoluteString)") {
      try BinaryPropertyList.check(metadata.bytes)
      guard
        let values = try? unsafe PropertyListSerialization.propertyList(from: Data(metadata.bytes), format: nil)
          as? [String: Any], values[NSStoreUUIDKey] is String
      else { throw RowDamage("it is not a property list with \(NSStoreUUIDKey)", at: 0) }
      return values
    }
    let stored = try StoreFailure.reading("The schema of the store at \(url.absoluteString)") {
      try Schema(schema.bytes)
    }
    return StoreHead(metadata: values, stored: stored)
  }

  private func checked(_ type: String, _ url: URL) throws -> StoreHead {
    let found = metadata[NSStoreTypeKey] as? String
    guard found == type else {
      throw StoreFailure.make(
        NSPersistentStoreTypeMismatchError,
        "The store at \(url.absoluteString) has the type \(found ?? "none"), not \(type).")
    }
    return self
  }

  /// The schema with numbers for everything in the model. New numbers are written to the store, unless it is read-only.
  /// Then they are higher than any number in a store, because others may write to the store meanwhile.
  ///
  /// A store that was written with another model is left unchanged unless the options ignore versions: its coordinator
  /// refuses it.
  func schema(
    for model: NSManagedObjectModel, _ configuration: String, _ options: [AnyHashable: Any]?, _ rows: any RowStore,
    isReadOnly: Bool
  ) throws -> Schema {
    let isIgnored = (options?[NSIgnorePersistentStoreVersioningOption] as? NSNumber)?.boolValue == true
    guard
      metadata[NSStoreModelVersionHashesKey] == nil || isIgnored
        || model.isConfiguration(withName: configuration, compatibleWithStoreMetadata: metadata)
    else { return stored }
    var wanted = stored
    if isReadOnly { wanted.nextNumber = Schema.highestNextNumber }
    wanted.take(model)
    guard wanted != stored, !isReadOnly else { return wanted }
    _ = try rows.save { snapshot in
      var changes = RowChanges()
      // Another process or coordinator may have assigned numbers in the meantime.
      if let row = try snapshot.row(Self.schemaReference, in: Self.table) {
        wanted = try StoreFailure.reading("The schema of the store") { try Schema(row.bytes) }
      }
      let before = wanted
      wanted.take(model)
      guard wanted != before else { return changes }
      try wanted.finishEmptyIndexes(snapshot)
      changes.rows = [try Self.change(Self.schemaReference, wanted.bytes, snapshot)]
      var entries = EntryChanges()
      try ConstraintChanges(from: before, to: wanted).collect(snapshot, into: &entries)
      (changes.removals, changes.additions) = entries.sorted
      return changes
    }
    return wanted
  }

  static func bytes(of metadata: [String: Any]) throws -> [UInt8] {
    do {
      let bytes = Array(try PropertyListSerialization.data(fromPropertyList: metadata, format: .binary, options: 0))
      try BinaryPropertyList.check(bytes)
      return bytes
    } catch {
      throw StoreFailure.make(
        NSPersistentStoreSaveError, "The metadata of a store contains something that could not be read again: \(error)",
        [NSUnderlyingErrorKey: error])
    }
  }

  /// Metadata that an application has set, completed with the store's own: its type, its identifier, and the hashes of
  /// its model unless the application sets others. Without them the store could not be opened any more, or could be
  /// opened with any model.
  static func metadata(_ metadata: [String: Any]?, keeping old: [String: Any]) -> [String: Any] {
    var kept = metadata ?? [:]
    for (key, value) in old where key.hasPrefix("NSStore") && kept[key] == nil { kept[key] = value }
    kept[NSStoreTypeKey] = old[NSStoreTypeKey]
    if !(kept[NSStoreUUIDKey] is String) { kept[NSStoreUUIDKey] = old[NSStoreUUIDKey] }
    return kept
  }

  static func change(_ reference: RowReference, _ bytes: [UInt8], _ snapshot: any RowSnapshot) throws -> RowChanges.Row
  {
    RowChanges.Row(
      table: table, reference: reference, change: .put(bytes),
      revision: try snapshot.row(reference, in: table)?.revision)
  }
}
