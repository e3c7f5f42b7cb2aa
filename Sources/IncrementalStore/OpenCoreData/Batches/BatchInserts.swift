import OpenCoreData

/// The objects that one save of a batch request inserts.
struct BatchInserts {
  private enum Objects {
    /// The rows of objects that violate no constraint, because their entity has none.
    case rows([[UInt8]])
    /// Objects that may have the values of others.
    case values([BatchInsertion.Object])
  }

  private let contents: Objects
  /// Those of the objects of the request.
  let references: ArraySlice<RowReference>
  private let map: EntityMap
  private let store: RowIncrementalStore

  /// The number of objects of the request.
  var count: Int { references.count }

  /// Takes up to `limit` objects from a request.
  init(_ insertion: BatchInsertion, _ limit: Int, _ map: EntityMap, _ store: RowIncrementalStore) throws {
    (self.map, self.store) = (map, store)
    if map.constraints.isEmpty {
      var rows: [[UInt8]] = []
      let access = store.access
      var (object, row) = (insertion.blankObject(), FieldWriter())
      while rows.count < limit, try insertion.readNext(&object) {
        rows.append(try access.bytes(of: object.values, map, &row))
      }
      contents = .rows(rows)
      references = try store.takeReferences(rows.count)
    } else {
      var objects: [BatchInsertion.Object] = []
      while objects.count < limit, let object = try insertion.nextObject() { objects.append(object) }
      contents = .values(objects)
      references = try store.takeReferences(objects.count)
    }
  }

  /// The rows of the objects in a table, in the order of their references; nil if objects may have values of others.
  func rows(in table: UInt32) -> [RowChanges.Row]? {
    guard case .rows(let rows) = contents else { return nil }
    var changes: [RowChanges.Row] = []
    changes.reserveCapacity(rows.count)
    for (bytes, reference) in zip(rows, references) {
      changes.append(RowChanges.Row(table: table, reference: reference, change: .put(bytes), revision: nil))
    }
    let areSorted = zip(references, references.dropFirst()).allSatisfy { $0 < $1 }
    return areSorted ? changes : changes.sorted { $0.reference < $1.reference }
  }

  /// The objects to save: inserted ones, those that are changed instead, and those to which they are related.
  func objects(_ snapshot: any RowSnapshot, _ policy: NSMergePolicyType) throws -> [SavedObject] {
    var objects: [SavedObject] = []
    switch contents {
    case .rows(let rows):
      objects.reserveCapacity(rows.count)
      for (bytes, reference) in zip(rows, references) { objects.append(inserted(bytes, reference)) }
    case .values(let values):
      var upserts = BatchUpserts<UniqueValues, ObjectReference>(policy, map.entity)
      let source = source(snapshot)
      for object in values { try upserts.add(object, source) }
      for (object, reference) in zip(upserts.inserted, references) {
        objects.append(inserted(try store.access.bytes(of: object.values, map), reference))
      }
      for change in upserts.changed where !change.slots.isEmpty { objects.append(try changed(change, snapshot)) }
    }
    return try objects + store.access.touched(by: objects, snapshot)
  }

  private func inserted(_ bytes: [UInt8], _ reference: RowReference) -> SavedObject {
    let saved = SavedObject(nil, .inserted, ObjectReference(entity: map.number, reference: reference), map, nil)
    saved.set(bytes)
    return saved
  }

  private func changed(
    _ change: BatchUpserts<UniqueValues, ObjectReference>.Change, _ snapshot: any RowSnapshot
  ) throws -> SavedObject {
    let stored = try snapshot.row(change.holder.reference, in: change.holder.entity)
    let saved = SavedObject(nil, .updated, change.holder, map, stored)
    var values = change.values
    let slots = change.slots.union(map.entity.deriveOwnAttributes(&values))
    let fields = map.fields.filter { slots.contains($0.slot) }
    saved.set(
      try store.access.bytes(
        of: stored?.bytes ?? [], replacing: fields, by: fields.map { values[$0.slot] }, change.holder))
    return saved
  }

  // MARK: Values that must be unique

  private func source(_ snapshot: any RowSnapshot) -> BatchUpserts<UniqueValues, ObjectReference>.Source {
    let (access, map) = (store.access, map)
    return .init(
      keys: { values in
        let bytes = try access.bytes(of: values, map)
        return try map.constraints.compactMap { constraint in
          try StoreFailure.reading("A row of \(map.entity.name ?? "")") {
            try UniqueKey.key(of: constraint.fields, in: bytes, normalized: UniqueKey.normalized)
          }.map { UniqueValues(constraint: constraint.number, key: $0) }
        }
      },
      holder: { values in
        var holder: ObjectReference?
        let prefix = Entry.key(values.key, values.constraint)
        try snapshot.forEachEntry(beginningWith: prefix) { entry in
          holder = try StoreFailure.reading("An entry of a constraint of \(map.entity.name ?? "")") {
            try Entry.member(in: entry, after: prefix.count, isOrdered: false).member
          }
          return false
        }
        return holder
      },
      values: { object in
        guard object.entity == map.number, let row = try snapshot.row(object.reference, in: object.entity) else {
          throw access.objectID(object).map { CoreDataError.sharedKey($0, map.entity) }
            ?? StoreFailure.damaged("An entry of a constraint", RowDamage("it names no row", at: 0))
        }
        return try StoreFailure.reading("The row of \(access.name(object))") { try access.values(of: row.bytes, map) }
      })
  }
}

/// A combination of values that no two objects may share.
private struct UniqueValues: Hashable {
  let constraint: UInt32
  let key: [UInt8]
}
