import Foundation

extension NSExpression {
  /// The aggregate function that the expression calls and the expression whose values it aggregates, such as `price` in
  /// `sum(price)`; nil if this one is no aggregate. A function of a list, such as `max({price, 10})`, is computed for
  /// each row by itself.
  var aggregation: (function: any Aggregate, argument: NSExpression)? {
    guard case .function(let function, let arguments) = form, case .aggregate(let aggregate) = function.implementation
    else { return nil }
    if case .aggregate = arguments[0].form { return nil }
    return (aggregate, arguments[0])
  }

  /// Whether several rows are needed to compute a value.
  var containsAggregate: Bool {
    if aggregation != nil { return true }
    return switch form {
    case .constant, .evaluatedObject, .variable, .keyPath, .anyKey, .subquery: false
    case .function(_, let parts), .block(_, let parts), .aggregate(let parts):
      parts.contains(where: \.containsAggregate)
    case .path(_, let operand): operand.containsAggregate
    case .call(let target, _, let arguments): ([target] + arguments).contains(where: \.containsAggregate)
    case .fetch(let request, let context, _): request.containsAggregate || context.containsAggregate
    case .set(_, let left, let right): left.containsAggregate || right.containsAggregate
    case .conditional(let predicate, let yes, let no):
      predicate.containsAggregate || yes.containsAggregate || no.containsAggregate
    }
  }

  /// Whether the expression is the identifier of an object.
  var isIdentifier: Bool { if case .keyPath("objectID") = form { true } else { false } }

  /// The expression's name in errors and dictionaries: the key path, or the expression in the format language.
  var name: String {
    if case .keyPath(let path) = form { path } else { description }
  }
}

extension NSPredicate {
  fileprivate var containsAggregate: Bool {
    switch self {
    case let comparison as NSComparisonPredicate:
      comparison.leftExpression.containsAggregate || comparison.rightExpression.containsAggregate
    case let compound as NSCompoundPredicate: compound.subpredicates.contains(where: \.containsAggregate)
    default: false
    }
  }
}
