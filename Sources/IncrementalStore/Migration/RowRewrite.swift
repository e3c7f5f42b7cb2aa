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
    var fields = NewFields()
    for change in changes {
      switch change {
      case .copy(let from, let to):
        if let field = try fields.field(from, of: row) { fields[to] = .some(field) }
      case .add(let value, let to):
        if try fields.field(to, of: row) == nil { fields[to] = .some(value) }
      case .convert(let conversion, let from, let to):
        guard let field = try fields.field(from, of: row) else { continue }
        fields[to] = .some(try conversion.converted(field))
      case .complete: break
      }
    }
    return try fields.added(to: row)
  }
}

/// Fields that replace those of a row with the same numbers, or take them away.
private struct NewFields {
  private var all: [(number: UInt32, field: Schema.StoredField?)] = []

  /// A new field; an inner nil for one that is taken away, nil for none.
  subscript(_ number: UInt32) -> Schema.StoredField?? {
    get { all.first { $0.number == number }.map(\.field) }
    set {
      all.removeAll { $0.number == number }
      if let newValue { all.append((number, newValue)) }
    }
  }

  /// The new field with a number, or that of the row.
  func field(_ number: UInt32, of row: [UInt8]) throws(RowDamage) -> Schema.StoredField? {
    if let new = self[number] { return new }
    return try FieldReader.field(number, of: row).map { Schema.StoredField($0, of: row) }
  }

  func added(to row: [UInt8]) throws(RowDamage) -> [UInt8] {
    var rest = all.sorted { $0.number < $1.number }[...]
    var writer = FieldWriter(isPartial: FieldReader.isPartial(row))
    func write(_ new: (number: UInt32, field: Schema.StoredField?)) {
      if let field = new.field { writer.copy(new.number, field.field, of: field.content) }
    }
    var fields = try FieldReader(row)
    while let (number, field) = try fields.next() {
      while let new = rest.first, new.number <= number {
        write(new)
        rest.removeFirst()
        if new.number == number { break }
      }
      if self[number] == nil { writer.copy(number, field, of: row) }
    }
    for new in rest { write(new) }
    return writer.bytes
  }
}
