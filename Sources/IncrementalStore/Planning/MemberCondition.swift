package import CoreData

/// What at least one member of a to-many relationship must satisfy, as in `SUBQUERY(labels, $l, $l.name == 'x').@count > 0`.
package struct MemberCondition {
  package let key: String
  /// The predicate of the subquery, about a member as the evaluated object.
  package let predicate: NSPredicate

  /// Nil if a comparison is not of this kind, or if its subquery is about more than a member and constants.
  package init?(_ comparison: NSComparisonPredicate) {
    guard let (operand, path) = comparison.leftExpression.steps, path == "@count", comparison.isTrueForAnyCount,
      operand.expressionType == .subquery, let key = (operand.collection as? NSExpression)?.path,
      let predicate = Self.predicate(operand.predicate, about: operand.variable)
    else { return nil }
    self.key = key
    self.predicate = predicate
  }

  /// The predicate with the evaluated object in the place of a variable; nil if it has other variables or key paths.
  private static func predicate(_ predicate: NSPredicate, about variable: String) -> NSPredicate? {
    switch predicate {
    case let comparison as NSComparisonPredicate:
      guard let left = expression(comparison.leftExpression, about: variable),
        let right = expression(comparison.rightExpression, about: variable)
      else { return nil }
      return NSComparisonPredicate(
        leftExpression: left, rightExpression: right, modifier: comparison.comparisonPredicateModifier,
        type: comparison.predicateOperatorType, options: comparison.options)
    case let compound as NSCompoundPredicate:
      let parts = compound.parts.compactMap { Self.predicate($0, about: variable) }
      guard parts.count == compound.parts.count else { return nil }
      return NSCompoundPredicate(type: compound.compoundPredicateType, subpredicates: parts)
    default: return nil
    }
  }

  private static func expression(_ expression: NSExpression, about variable: String) -> NSExpression? {
    if expression.isConstant || expression.several != nil { return expression }
    if expression.isVariable(variable) { return .expressionForEvaluatedObject() }
    guard let (operand, path) = expression.steps, operand.isVariable(variable) else { return nil }
    return NSExpression(forKeyPath: path)
  }
}

extension NSComparisonPredicate {
  /// Whether the comparison is true for every number but 0.
  fileprivate var isTrueForAnyCount: Bool {
    guard comparisonPredicateModifier == .direct, let number = rightExpression.constant as? NSNumber else {
      return false
    }
    return switch predicateOperatorType {
    case .greaterThan, .notEqualTo: number == 0
    case .greaterThanOrEqualTo: number == 1
    default: false
    }
  }
}

extension NSExpression {
  fileprivate func isVariable(_ name: String) -> Bool { expressionType == .variable && variable == name }

  /// The expression at whose value a key path begins, and the key path.
  fileprivate var steps: (operand: NSExpression, path: String)? {
    guard expressionType == .function, function == "valueForKeyPath:", let path = arguments?.first?.keyPath else {
      return nil
    }
    return (operand, path)
  }
}
