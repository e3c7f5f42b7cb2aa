/// The entries of a uniqueness constraint that is new, made from the rows as they are after the migration.
struct KeySource: EntrySource {
  /// The code of the error for objects that violate a new constraint.
  static let violation = 134111

  private let constraint: Schema.Constraint
  /// The name of the entity that declares the constraint.
  private let entity: String
  private let tables: Set<UInt32>
  private let rewriters: [UInt32: RowRewriter]
  private let completions: [UInt32: RowCompletion]

  var number: UInt32 { constraint.number }

  /// The sources of all constraints that the former schema does not have.
  static func all(_ evolution: SchemaEvolution) -> [KeySource] {
    let (former, schema) = (evolution.former, evolution.schema)
    let known = Set(former.entities.flatMap(\.constraints).map(\.number))
    let rewriters = Dictionary(uniqueKeysWithValues: RowRewriting.rewriters(evolution).map { ($0.entity, $0.rewriter) })
    let completions = schema.completions
    return schema.entities.flatMap { entity in
      entity.constraints.filter { !known.contains($0.number) }.map { constraint in
        KeySource(
          constraint: constraint, entity: entity.name, tables: schema.tables(of: entity.number, knownTo: former),
          rewriters: rewriters, completions: completions)
      }
    }
  }

  func reader() -> any EntryReader { Reader(source: self, rows: RowPlace(tables)) }

  private struct Reader: EntryReader {
    let source: KeySource
    var rows: RowPlace

    mutating func read(_ snapshot: any RowSnapshot, limit: Int, _ body: ([UInt8]) throws -> Void) throws -> Bool {
      try rows.read(snapshot, limit: limit) { object, row in
        if let key = try source.key(of: object, row) { try body(Entry.holder(object, of: key, source.number)) }
      }
    }
  }

  private func key(of object: ObjectReference, _ row: StoredRow) throws -> [UInt8]? {
    try StoreFailure.reading("The row of \(object)") {
      let bytes = try rewriters[object.entity]?.rewritten(row.bytes) ?? row.bytes
      return try UniqueKey.key(
        of: constraint.attributes, in: completions[object.entity]?.completed(bytes) ?? bytes,
        normalized: UniqueKey.normalized)
    }
  }

  /// - Throws: 134111 if two objects have the same key.
  func check(_ snapshot: any RowSnapshot) throws {
    var last: ArraySlice<UInt8> = []
    try snapshot.forEachEntry(beginningWith: Entry.all(of: number)) { entry in
      let key = try StoreFailure.reading("An entry of the constraint \(number)") { try Entry.key(in: entry) }
      guard key != last else { throw Self.violated(by: entity) }
      last = key
      return true
    }
  }

  static func violated(by entity: String) -> any Error {
    StoreFailure.make(
      violation, "The store has objects of \(entity) that a new uniqueness constraint of the model does not allow.")
  }
}

extension Schema {
  /// The tables with the objects of an entity, except those of entities that a former schema does not have, which have
  /// no rows yet.
  func tables(of entity: UInt32, knownTo former: Schema) -> Set<UInt32> {
    Set(family(of: entity).map(\.number)).intersection(former.entities.map(\.number))
  }
}
