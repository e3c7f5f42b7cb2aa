import CoreData
import Foundation

struct Query {
  var options: NSComparisonPredicate.Options = [.caseInsensitive]

  func compare(_ path: NSExpression, _ value: Any) -> NSComparisonPredicate {
    NSComparisonPredicate(
      leftExpression: path, rightExpression: NSExpression(forConstantValue: value), modifier: .direct,
      type: NSComparisonPredicate.Operator(rawValue: 4)!, options: options)
  }

  static func kind(of expression: NSExpression) -> NSExpression.ExpressionType { expression.expressionType }
}
