import Foundation

/// The new values that a batch update gives to the properties of an object, computed from its row.
package struct BatchAssignments<Row> {
  /// The names of the properties.
  package let names: [String]
  /// What makes the value of each.
  @usableFromInline
  package let values: [(Row) throws -> ManagedValue]

  /// - Throws: ``NSCoreDataError`` for properties that the entity does not have or that a batch request cannot change;
  ///   `FetchRequestError` for an expression that does not fit the entity; validation errors for constants.
  package init(
    _ request: NSBatchUpdateRequest, of entity: NSEntityDescription, in store: NSPersistentStore,
    reading reader: RowReader<Row>
  ) throws {
    let compiler = FetchCompiler(validator: FetchRequestValidator(entity), reader: reader)
    let made = try (request.propertiesToUpdate ?? [:]).map {
      key, value -> (property: BatchProperty, value: (Row) throws -> ManagedValue) in
      let name = (key.base as? NSPropertyDescription)?.name ?? key.base as? String ?? "\(key.base)"
      let property = try BatchProperty(name, of: entity, in: store)
      return (property, try Self.value(value, property, compiler))
    }.sorted { $0.property.name < $1.property.name }
    names = made.map(\.property.name)
    values = made.map(\.value)
    if let twice = zip(names, names.dropFirst()).first(where: { $0 == $1 })?.0 {
      throw CoreDataError.make(
        NSCoreDataError, "A batch request sets \(entity.name ?? "").\(twice) twice, by its name and by its description."
      )
    }
    for entity in request.includesSubentities ? entity.family : [entity] {
      for name in names where entity.isDerivedByOthers(from: name, store.derivations) { throw entity.refusal(name) }
    }
  }

  private static func value(
    _ value: Any, _ property: BatchProperty, _ compiler: FetchCompiler<Row>
  ) throws -> (Row) throws -> ManagedValue {
    guard let expression = value as? NSExpression else { return try constant(value, property) }
    if case .constant(let value) = expression.form { return try constant(value, property) }
    guard property.attribute != nil else {
      throw CoreDataError.make(
        NSCoreDataError,
        "A batch request sets the relationship \(property.name) to an expression that is not constant.")
    }
    let read = try compiler.value(of: expression)
    return { row in try property.unlessMissing(property.value(of: read(row))) }
  }

  private static func constant(
    _ value: Any?, _ property: BatchProperty
  ) throws -> (Row) throws -> ManagedValue {
    let value = try property.unlessMissing(property.value(of: value))
    return { _ in value }
  }

  /// Replaces values by the new ones of properties.
  ///
  /// - Parameter places: The places of the properties among ``names``, in the order that the values are to have.
  /// - Throws: validation errors for computed values.
  @inlinable
  package func read(_ places: [Int], of row: Row, into made: inout [ManagedValue]) throws {
    made.removeAll(keepingCapacity: true)
    for place in places { made.append(try values[place](row)) }
  }
}
