import OpenCoreData

/// The objects that one save of a batch request deletes.
struct BatchDeletes {
  private let store: RowIncrementalStore
  private let snapshot: any RowSnapshot

  init(_ store: RowIncrementalStore, _ snapshot: any RowSnapshot) { (self.store, self.snapshot) = (store, snapshot) }

  /// The objects to save: those with the rows, and those that delete rules reach from them.
  func objects(_ found: [SourceRow]) throws -> [SavedObject] {
    guard found.contains(where: { $0.map.hasRelationships }) else {
      return found.filter { $0.read() }.map { SavedObject(nil, .deleted, $0.reference, $0.map, $0.stored) }
    }
    var rows: [ObjectReference: StoredRow] = [:]
    rows.reserveCapacity(found.count)
    for row in found where row.read() { rows[row.reference] = row.stored }
    func row(_ object: ObjectReference) throws -> StoredRow? {
      if let row = rows[object] { return row }
      let row = try snapshot.row(object.reference, in: object.entity)
      rows[object] = row
      return row
    }
    let deletion = try BatchDeletion(found.map(\.reference), in: store) { object in
      try map(object).entity
    } related: { object, relationship in
      try related(object, relationship, row(object)).filter { try row($0) != nil }
    }
    var objects = try deletion.deleted.map { object in
      SavedObject(nil, .deleted, object, try map(object), try row(object))
    }
    for (object, relationships) in deletion.left {
      objects.append(try left(object, relationships, row(object)))
    }
    return objects
  }

  /// An object that stays and loses references.
  private func left(
    _ object: ObjectReference, _ relationships: [NSRelationshipDescription], _ row: StoredRow?
  ) throws -> SavedObject {
    let map = try map(object)
    let fields = relationships.filter { !$0.isToMany }.compactMap { map.field(named: $0.name) }
      .sorted { $0.number < $1.number }
    let saved = SavedObject(nil, fields.isEmpty ? .locked : .updated, object, map, row)
    saved.set(
      try store.access.bytes(
        of: row?.bytes ?? [], replacing: fields, by: Array(repeating: .null, count: fields.count), object))
    return saved
  }

  private func related(
    _ object: ObjectReference, _ relationship: NSRelationshipDescription, _ row: StoredRow?
  ) throws -> [ObjectReference] {
    let map = try map(object)
    if let field = map.field(named: relationship.name) {
      return try StoreFailure.reading("The row of \(store.access.name(object))") {
        try row.flatMap { try FieldReader.field(field.number, of: $0.bytes)?.object(in: $0.bytes) }.map { [$0] } ?? []
      }
    }
    guard let set = map.set(named: relationship.name) else { return [] }
    var members: [ObjectReference] = []
    try snapshot.forEachMember(of: object.reference, set.end) { members.append($0.member) }
    return members
  }

  private func map(_ object: ObjectReference) throws -> EntityMap {
    guard let map = store.access.schema[object.entity] else {
      throw StoreFailure.damaged("A reference to \(object)", RowDamage("the model does not have its entity", at: 0))
    }
    return map
  }
}
