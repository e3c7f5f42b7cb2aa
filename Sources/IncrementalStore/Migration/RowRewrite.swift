/// A change of the rows of some entities that a migration makes, because a schema alone cannot express it.
struct RowRewrite {
  enum Change {
    /// A field gets the number of another property.
    case move(from: UInt32, to: UInt32)
    /// A field is added.
    case add(Schema.StoredField, to: UInt32)
    /// The values that the former schema has for absent fields and for null are written.
    case complete
  }

  let entities: Set<UInt32>
  let change: Change

  init(_ entities: [UInt32], _ change: Change) { (self.entities, self.change) = (Set(entities), change) }

  /// Whether the rows of an entity get a field with this number.
  func sets(_ number: UInt32, in entity: UInt32) -> Bool {
    switch change {
    case .move(_, let to), .add(_, let to): to == number && entities.contains(entity)
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

  func rewritten(_ row: [UInt8]) throws(RowDamage) -> [UInt8] {
    let row = try completion?.completed(row) ?? row
    var fields: [UInt32: (field: Field, bytes: [UInt8])] = [:]
    var reader = try FieldReader(row)
    while let (number, field) = try reader.next() { fields[number] = (field, row) }
    for change in changes {
      switch change {
      case .move(let from, let to): fields[to] = fields.removeValue(forKey: from) ?? fields[to]
      case .add(let value, let to):
        guard fields[to] == nil else { continue }
        fields[to] = (value.field, value.content)
      case .complete: break
      }
    }
    var writer = FieldWriter()
    for (number, (field, bytes)) in fields.sorted(by: { $0.key < $1.key }) { writer.copy(number, field, of: bytes) }
    return writer.bytes
  }
}
