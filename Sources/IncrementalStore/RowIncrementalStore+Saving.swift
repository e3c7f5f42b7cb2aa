import CoreData

extension RowIncrementalStore {
  /// Saves the objects of a request, and the metadata if they have changed, as one batch.
  func save(_ request: NSSaveChangesRequest, _ context: NSManagedObjectContext?) throws {
    let metadata =
      metadataHaveChanged && !isReadOnly ? StoreHead.metadata(self.metadata, keeping: storedMetadata) : nil
    let metadataBytes = try metadata.map { try StoreHead.bytes(of: $0) }
    var plan = SavePlan(self)
    var recorder = HistoryRecorder(self, context)
    var isFirst = true
    func changes(_ snapshot: any RowSnapshot, knowing known: [ObjectReference: StoredRow?]) throws -> RowChanges {
      // A remote database refuses to insert a row that exists, and has the save planned again.
      let areNew = isFirst && snapshot.isRemote
      isFirst = false
      return try snapshot.readingInBulk(references(in: request, withInserted: !areNew), knowing: known) { snapshot in
        plan = SavePlan(self, readsInserted: !areNew)
        var changes = try plan.changes(request, snapshot, context)
        savesKnownRows = try snapshot.isRemote && snapshot.row(StoreHead.historyReference, in: StoreHead.table) == nil
        try recorder.record(plan.objects, in: &changes, snapshot)
        try addCompanions(of: plan.objects, to: &changes, snapshot)
        if let metadataBytes {
          changes.rows.insert(try StoreHead.change(StoreHead.metadataReference, metadataBytes, snapshot), at: 0)
        }
        return changes
      }
    }
    let revision: UInt64
    do {
      do {
        revision = try rows.save { snapshot in
          let known = isFirst ? knownRows(of: request, snapshot) : [:]
          do {
            return try changes(snapshot, knowing: known)
          } catch {
            throw known.isEmpty ? error : KnownRowsMayHaveChanged()
          }
        }
      } catch is KnownRowsMayHaveChanged {
        revision = try rows.save { try changes($0, knowing: [:]) }
      }
    } catch let conflicts as RowConflicts {
      throw try conflicts.error(self)
    } catch let conflicts as KeyConflicts {
      throw try conflicts.error(self, context)
    }
    if let metadata { metadataWereWritten(metadata) }
    note(recorder.position)
    lastRevision = plan.objects.isEmpty ? nil : revision
    companionsWereSaved(with: plan.objects)
    for saved in plan.objects { cache(saved, revision) }
  }

  /// Keeps a row as it was saved.
  private func cache(_ saved: SavedObject, _ revision: UInt64) {
    let id = saved.object?.objectID ?? access.objectID(saved.reference.reference, saved.map)
    if saved.change == .touched, let former = saved.stored {
      return cache.touch(id, from: former.revision, version: former.version + 1, revision)
    }
    guard let bytes = saved.bytes else { return cache.remove(id) }
    cache.set(CachedRow(bytes: bytes, version: (saved.stored?.version ?? 0) + 1, revision: revision), of: id)
  }
}

extension RowIncrementalStore {
  /// The rows of a save as they were read last, if a remote database finds out when it writes whether they still are so.
  private func knownRows(
    of request: NSSaveChangesRequest, _ snapshot: any RowSnapshot
  ) -> [ObjectReference: StoredRow?] {
    let (schema, history) = (StoreHead.schemaReference, StoreHead.historyReference)
    guard savesKnownRows, let revision = expectedIndexes(in: snapshot, absent: [history])?.revision else { return [:] }
    var known: [ObjectReference: StoredRow?] = [
      // Who knows the revision needs no more.
      ObjectReference(entity: StoreHead.table, reference: schema):
        StoredRow(reference: schema, bytes: [], version: 0, revision: revision),
      ObjectReference(entity: StoreHead.table, reference: history): nil,
    ]
    for objects in [request.updatedObjects, request.deletedObjects, request.lockedObjects] {
      for object in objects ?? [] {
        guard let row = cache.row(of: object.objectID), let reference = try? access.reference(object.objectID)
        else { continue }
        known[reference] = row.stored(as: reference.reference)
      }
    }
    return known
  }

  /// The rows that a save reads in any case: those of its objects, and two of the store.
  private func references(in request: NSSaveChangesRequest, withInserted: Bool) throws -> [ObjectReference] {
    let inserted = withInserted ? request.insertedObjects : nil
    let sets = [inserted, request.updatedObjects, request.deletedObjects, request.lockedObjects]
    let objects = try sets.compactMap(\.self).joined().map { try access.reference($0.objectID) }
    return objects
      + [StoreHead.schemaReference, StoreHead.historyReference].map {
        ObjectReference(entity: StoreHead.table, reference: $0)
      }
  }
}

