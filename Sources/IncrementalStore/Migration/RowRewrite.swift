/// A change of the rows of some entities that a migration makes, because a schema alone cannot express it.
///
/// Rows only get more fields, or the values that the former schema says they have. So they still have the same meaning
/// under the former schema when they are rewritten, and rewriting a row again changes nothing.
struct RowRewrite {
  enum Change {
    /// A field is copied under the number of another property.
    case copy(from: UInt32, to: UInt32)
    /// A field is added.
    case add(Schema.StoredField, to: UInt32)
    /// The value of a field, in another type, is added under the number of another property.
    case convert(TypeConversion, from: UInt32, to: UInt32)
    /// The values that the former schema has for absent fields and for null are written.
    case complete
  }

  let entities: Set<UInt32>
  let change: Change

  init(_ entities: [UInt32], _ change: Change) { (self.entities, self.change) = (Set(entities), change) }

  /// Whether the rows of an entity get a field with this number.
  func sets(_ number: UInt32, in entity: UInt32) -> Bool {
    switch change {
    case .copy(_, let to), .add(_, let to), .convert(_, _, let to): to == number && entities.contains(entity)
    case .complete: false
    }
  }
}

/// The rows of one entity as they are after a migration.
struct RowRewriter {
  private let changes: [RowRewrite.Change]
  private let completion: RowCompletion?

  /// Nil if the rows of the entity stay as they are.
  init?(_ entity: UInt32, _ rewrites: [RowRewrite], _ former: Schema) {
    changes = rewrites.filter { $0.entities.contains(entity) }.map(\.change)
    guard !changes.isEmpty else { return nil }
    completion = RowCompletion(of: entity, former)
  }

  /// - Throws: 134190 if a value cannot be converted.
  func rewritten(_ row: StoredRow, _ entity: UInt32) throws -> [UInt8] {
    try StoreFailure.reading("The row of \(ObjectReference(entity: entity, reference: row.reference))") {
      try rewritten(row.bytes)
    }
  }

  func rewritten(_ row: [UInt8]) throws -> [UInt8] {
    let row = try completion?.completed(row) ?? row
    var fields: [UInt32: (field: Field, bytes: [UInt8])] = [:]
    var reader = try FieldReader(row)
    while let (number, field) = try reader.next() { fields[number] = (field, row) }
    for change in changes {
      switch change {
      case .copy(let from, let to): fields[to] = fields[from] ?? fields[to]
      case .add(let value, let to):
        guard fields[to] == nil else { continue }
        fields[to] = (value.field, value.content)
      case .convert(let conversion, let from, let to):
        guard let field = fields[from] else { continue }
        fields[to] = try conversion.converted(field.field, of: field.bytes).map { ($0.field, $0.content) }
      case .complete: break
      }
    }
    var writer = FieldWriter()
    for (number, (field, bytes)) in fields.sorted(by: { $0.key < $1.key }) { writer.copy(number, field, of: bytes) }
    return writer.bytes
  }
}
