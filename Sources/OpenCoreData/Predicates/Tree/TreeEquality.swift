import Foundation

/// Whether two trees have the same form, and equal constants at their leaves.
enum TreeEquality {
  static func equal(_ left: NSPredicate, _ right: NSPredicate) -> Bool {
    switch (left, right) {
    case _ where left === right: true
    case (let left as NSComparisonPredicate, let right as NSComparisonPredicate):
      left.predicateOperatorType == right.predicateOperatorType && left.options == right.options
        && left.comparisonPredicateModifier == right.comparisonPredicateModifier
        && left.leftExpression.isEqual(right.leftExpression) && left.rightExpression.isEqual(right.rightExpression)
    case (let left as NSCompoundPredicate, let right as NSCompoundPredicate):
      left.compoundPredicateType == right.compoundPredicateType
        && left.subpredicates.elementsEqual(right.subpredicates, by: equal)
    case (is NSComparisonPredicate, _), (is NSCompoundPredicate, _), (_, is NSComparisonPredicate),
      (_, is NSCompoundPredicate):
      false
    default: left.isEqual(right)
    }
  }

  static func equal(_ left: NSExpression.Form, _ right: NSExpression.Form) -> Bool {
    switch (left, right) {
    case (.constant(let left), .constant(let right)): PredicateValue(left) == PredicateValue(right)
    case (.evaluatedObject, .evaluatedObject), (.anyKey, .anyKey): true
    case (.variable(let left), .variable(let right)): left == right
    case (.keyPath(let left), .keyPath(let right)): left == right
    case (.function(let left, let leftArguments), .function(let right, let rightArguments)):
      left == right && leftArguments == rightArguments
    case (.path(let left, let leftOperand), .path(let right, let rightOperand)):
      left == right && leftOperand.isEqual(rightOperand)
    case (.aggregate(let left), .aggregate(let right)): left == right
    case (.set(let left, let left1, let left2), .set(let right, let right1, let right2)):
      left == right && left1.isEqual(right1) && left2.isEqual(right2)
    case (.subquery(let left, let leftName, let leftTest), .subquery(let right, let rightName, let rightTest)):
      leftName == rightName && left.isEqual(right) && equal(leftTest, rightTest)
    case (.conditional(let left, let left1, let left2), .conditional(let right, let right1, let right2)):
      equal(left, right) && left1.isEqual(right1) && left2.isEqual(right2)
    default: false
    }
  }
}