/// A save was planned with rows that were not read again, and failed before anything was written.
private struct KnownRowsMayHaveChanged: Error {}

/// Computes the changes to rows and entries from the objects of a save.
struct SavePlan {
  private let store: RowIncrementalStore
  private let readsInserted: Bool
  private(set) var objects: [SavedObject] = []

  /// - Parameter readsInserted: Whether the rows of inserted objects are read, which should not exist.
  init(_ store: RowIncrementalStore, readsInserted: Bool = true) {
    (self.store, self.readsInserted) = (store, readsInserted)
  }

  /// - Throws: 134100 if the store has been migrated since it was opened; `RowConflicts` if rows have
  ///   changed since the objects were read; `KeyConflicts` if two objects would have the same key.
  mutating func changes(
    _ request: NSSaveChangesRequest, _ snapshot: any RowSnapshot, _ context: NSManagedObjectContext?
  ) throws -> RowChanges {
    let indexes = try store.indexes(in: snapshot)
    objects = try collected(request, snapshot)
    let conflicts = try objects.compactMap { try conflict($0, snapshot) }
    guard conflicts.isEmpty else { throw RowConflicts(conflicts: conflicts) }
    // An object that is deleted here and already deleted in the store needs no change.
    objects.removeAll { $0.change == .deleted && $0.stored == nil }
    for object in objects where object.change != .touched { object.set(try bytes(of: object)) }
    return try SavedRows(objects, store.access, indexes).changes(snapshot) { contradicted in
      try throwConflicts(with: contradicted, snapshot, context)
    }
  }

  /// Throws a conflict for each object that the relationships of a save contradict.
  private func throwConflicts(
    with objects: Set<ObjectReference>, _ snapshot: any RowSnapshot, _ context: NSManagedObjectContext?
  ) throws {
    let conflicts = try objects.sorted().compactMap { object -> RowConflict? in
      guard let map = store.access.schema[object.entity] else { return nil }
      let id = store.access.objectID(object.reference, map)
      guard let source = self.objects.first(where: { $0.reference == object })?.object ?? context?.object(with: id)
      else { return nil }
      return RowConflict(
        object: source, map: map, known: store.cache.row(of: id),
        stored: try snapshot.row(object.reference, in: object.entity))
    }
    if !conflicts.isEmpty { throw RowConflicts(conflicts: conflicts) }
  }

  // MARK: Objects

  /// The objects in the order of table and reference: the order of a set differs from process to process.
  private func collected(_ request: NSSaveChangesRequest, _ snapshot: any RowSnapshot) throws -> [SavedObject] {
    var objects: [SavedObject] = []
    func collect(_ some: Set<NSManagedObject>?, _ change: SavedObject.Change) throws {
      for object in some ?? [] {
        let (reference, map) = try store.access.located(object.objectID)
        let change = change == .updated && isTouched(object, map) ? .touched : change
        objects.append(SavedObject(object, change, reference, map, try stored(reference, change, snapshot)))
      }
    }
    let updated = request.updatedObjects ?? []
    let deleted = request.deletedObjects ?? []
    try collect(request.insertedObjects, .inserted)
    try collect(updated, .updated)
    try collect(deleted, .deleted)
    try collect(request.lockedObjects?.filter { !updated.contains($0) && !deleted.contains($0) }, .locked)
    return SavedObject.inOrder(objects)
  }

  /// Whether only members of an updated object's relationships have changed, and nobody wants its row.
  private func isTouched(_ object: NSManagedObject, _ map: EntityMap) -> Bool {
    object.isFault && !map.hasToOneRelationships && store.companion == nil
  }

  private func stored(
    _ object: ObjectReference, _ change: SavedObject.Change, _ snapshot: any RowSnapshot
  ) throws -> StoredRow? {
    switch change {
    case .inserted where !readsInserted: nil
    case .touched:
      try snapshot.stamp(of: object.reference, in: object.entity).map {
        StoredRow(reference: object.reference, bytes: [], version: $0.version, revision: $0.revision)
      }
    case .inserted, .updated, .deleted, .locked: try snapshot.row(object.reference, in: object.entity)
    }
  }

