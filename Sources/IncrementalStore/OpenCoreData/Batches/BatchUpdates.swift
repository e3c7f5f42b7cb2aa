import OpenCoreData

/// The objects that one save of a batch request updates.
struct BatchUpdates {
  private let assignments: BatchAssignments<SourceRow>
  private let store: RowIncrementalStore
  private let source: RowSource

  /// - Throws: the errors of `BatchAssignments`.
  init(_ request: NSBatchUpdateRequest, _ map: EntityMap, _ store: RowIncrementalStore, _ source: RowSource) throws {
    assignments = try BatchAssignments(request, of: map.entity, in: store, reading: source.reader(of: map))
    (self.store, self.source) = (store, source)
  }

  /// The objects to save: those with the rows, and those to which they are or were related.
  func objects(_ rows: [SourceRow]) throws -> [SavedObject] {
    var objects: [SavedObject] = []
    objects.reserveCapacity(rows.count)
    for row in rows where row.read() {
      let saved = SavedObject(nil, .updated, row.reference, row.map, row.stored)
      saved.set(try bytes(row))
      objects.append(saved)
    }
    if let failure = source.failure { throw failure }
    return try objects + store.access.touched(by: objects, source.snapshot)
  }

  private func bytes(_ row: SourceRow) throws -> [UInt8] {
    var fields: [(field: EntityMap.StoredField, value: ManagedValue)] = []
    try assignments.forEachValue(of: row) { name, value in
      if let field = row.map.field(named: name) { fields.append((field, value)) }
    }
    if row.map.hasDerivedAttributes {
      var values = try StoreFailure.reading("The row of \(row.objectID)") {
        try store.access.values(of: row.stored.bytes, row.map)
      }
      for (field, value) in fields { values[field.slot] = value }
      let derived = row.map.derive(&values)
      fields += row.map.fields.filter { derived.contains($0.slot) }.map { ($0, values[$0.slot]) }
    }
    return try store.access.bytes(of: row.stored.bytes, replacing: fields, row.reference)
  }
}
