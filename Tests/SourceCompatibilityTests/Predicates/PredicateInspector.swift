import CoreData
import Foundation

/// Turns predicates into the where clauses of a query language.
struct QueryWriter {
  enum Problem: Error, Equatable {
    case unsupportedOperator(NSComparisonPredicate.Operator)
    case unsupportedExpression(NSExpression.ExpressionType)
    case unsupportedPredicate(String)
  }

  private(set) var arguments: [Any] = []

  mutating func clause(for predicate: NSPredicate) throws -> String {
    switch predicate {
    case let compound as NSCompoundPredicate:
      return try clause(for: compound)
    case let comparison as NSComparisonPredicate:
      return try clause(for: comparison)
    default:
      throw Problem.unsupportedPredicate(String(describing: type(of: predicate)))
    }
  }

  private mutating func clause(for compound: NSCompoundPredicate) throws -> String {
    var parts: [String] = []
    for case let predicate as NSPredicate in compound.subpredicates as [Any] {
      parts.append(try clause(for: predicate))
    }
    switch compound.compoundPredicateType {
    case .and: return "(" + parts.joined(separator: " and ") + ")"
    case .or: return "(" + parts.joined(separator: " or ") + ")"
    case .not: return "not (" + parts[0] + ")"
    @unknown default: throw Problem.unsupportedPredicate("compound")
    }
  }

  private mutating func clause(for comparison: NSComparisonPredicate) throws -> String {
    let left = try text(of: comparison.leftExpression)
    let right = try text(of: comparison.rightExpression)
    let sign: String
    switch comparison.predicateOperatorType {
    case .equalTo: sign = "="
    case .notEqualTo: sign = "<>"
    case .lessThan: sign = "<"
    case .lessThanOrEqualTo: sign = "<="
    case .greaterThan: sign = ">"
    case .greaterThanOrEqualTo: sign = ">="
    case .in: sign = "in"
    case .beginsWith where comparison.options.contains(.caseInsensitive): sign = "starts with nocase"
    case .beginsWith: sign = "starts with"
    case let other: throw Problem.unsupportedOperator(other)
    }
    return "\(left) \(sign) \(right)"
  }

  private mutating func text(of expression: NSExpression) throws -> String {
    switch expression.expressionType {
    case .keyPath:
      return expression.keyPath
    case .constantValue:
      guard let value = expression.constantValue else { return "null" }
      arguments.append(value)
      return "?"
    case .aggregate:
      let elements = expression.collection as! [NSExpression]
      return "(" + (try elements.map { try text(of: $0) }).joined(separator: ", ") + ")"
    default:
      throw Problem.unsupportedExpression(expression.expressionType)
    }
  }

  static func operators(_ rawValues: [UInt]) -> [NSComparisonPredicate.Operator] {
    rawValues.compactMap(NSComparisonPredicate.Operator.init(rawValue:))
  }
}
