import OpenCoreData

/// The objects that one save of a batch request updates.
struct BatchUpdates {
  private let assignments: BatchAssignments<SourceRow>
  private let store: RowIncrementalStore
  private let source: RowSource
  // Used again for each row.
  private var fields: Fields?
  private var values: [ManagedValue] = []
  private var writer = FieldWriter()

  /// - Throws: the errors of `BatchAssignments`.
  init(_ request: NSBatchUpdateRequest, _ map: EntityMap, _ store: RowIncrementalStore, _ source: RowSource) throws {
    assignments = try BatchAssignments(request, of: map.entity, in: store, reading: source.reader(of: map))
    (self.store, self.source) = (store, source)
  }

  /// The objects to save: those with the rows, and those to which they are or were related.
  mutating func objects(_ rows: [SourceRow]) throws -> [SavedObject] {
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

  /// The change of a row of an object that consists of its row alone.
  mutating func change(_ row: SourceRow) throws -> RowChanges.Row {
    let bytes = try bytes(row)
    return RowChanges.Row(
      table: row.map.number, reference: row.stored.reference,
      change: bytes == row.stored.bytes ? .touch : .put(bytes), revision: row.stored.revision)
  }

  private mutating func bytes(_ row: SourceRow) throws -> [UInt8] {
    let current = fields.flatMap { $0.map === row.map ? $0 : nil } ?? Fields(assignments.names, row.map)
    fields = current
    try assignments.read(current.places, of: row, into: &values)
    guard row.map.entity.hasDerivedAttributes else {
      return try store.access.bytes(
        of: row.stored.bytes, replacing: current.fields, by: values, row.reference, &writer)
    }
    var all = try StoreFailure.reading("The row of \(row.objectID)") {
      try store.access.values(of: row.stored.bytes, row.map)
    }
    for (field, value) in zip(current.fields, values) { all[field.slot] = value }
    let slots = Set(current.fields.map(\.slot)).union(row.map.entity.deriveOwnAttributes(&all))
    let changed = row.map.fields.filter { slots.contains($0.slot) }
    return try store.access.bytes(
      of: row.stored.bytes, replacing: changed, by: changed.map { all[$0.slot] }, row.reference)
  }

  /// The fields that are set in the rows of an entity, in the order of their numbers.
  private final class Fields {
    let map: EntityMap
    let fields: [EntityMap.StoredField]
    /// The places of their values among those of the assignments.
    let places: [Int]

    init(_ names: [String], _ map: EntityMap) {
      let all = names.enumerated().compactMap { place, name in map.field(named: name).map { ($0, place) } }
        .sorted { $0.0.number < $1.0.number }
      self.map = map
      (fields, places) = (all.map(\.0), all.map(\.1))
    }
  }
}
