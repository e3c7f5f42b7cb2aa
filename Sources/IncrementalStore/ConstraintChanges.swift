import CoreData

/// The entries to add and remove because a model has other uniqueness constraints than the previous one, or because
/// other entities inherit them.
///
/// Reads each row of the entities with a new constraint, and with a constraint that other entities had before.
struct ConstraintChanges {
  private let former: Schema
  private let schema: Schema

  init(from former: Schema, to schema: Schema) {
    self.former = former
    self.schema = schema
  }

  /// - Throws: 134111 if two objects have the same values for a new constraint.
  func collect(_ snapshot: any RowSnapshot, into entries: inout EntryChanges) throws {
    let (old, new) = (tables(of: former), tables(of: schema))
    for number in old.keys.sorted() where old[number] != new[number] {
      var prefix = ByteOutput()
      prefix.varint(number)
      try snapshot.forEachEntry(beginningWith: prefix.bytes, reverse: false) { entry in
        entries.remove(entry)
        return true
      }
    }
    for entity in schema.entities {
      for constraint in entity.constraints where old[constraint.number] != new[constraint.number] {
        try build(constraint, of: entity, new[constraint.number] ?? [], snapshot, &entries)
      }
    }
  }

  /// For the number of each constraint, the tables of the entities that have it, except new entities, which have no
  /// rows yet.
  private func tables(of schema: Schema) -> [UInt32: Set<UInt32>] {
    let known = Set(former.entities.map(\.number))
    var tables: [UInt32: Set<UInt32>] = [:]
    for entity in schema.entities where !entity.constraints.isEmpty {
      let family = known.intersection(schema.family(of: entity.number).map(\.number))
      for constraint in entity.constraints { tables[constraint.number] = family }
    }
    return tables
  }

  private func build(
    _ constraint: Schema.Constraint, of entity: Schema.Entity, _ tables: Set<UInt32>, _ snapshot: any RowSnapshot,
    _ entries: inout EntryChanges
  ) throws {
    var keys: Set<[UInt8]> = []
    for table in tables.sorted() {
      try snapshot.forEachRow(in: table, from: nil) { row in
        let object = ObjectReference(entity: table, reference: row.reference)
        let key = try StoreFailure.reading("The row of \(object)") {
          try UniqueKey.key(of: constraint.attributes, in: row.bytes, normalized: UniqueKey.normalized)
        }
        guard let key else { return true }
        guard keys.insert(key).inserted else { throw KeySource.violated(by: entity.name) }
        entries.add(Entry.holder(object, of: key, constraint.number))
        return true
      }
    }
  }
}

extension UniqueKey {
  /// A string in Unicode normalisation form C, which keys require.
  static func normalized(_ text: String) -> String { text.precomposedStringWithCanonicalMapping }
}
