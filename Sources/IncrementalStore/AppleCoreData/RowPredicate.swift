import CoreData

/// Evaluates a predicate on rows.
struct RowPredicate {
  private let source: RowSource

  init(_ source: RowSource) { self.source = source }

  /// A closure that evaluates the predicate for a row. Making it takes time in proportion to the size of the predicate.
  func test(_ predicate: NSPredicate?) -> (SourceRow) -> Bool {
    switch predicate {
    case nil: return { _ in true }
    case let comparison as NSComparisonPredicate:
      if let test = orderTest(comparison) { return test }
      let comparison = PredicateRewriter(replacement: standIn).rewritten(comparison)
      return { comparison.evaluate(with: RowObject($0)) }
    case let compound as NSCompoundPredicate:
      let tests = compound.parts.map(test)
      if compound.compoundPredicateType == .or { return { row in tests.contains { $0(row) } } }
      let isNegated = compound.compoundPredicateType == .not
      return { row in tests.allSatisfy { $0(row) } != isNegated }
    case let predicate?:
      if predicate.isEqual(NSPredicate(value: true)) { return { _ in true } }
      if predicate.isEqual(NSPredicate(value: false)) { return { _ in false } }
      // A block, or a predicate class of the application: evaluated with the object.
      let context = source.context
      return { predicate.evaluate(with: context?.object(with: $0.objectID)) }
    }
  }

  // MARK: Objects

  /// Compares objects, as in `SELF > %@`, by their references. Objects of another store have no order, so that the
  /// comparison is false.
  private func orderTest(_ comparison: NSComparisonPredicate) -> ((SourceRow) -> Bool)? {
    guard comparison.leftExpression.expressionType == .evaluatedObject,
      comparison.rightExpression.expressionType == .constantValue,
      comparison.comparisonPredicateModifier == .direct,
      let id = NSManagedObjectID.identifying(comparison.rightExpression.constantValue),
      let order = Self.order(comparison.predicateOperatorType)
    else { return nil }
    guard let reference = reference(id) else { return { _ in false } }
    return { order($0.stored.reference, reference.reference) }
  }

  private static func order(_ type: NSComparisonPredicate.Operator) -> ((RowReference, RowReference) -> Bool)? {
    switch type {
    case .lessThan: { $0 < $1 }
    case .lessThanOrEqualTo: { $0 <= $1 }
    case .greaterThan: { $0 > $1 }
    case .greaterThanOrEqualTo: { $0 >= $1 }
    default: nil
    }
  }

  /// Replaces the objects and identifiers of a constant by rows, because only rows compare with rows.
  private func standIn(_ expression: NSExpression) -> NSExpression? {
    guard expression.expressionType == .constantValue, let constant = expression.constantValue else { return nil }
    if let row = row(constant) { return NSExpression(forConstantValue: row) }
    guard let elements = NSExpression.elements(of: constant), elements.contains(where: { row($0) != nil }) else {
      return nil
    }
    let rows = elements.map { row($0) ?? $0 }
    return NSExpression(forConstantValue: constant is NSSet ? NSSet(array: rows) : NSArray(array: rows))
  }

  private func row(_ constant: Any) -> RowObject? {
    NSManagedObjectID.identifying(constant).flatMap(reference).flatMap(source.row).map(RowObject.init)
  }

  /// Nil for an identifier that is not of the store.
  private func reference(_ id: NSManagedObjectID) -> ObjectReference? { try? source.rows.reference(id) }
}
