import Foundation

/// The new values that a batch update gives to the properties of an object, computed from its row.
package struct BatchAssignments<Row> {
  private struct Assignment {
    let name: String
    let slot: EntityLayout.Slot
    let value: (Row) throws -> ManagedValue
  }

  private let assignments: [Assignment]

  /// The names of the properties.
  package var names: [String] { assignments.map(\.name) }

  /// - Throws: ``NSCoreDataError`` for properties that the entity does not have or that a batch request cannot change;
  ///   `FetchRequestError` for an expression that does not fit the entity; validation errors for constants.
  package init(
    _ request: NSBatchUpdateRequest, of entity: NSEntityDescription, in store: NSPersistentStore,
    reading reader: RowReader<Row>
  ) throws {
    let compiler = FetchCompiler(validator: FetchRequestValidator(entity), reader: reader)
    assignments = try (request.propertiesToUpdate ?? [:]).map { key, value in
      let name = (key.base as? NSPropertyDescription)?.name ?? key.base as? String ?? "\(key.base)"
      let slot = entity.layout.slots[try entity.layout.place(ofBatch: name, entity)]
      let computed = try Self.value(value, slot, store, compiler)
      return Assignment(name: name, slot: slot, value: computed)
    }.sorted { $0.name < $1.name }
    for entity in request.includesSubentities ? entity.family : [entity] {
      for name in names { try entity.requireNoDerivations(from: name, store.derivations) }
    }
  }

  private static func value(
    _ value: Any, _ slot: EntityLayout.Slot, _ store: NSPersistentStore, _ compiler: FetchCompiler<Row>
  ) throws -> (Row) throws -> ManagedValue {
    guard let expression = value as? NSExpression else { return try constant(value, slot, store) }
    if case .constant(let value) = expression.form { return try constant(value, slot, store) }
    guard let type = slot.attribute?.attributeType else {
      throw CoreDataError.make(
        NSCoreDataError, "A batch request sets the relationship \(slot.name) to an expression that is not constant.")
    }
    let read = try compiler.value(of: expression)
    return { row in
      let value = read(row)
      let converted = type.convert(value)
      guard value.isNull || !converted.isNull else {
        throw slot.batchError(NSManagedObjectValidationError, value.anyValue)
      }
      return try slot.checked(slot.batchValue(converted.anyValue, in: store))
    }
  }

  private static func constant(
    _ value: Any?, _ slot: EntityLayout.Slot, _ store: NSPersistentStore
  ) throws -> (Row) throws -> ManagedValue {
    let value = try slot.checked(slot.batchValue(value, in: store))
    return { _ in value }
  }

  /// Calls `body` with the name and the new value of each property.
  ///
  /// - Throws: validation errors for computed values.
  package func forEachValue(of row: Row, _ body: (String, ManagedValue) throws -> Void) throws {
    for assignment in assignments { try body(assignment.name, assignment.value(row)) }
  }
}

extension EntityLayout.Slot {
  /// The value, unless it is none and the property needs one.
  fileprivate func checked(_ value: ManagedValue) throws -> ManagedValue {
    guard !value.isNull || isOptional else { throw batchError(NSValidationMissingMandatoryPropertyError, nil) }
    return value
  }
}
