import CoreData

/// Replaces some expressions in a predicate. A predicate or expression without any of them is returned as the same
/// object.
struct PredicateRewriter {
  /// The replacement of an expression; nil if it is not replaced.
  let replacement: (NSExpression) -> NSExpression?

  func rewritten(_ predicate: NSPredicate) -> NSPredicate {
    switch predicate {
    case let comparison as NSComparisonPredicate:
      let (left, right) = (comparison.leftExpression, comparison.rightExpression)
      let (newLeft, newRight) = (rewritten(left), rewritten(right))
      guard newLeft !== left || newRight !== right else { return predicate }
      return NSComparisonPredicate(
        leftExpression: newLeft, rightExpression: newRight, modifier: comparison.comparisonPredicateModifier,
        type: comparison.predicateOperatorType, options: comparison.options)
    case let compound as NSCompoundPredicate:
      let parts = compound.parts
      let new = parts.map(rewritten)
      return isSame(parts, new)
        ? predicate : NSCompoundPredicate(type: compound.compoundPredicateType, subpredicates: new)
    default: return predicate
    }
  }

  func rewritten(_ expression: NSExpression) -> NSExpression {
    if let replacement = replacement(expression) { return replacement }
    switch expression.expressionType {
    case .aggregate:
      guard let elements = expression.collection as? [NSExpression] else { return expression }
      let new = elements.map(rewritten)
      return isSame(elements, new) ? expression : NSExpression(forAggregate: new)
    case .function:
      guard let arguments = expression.arguments else { return expression }
      // A key path that begins at another expression, as in `SUBQUERY(…).@count`.
      if expression.function == "valueForKeyPath:" {
        let operand = expression.operand
        let new = rewritten(operand)
        return new === operand
          ? expression : NSExpression(forFunction: new, selectorName: expression.function, arguments: arguments)
      }
      let new = arguments.map(rewritten)
      return isSame(arguments, new) ? expression : NSExpression(forFunction: expression.function, arguments: new)
    case .subquery:
      guard let collection = expression.collection as? NSExpression else { return expression }
      let predicate = expression.predicate
      let (newCollection, newPredicate) = (rewritten(collection), rewritten(predicate))
      guard newCollection !== collection || newPredicate !== predicate else { return expression }
      return NSExpression(
        forSubquery: newCollection, usingIteratorVariable: expression.variable, predicate: newPredicate)
    default: return expression
    }
  }

  private func isSame(_ old: [AnyObject], _ new: [AnyObject]) -> Bool { zip(old, new).allSatisfy(===) }
}
