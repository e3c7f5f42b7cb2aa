import Foundation

/// Replaces variables by values, except the iterator variables of subqueries, and may replace constants too.
struct Substitution {
  var values: [String: Any]
  /// Returns the value that replaces a constant; nil to keep the constant.
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
    case .call(let target, let name, let arguments):
      NSExpression(.call(apply(to: target), name: name, arguments.map(apply)))
    case .fetch(let request, let context, let isCount):
      NSFetchRequestExpression(.fetch(apply(to: request), context: apply(to: context), isCount: isCount))
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
  /// The expression that an argument of a format stands for: the argument itself if it is an expression, else its value
  /// as a constant.
  static func substituting(_ value: Any?) -> NSExpression {
    guard let value else { return NSExpression(.constant(nil)) }
    // The casts below would try to bridge these, which takes ten times as long.
    let type: Any.Type = type(of: value)
    if type == String.self || type == Date.self || type == UUID.self || type == NSManagedObjectID.self {
      return NSExpression(.constant(value))
    }
    if let object = classInstance(value) {
      return object as? NSExpression ?? NSExpression(.constant(object is NSNull ? nil : value))
    }
    // These casts bridge all elements of a collection.
    guard !(value is any Collection) else { return NSExpression(.constant(value)) }
    return value as? NSExpression ?? NSExpression(forConstantValue: value is NSNull ? nil : value)
  }
}