  /// The conflict of an object whose stored row differs from the one in the cache, or from the one that the context
  /// knows; nil for none. The coordinator has already compared these two, but somebody else may have read a newer row
  /// into the cache since.
  private func conflict(_ saved: SavedObject, _ snapshot: any RowSnapshot) throws -> RowConflict? {
    guard let object = saved.object else { return nil }
    // A new object is in no cache.
    let known = saved.change == .inserted ? nil : store.cache.row(of: object.objectID)
    let isExpected =
      switch (saved.change, saved.stored) {
      case (.inserted, let stored): stored == nil
      case (.deleted, nil): true
      case (_, nil): false
      case (_, let stored?):
        known.map { $0.revision == stored.revision } ?? true
          && object.contextRevision.map { $0 == stored.revision }
            ?? (object.contextVersion ?? stored.version == stored.version)
      }
    guard !isExpected else { return nil }
    let stored =
      saved.change == .touched
      ? try snapshot.row(saved.reference.reference, in: saved.reference.entity) : saved.stored
    return RowConflict(object: object, map: saved.map, known: known, stored: stored)
  }

  // MARK: Rows

  private func bytes(of saved: SavedObject) throws -> [UInt8]? {
    switch saved.change {
    case .deleted, .touched: return nil
    case .locked: return saved.stored?.bytes
    case .inserted, .updated: break
    }
    // If the object is a fault, only members of its relationships can have changed.
    guard let object = saved.object, !object.isFault else { return saved.stored?.bytes }
    let unknown = try unknownFields(of: saved, object)
    // Other values may be older than those that were changed, even if all are there.
    var row = FieldWriter(isPartial: saved.stored.map { FieldReader.isPartial($0.bytes) } ?? false)
    var foreign = try ForeignFields(saved)
    for field in saved.map.fields where !unknown.contains(field.number) {
      foreign.copy(before: field.number, to: &row)
      let value = object.value(of: field)
      if case .null = value, case .attribute(let attribute) = field.kind,
        let (kept, bytes) = try unresolved(attribute, field, saved, object)
      {
        row.copy(field.number, kept, of: bytes)
        continue
      }
      try store.access.write(value, of: field, to: &row)
    }
    foreign.copy(before: .max, to: &row)
    return row.bytes
  }

  /// The fields that the stored row lacks because the object is not loaded in whole, without those that the object has
  /// got values for.
  private func unknownFields(of saved: SavedObject, _ object: NSManagedObject) throws -> Set<UInt32> {
    guard let bytes = saved.stored?.bytes, FieldReader.isPartial(bytes) else { return [] }
    let changed = object.changedValues()
    return try StoreFailure.reading("The row of \(store.access.name(saved.reference))") {
      var unknown = Set(saved.map.fields.filter { changed[$0.name] == nil }.map(\.number))
      var fields = try FieldReader(bytes)
      while let next = try fields.next() { unknown.remove(next.number) }
      return unknown
    }
  }

  /// The stored field of an object identifier whose store is not open now. Its value was read as nil, and the field is
  /// kept as it is, unless the value was set to nil since it was read. Nil for any other field.
  private func unresolved(
    _ attribute: NSAttributeDescription, _ field: EntityMap.StoredField, _ saved: SavedObject,
    _ object: NSManagedObject
  ) throws -> (Field, [UInt8])? {
    guard attribute.attributeType == .objectIDAttributeType, let bytes = saved.stored?.bytes,
      object.changedValues()[field.name] == nil
    else { return nil }
    return try StoreFailure.reading("The row of \(store.access.name(saved.reference))") {
      guard let stored = try FieldReader.field(field.number, of: bytes), stored.type == .identifier,
        case .null = try store.access.coder.value(stored, of: attribute, field.type, in: bytes)
      else { return nil }
      return (stored, bytes)
    }
  }
}

/// The fields of a row that the model does not have, because the row was written with another model. They are kept.
private struct ForeignFields {
  private let bytes: [UInt8]
  private var fields: [(number: UInt32, field: Field)] = []

  init(_ saved: SavedObject) throws {
    bytes = saved.stored?.bytes ?? []
    guard !bytes.isEmpty else { return }
    let known = saved.map.fields
    try StoreFailure.reading("The row of \(saved.reference)") {
      var reader = try FieldReader(bytes)
      var place = 0
      while let next = try reader.next() {
        while place < known.count, known[place].number < next.number { place += 1 }
        if place == known.count || known[place].number != next.number { fields.append(next) }
      }
    }
  }

  mutating func copy(before number: UInt32, to row: inout FieldWriter) {
    while let next = fields.first, next.number < number {
      row.copy(next.number, next.field, of: bytes)
      fields.removeFirst()
    }
  }
}
