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
    var fields: Fields?
    var writer = FieldWriter()
    for row in rows where row.read() {
      let current = fields.flatMap { $0.map === row.map ? $0 : nil } ?? Fields(assignments.names, row.map)
      fields = current
      let saved = SavedObject(nil, .updated, row.reference, row.map, row.stored)
      saved.set(try bytes(row, current, &writer))
      objects.append(saved)
    }
    if let failure = source.failure { throw failure }
    return try objects + store.access.touched(by: objects, source.snapshot)
  }

  private func bytes(_ row: SourceRow, _ fields: Fields, _ writer: inout FieldWriter) throws -> [UInt8] {
    let new = try assignments.values(of: row)
    guard row.map.entity.hasDerivedAttributes else {
      return try store.access.bytes(
        of: row.stored.bytes, replacing: fields.fields, by: fields.places.map { new[$0] }, row.reference, &writer)
    }
    var values = try StoreFailure.reading("The row of \(row.objectID)") {
      try store.access.values(of: row.stored.bytes, row.map)
    }
    for (field, place) in zip(fields.fields, fields.places) { values[field.slot] = new[place] }
    let slots = Set(fields.fields.map(\.slot)).union(row.map.entity.deriveOwnAttributes(&values))
    let changed = row.map.fields.filter { slots.contains($0.slot) }
    return try store.access.bytes(
      of: row.stored.bytes, replacing: changed, by: changed.map { values[$0.slot] }, row.reference)
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
