/// Completes the rows of an entity that were written before a property existed, or while it was optional:
/// STORE-FORMAT.md, section 5.
package struct RowCompletion: Sendable {
  /// The properties with a value for absent fields or for null, in the order of their numbers.
  private let properties: [Schema.Property]

  /// Nil if the rows of the entity need none.
  package init?(of entity: UInt32, _ schema: Schema) {
    properties = schema.lineage(of: entity).flatMap(\.properties)
      .filter { $0.valueIfAbsent != nil || $0.valueIfNull != nil }.sorted { $0.number < $1.number }
    guard !properties.isEmpty else { return nil }
  }

  /// The row with the values that it lacks; nil if it lacks none.
  package func completed(_ row: [UInt8]) throws(RowDamage) -> [UInt8]? {
    guard try isIncomplete(row) else { return nil }
    var writer = FieldWriter()
    var rest = properties[...]
    var fields = try FieldReader(row)
    while let (number, field) = try fields.next() {
      while let absent = rest.first, absent.number < number {
        writer.write(absent.valueIfAbsent ?? absent.valueIfNull, absent.number)
        rest.removeFirst()
      }
      let value = rest.first?.number == number && field.type == .null ? rest.first?.valueIfNull : nil
      if rest.first?.number == number { rest.removeFirst() }
      if let value { writer.write(value, number) } else { writer.copy(number, field, of: row) }
    }
    for absent in rest { writer.write(absent.valueIfAbsent ?? absent.valueIfNull, absent.number) }
    return writer.bytes
  }

  private func isIncomplete(_ row: [UInt8]) throws(RowDamage) -> Bool {
    // What such a row lacks is not known.
    guard !FieldReader.isPartial(row) else { return false }
    var rest = properties[...]
    var fields = try FieldReader(row)
    while let next = rest.first, let (number, field) = try fields.next() {
      guard number >= next.number else { continue }
      guard number == next.number, field.type != .null || next.valueIfNull == nil else { return true }
      rest.removeFirst()
    }
    return !rest.isEmpty
  }
}

extension Schema {
  /// What completes the rows of each entity that need it, by the number of the entity.
  package var completions: [UInt32: RowCompletion] {
    var completions: [UInt32: RowCompletion] = [:]
    for entity in entities { completions[entity.number] = RowCompletion(of: entity.number, self) }
    return completions
  }
}

extension FieldWriter {
  /// Writes a field with a value that a schema has.
  fileprivate mutating func write(_ value: Schema.StoredField?, _ number: UInt32) {
    guard let value else { return }
    copy(number, value.field, of: value.content)
  }
}
