import Foundation

extension NSExpression {
  /// What the expression is an aggregate of, such as `price` in `sum(price)`; nil if it is none. A function of a list,
  /// as `max({price, 10})`, is of each row by itself.
  var aggregated: NSExpression? {
    guard case .function(let function, let arguments) = form, function.isAggregate else { return nil }
    if case .aggregate = arguments[0].form { return nil }
    return arguments[0]
  }

  /// Whether a value takes several rows to compute.
  var containsAggregate: Bool {
    if aggregated != nil { return true }
    return switch form {
    case .constant, .evaluatedObject, .variable, .keyPath, .anyKey, .subquery: false
    case .function(_, let parts), .block(_, let parts), .aggregate(let parts):
      parts.contains(where: \.containsAggregate)
    case .path(_, let operand): operand.containsAggregate
    case .set(_, let left, let right): left.containsAggregate || right.containsAggregate
    case .conditional(let predicate, let yes, let no):
      predicate.containsAggregate || yes.containsAggregate || no.containsAggregate
    }
  }

  /// What errors and dictionaries call it: the key path, or what the format language does.
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

extension Function {
  /// Whether it makes one value of several.
  fileprivate var isAggregate: Bool {
    switch self {
    case .sum, .count, .minimum, .maximum, .average, .median, .mode, .standardDeviation: true
    default: false
    }
  }
}
