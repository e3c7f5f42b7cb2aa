import Foundation

extension NSFetchRequest {
  /// Throws if the request is invalid for an entity.
  func check(for entity: NSEntityDescription) throws(FetchRequestError) {
    guard resultType != .dictionaryResultType, propertiesToGroupBy == nil, havingPredicate == nil,
      predicate?.isSurelyEvaluable ?? true
    else {
      _ = try CompiledFetch(self, of: entity, reading: RowReader<NSManagedObject>.keyed)
      return
    }
    let validator = FetchRequestValidator(entity)
    if let predicate { try validator.check(predicate) }
    for descriptor in sortDescriptors ?? [] { try validator.check(descriptor) }
  }
}

extension NSPredicate {
  /// Whether the predicate can surely be evaluated for objects of an entity. Otherwise compiling the predicate tells.
  ///
  /// - Throws: `FetchRequestError` if the predicate does not fit the entity.
  package func isSurelyEvaluable(for entity: NSEntityDescription) throws(FetchRequestError) -> Bool {
    guard isSurelyEvaluable else { return false }
    try FetchRequestValidator(entity).check(self)
    return true
  }

  /// Whether the predicate consists of comparisons that can be evaluated if their key paths are valid.
  fileprivate var isSurelyEvaluable: Bool {
    switch self {
    case let comparison as NSComparisonPredicate:
      comparison.predicateOperatorType != .matches && comparison.leftExpression.isSurelyEvaluable
        && comparison.rightExpression.isSurelyEvaluable
    case let compound as NSCompoundPredicate: compound.subpredicates.allSatisfy(\.isSurelyEvaluable)
    default: false
    }
  }
}

extension NSExpression {
  fileprivate var isSurelyEvaluable: Bool {
    switch form {
    case .constant, .evaluatedObject, .keyPath: true
    default: false
    }
  }
}

/// Checks that a fetch request fits its entity.
struct FetchRequestValidator {
  let entity: NSEntityDescription
  /// The expressions that have the same value in all rows of a group; nil if rows are not grouped.
  var grouping: [NSExpression]?
  /// The variables of the enclosing subqueries.
  private var iterators: [String: KeyPathEnd] = [:]

  init(_ entity: NSEntityDescription, grouping: [NSExpression]? = nil) {
    self.entity = entity
    self.grouping = grouping
  }

  // MARK: Predicates

  func check(_ predicate: NSPredicate) throws(FetchRequestError) {
    switch predicate {
    case let comparison as NSComparisonPredicate: try check(comparison)
    case let compound as NSCompoundPredicate: for part in compound.subpredicates { try check(part) }
    case NSPredicate(value: true), NSPredicate(value: false): break
    default: try checkObject()
    }
  }

  /// Several values are allowed only with a quantifier, and for operators that search for an element.
  private func check(_ comparison: NSComparisonPredicate) throws(FetchRequestError) {
    let (left, right) = (comparison.leftExpression, comparison.rightExpression)
    let type = comparison.predicateOperatorType
    switch (comparison.comparisonPredicateModifier, type) {
    case (.direct, .contains): _ = try end(of: left)
    case (.direct, _): try checkToOne(left)
    default: _ = try end(ofSeveral: left)
    }
    if type == .in { _ = try end(of: right) } else { try checkToOne(right) }
  }

  func check(_ descriptor: NSSortDescriptor) throws(FetchRequestError) {
    try checkToOne(descriptor.key.map { NSExpression(forKeyPath: $0) } ?? .expressionForEvaluatedObject())
  }

  // MARK: Expressions

  /// Throws if the expression has several values.
  func checkToOne(_ expression: NSExpression) throws(FetchRequestError) {
    guard try !end(of: expression).isToMany else { throw error(.toMany, expression) }
  }

  /// Throws if rows are grouped: a group has no object.
  private func checkObject() throws(FetchRequestError) {
    guard grouping == nil else { throw error(.notGrouped, .expressionForEvaluatedObject()) }
  }

  /// Throws if the expression cannot have several values.
  private func end(ofSeveral expression: NSExpression) throws(FetchRequestError) -> KeyPathEnd {
    let end = try end(of: expression)
    guard end.canBeToMany else { throw error(.notToMany, expression) }
    return end
  }

  private func end(of expression: NSExpression) throws(FetchRequestError) -> KeyPathEnd {
    if grouping?.contains(expression) == true { return try ofEachRow.end(of: expression) }
    switch expression.form {
    case .constant, .anyKey: return .anything
    case .variable(let name): return iterators[name] ?? .anything
    case .evaluatedObject:
      try checkObject()
      return KeyPathEnd(value: .object(entity))
    case .keyPath(let path):
      let end = try follow(path, from: KeyPathEnd(value: .object(entity)), in: expression)
      guard grouping == nil else { throw error(.notGrouped, expression) }
      return end
    case .path(let path, let operand): return try follow(path, from: try end(of: operand), in: expression)
    case .call, .fetch: throw error(.notEvaluable(.unsupported("\(expression)")), expression)
    case .function(let function, let arguments): return try end(of: expression, function, arguments)
    case .subquery(let collection, let variable, let predicate):
      return try end(ofSubquery: collection, variable, predicate)
    case .aggregate(let parts): return try anything(of: parts)
    case .block(_, let arguments):
      try checkObject()
      return try anything(of: arguments)
    case .set(_, let left, let right): return try anything(of: [left, right])
    case .conditional(let predicate, let yes, let no):
      try check(predicate)
      return try anything(of: [yes, no])
    }
  }

  private func follow(
    _ path: String, from start: KeyPathEnd, in expression: NSExpression
  ) throws(FetchRequestError) -> KeyPathEnd {
    do throws(KeyPathBreak) {
      return try start.following(path)
    } catch {
      throw self.error(error == .transient ? .transientProperty : .unknownKeyPath, expression)
    }
  }

  private func end(
    of expression: NSExpression, _ function: Function, _ arguments: [NSExpression]
  ) throws(FetchRequestError) -> KeyPathEnd {
    if iterators.isEmpty, let aggregation = expression.aggregation {
      _ = try ofEachRow.end(of: aggregation.argument)
      return .anything
    }
    if function == .index { return try anything(of: [arguments[1]], or: try end(of: arguments[0]).element) }
    return try anything(of: arguments)
  }

  private func end(
    ofSubquery collection: NSExpression, _ variable: String, _ predicate: NSPredicate
  ) throws(FetchRequestError) -> KeyPathEnd {
    var end = try end(ofSeveral: collection)
    var inner = self
    inner.iterators[variable] = end.element
    try inner.check(predicate)
    end.isToMany = true
    return end
  }

  private func anything(
    of parts: [NSExpression], or end: KeyPathEnd = .anything
  ) throws(FetchRequestError) -> KeyPathEnd {
    for part in parts { _ = try self.end(of: part) }
    return end
  }

  private var ofEachRow: FetchRequestValidator {
    var single = self
    single.grouping = nil
    return single
  }

  private func error(_ reason: FetchRequestError.Reason, _ expression: NSExpression) -> FetchRequestError {
    FetchRequestError(reason, entity, keyPath: expression.name)
  }
}
