import CoreData

/// The entries to add and remove because a model has other uniqueness constraints than the previous one.
///
/// Reads each row of an entity that gets a new constraint, and of its subentities.
struct ConstraintChanges {
  /// The code of the error for objects that violate a new constraint.
  private static let violation = 134111

  private let former: Schema
  private let schema: Schema

  init(from former: Schema, to schema: Schema) {
    self.former = former
    self.schema = schema
  }

  /// - Throws: 134111 if two objects have the same values for a new constraint.
  func collect(_ snapshot: any RowSnapshot, into entries: inout EntryChanges) throws {
    let (old, new) = (numbers(of: former), numbers(of: schema))
    for number in old.subtracting(new).sorted() {
      var prefix = ByteOutput()
      prefix.varint(number)
      try snapshot.forEachEntry(beginningWith: prefix.bytes, reverse: false) { entry in
        entries.remove(entry)
        return true
      }
    }
    let tables = Set(former.entities.map(\.number))
    for entity in schema.entities {
      for constraint in entity.constraints where !old.contains(constraint.number) {
        let family = schema.family(of: entity.number).map(\.number).filter(tables.contains)
        try build(constraint, of: entity, family, snapshot, &entries)
      }
    }
  }

  private func numbers(of schema: Schema) -> Set<UInt32> {
    Set(schema.entities.lazy.flatMap(\.constraints).map(\.number))
  }

  private func build(
    _ constraint: Schema.Constraint, of entity: Schema.Entity, _ tables: [UInt32], _ snapshot: any RowSnapshot,
    _ entries: inout EntryChanges
  ) throws {
    var keys: Set<[UInt8]> = []
    for table in tables {
      try snapshot.forEachRow(in: table, from: nil) { row in
        let object = ObjectReference(entity: table, reference: row.reference)
        let key = try StoreFailure.reading("The row of \(object)") {
          try UniqueKey.key(of: constraint.attributes, in: row.bytes, normalized: UniqueKey.normalized)
        }
        guard let key else { return true }
        guard keys.insert(key).inserted else {
          throw StoreFailure.make(
            Self.violation,
            "The store has objects of \(entity.name) that a new uniqueness constraint of the model does not allow.")
        }
        entries.add(Entry.holder(object, of: key, constraint.number))
        return true
      }
    }
  }
}

extension UniqueKey {
  /// A string in Unicode normalisation form C, which keys require.
  static func normalized(_ text: String) -> String {
    text.isCertainlyNormalized ? text : text.precomposedStringWithCanonicalMapping
  }
}
