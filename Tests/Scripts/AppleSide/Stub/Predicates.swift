// swift-format-ignore-file: AllPublicDeclarationsHaveDocumentation
// Predicates, expressions and sort descriptors by key, which Foundation has on Apple's platforms but not here.
public import Foundation

open class NSComparisonPredicate: NSPredicate {
  public enum Modifier: UInt, Sendable {
    case direct = 0
    case all
    case any
  }

  public enum Operator: UInt, Sendable {
    case lessThan = 0
    case lessThanOrEqualTo
    case greaterThan
    case greaterThanOrEqualTo
    case equalTo
    case notEqualTo
    case matches
    case like
    case beginsWith
    case endsWith
    case `in`
    case customSelector
    case contains = 99
    case between
  }

  public struct Options: OptionSet, Sendable {
    public let rawValue: UInt
    public init(rawValue: UInt) { self.rawValue = rawValue }
  }

  public init(
    leftExpression lhs: NSExpression, rightExpression rhs: NSExpression, modifier: Modifier, type: Operator,
    options: Options = []
  ) { fatalError() }

  open var predicateOperatorType: Operator { fatalError() }
  open var comparisonPredicateModifier: Modifier { fatalError() }
  open var leftExpression: NSExpression { fatalError() }
  open var rightExpression: NSExpression { fatalError() }
  open var options: Options { fatalError() }
}

open class NSCompoundPredicate: NSPredicate {
  public enum LogicalType: UInt, Sendable {
    case not = 0
    case and
    case or
  }

  public init(type: LogicalType, subpredicates: [NSPredicate]) { fatalError() }
  open var compoundPredicateType: LogicalType { fatalError() }
  open var subpredicates: [Any] { fatalError() }
}

open class NSExpression: NSObject {
  public enum ExpressionType: UInt, Sendable {
    case constantValue = 0
    case evaluatedObject
    case variable
    case keyPath
    case function
    case unionSet
    case intersectSet
    case minusSet
    case subquery = 13
    case aggregate
    case anyKey
    case block = 19
    case conditional
  }

  public init(expressionType type: ExpressionType) { fatalError() }
  public convenience init(forConstantValue obj: Any?) { fatalError() }
  public convenience init(forVariable string: String) { fatalError() }
  public convenience init(forKeyPath keyPath: String) { fatalError() }
  public convenience init(forFunction name: String, arguments parameters: [Any]) { fatalError() }
  public convenience init(forFunction target: NSExpression, selectorName name: String, arguments parameters: [Any]?) {
    fatalError()
  }
  public convenience init(forAggregate subexpressions: [Any]) { fatalError() }
  public convenience init(
    forSubquery expression: NSExpression, usingIteratorVariable variable: String, predicate: NSPredicate
  ) { fatalError() }
  open class func expressionForEvaluatedObject() -> NSExpression { fatalError() }

  open var expressionType: ExpressionType { fatalError() }
  open var constantValue: Any? { fatalError() }
  open var keyPath: String { fatalError() }
  open var function: String { fatalError() }
  open var variable: String { fatalError() }
  open var operand: NSExpression { fatalError() }
  open var arguments: [NSExpression]? { fatalError() }
  open var collection: Any { fatalError() }
  open var predicate: NSPredicate { fatalError() }
  open func expressionValue(with object: Any?, context: NSMutableDictionary?) -> Any? { fatalError() }
}

extension NSSortDescriptor {
  public convenience init(key: String?, ascending: Bool) { fatalError() }
  public var key: String? { fatalError() }
  public var selector: Selector? { fatalError() }
}

public struct Selector: Equatable {}

public func NSSelectorFromString(_ aSelectorName: String) -> Selector { fatalError() }
