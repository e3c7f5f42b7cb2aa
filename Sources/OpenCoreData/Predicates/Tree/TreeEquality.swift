import Foundation

/// Tells whether two trees have the same form and equal constants at their leaves, and computes hashes that are equal
/// for such trees.
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
    case (.call(let left, let leftName, let leftArguments), .call(let right, let rightName, let rightArguments)):
      leftName == rightName && leftArguments == rightArguments && left.isEqual(right)
    case (.fetch(let left, let leftContext, let leftCounts), .fetch(let right, let rightContext, let rightCounts)):
      leftCounts == rightCounts && left.isEqual(right) && leftContext.isEqual(rightContext)
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

  // MARK: Hashes

  static func hash(of predicate: NSPredicate) -> Int { hash { combine(predicate, into: &$0) } }

  static func hash(of expression: NSExpression) -> Int { hash { combine(expression.form, into: &$0) } }

  private static func hash(_ combine: (inout Hasher) -> Void) -> Int {
    var hasher = Hasher()
    combine(&hasher)
    return hasher.finalize()
  }

  private static func combine(_ predicate: NSPredicate, into hasher: inout Hasher) {
    switch predicate {
    case let comparison as NSComparisonPredicate:
      hasher.combine(comparison.predicateOperatorType)
      combine(comparison.leftExpression.form, into: &hasher)
      combine(comparison.rightExpression.form, into: &hasher)
    case let compound as NSCompoundPredicate:
      hasher.combine(compound.compoundPredicateType)
      for part in compound.subpredicates { combine(part, into: &hasher) }
    // Two equal constant predicates of Foundation's may have different hashes.
    default: hasher.combine(0)
    }
  }

  private static func combine(_ form: NSExpression.Form, into hasher: inout Hasher) {
    switch form {
    case .constant(let value): combine(PredicateValue(value), into: &hasher)
    case .variable(let name), .keyPath(let name): hasher.combine(name)
    case .function(let function, let arguments):
      hasher.combine(function)
      for argument in arguments { combine(argument.form, into: &hasher) }
    case .path(let path, let operand):
      hasher.combine(path)
      combine(operand.form, into: &hasher)
    case .call(let target, let name, let arguments):
      hasher.combine(name)
      for part in [target] + arguments { combine(part.form, into: &hasher) }
    case .fetch(let request, let context, _): for part in [request, context] { combine(part.form, into: &hasher) }
    case .aggregate(let parts): for part in parts { combine(part.form, into: &hasher) }
    case .set(let operation, let left, let right):
      hasher.combine(operation)
      combine(left.form, into: &hasher)
      combine(right.form, into: &hasher)
    case .subquery(let collection, let variable, let predicate):
      hasher.combine(variable)
      combine(collection.form, into: &hasher)
      combine(predicate, into: &hasher)
    case .conditional(let predicate, let yes, let no):
      combine(predicate, into: &hasher)
      combine(yes.form, into: &hasher)
      combine(no.form, into: &hasher)
    case .evaluatedObject, .anyKey, .block: hasher.combine(0)
    }
  }

  /// Two kinds of constants add nothing to the hash: values that are not instances of a class, because their hash may
  /// differ each time they are boxed, and unordered collections, because equal ones may differ in their number of
  /// elements.
  private static func combine(_ constant: PredicateValue, into hasher: inout Hasher) {
    switch constant {
    case .collection(let elements, ordered: true): for element in elements { combine(element, into: &hasher) }
    case .collection(_, ordered: false): hasher.combine(0)
    case .object(let value) where !(type(of: value) is AnyClass): hasher.combine(0)
    default: hasher.combine(constant)
    }
  }
}
