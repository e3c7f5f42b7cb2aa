import Foundation

/// Puts values in the place of variables, except of those that a subquery iterates with, and of constants.
struct Substitution {
  var values: [String: Any]
  /// What takes the place of a constant; nil for nothing.
  var constant: (Any) -> Any? = { _ in nil }

  func apply(to predicate: NSPredicate) -> NSPredicate {
    switch predicate {
    case let comparison as NSComparisonPredicate:
      NSComparisonPredicate(
        leftExpression: apply(to: comparison.leftExpression), rightExpression: apply(to: comparison.rightExpression),
        modifier: comparison.comparisonPredicateModifier, type: comparison.predicateOperatorType,
        options: comparison.options)
    case let compound as NSCompoundPredicate:
      CompoundPredicate(type: compound.compoundPredicateType, subpredicates: compound.subpredicates.map(apply))
    default: predicate
    }
  }

  func apply(to expression: NSExpression) -> NSExpression {
    switch expression.form {
    case .evaluatedObject, .keyPath, .anyKey: expression
    case .constant(let value): value.flatMap(constant).map { NSExpression(forConstantValue: $0) } ?? expression
    case .variable(let name): values[name].map { NSExpression.substituting($0) } ?? expression
    case .function(let function, let arguments): NSExpression(.function(function, arguments.map(apply)))
    case .path(let path, let operand): apply(to: operand).appending(path)
    case .aggregate(let elements): NSExpression(.aggregate(elements.map(apply)))
    case .set(let operation, let left, let right):
      NSExpression(.set(operation, apply(to: left), apply(to: right)))
    case .subquery(let collection, let variable, let predicate):
      NSExpression(
        .subquery(apply(to: collection), variable: variable, hiding(variable).apply(to: predicate)))
    case .block(let block, let arguments): NSExpression(.block(block, arguments.map(apply)))
    case .conditional(let predicate, let yes, let no):
      NSExpression(.conditional(apply(to: predicate), apply(to: yes), apply(to: no)))
    }
  }

  private func hiding(_ variable: String) -> Substitution {
    var inner = self
    inner.values[variable] = nil
    return inner
  }
}

extension NSExpression {
  /// The expression that stands for a value in a format: the value as a constant, or itself if it is an expression.
  static func substituting(_ value: Any?) -> NSExpression {
    value as? NSExpression ?? NSExpression(forConstantValue: value is NSNull ? nil : value)
  }
}
