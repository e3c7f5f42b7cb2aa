public import Foundation

/// A computed column of a dictionary fetch: a name, an expression and the type of its result.
///
/// It belongs in the `propertiesToFetch` of a request or in an index, not among the properties of an entity.
open class NSExpressionDescription: NSPropertyDescription {
  /// The expression that computes the column.
  open var expression: NSExpression? { willSet { willChange() } }

  /// The type of the result.
  open var expressionResultType = NSAttributeType.undefinedAttributeType { willSet { willChange() } }

  /// A column without name and expression.
  public override init() { super.init() }

  init(copying other: NSExpressionDescription) {
    expression = other.expression
    expressionResultType = other.expressionResultType
    super.init(copying: other)
  }

  /// The type of the result, as an ``NSAttributeDescription/AttributeType``.
  open var resultType: NSAttributeDescription.AttributeType {
    get { NSAttributeDescription.AttributeType(rawValue: expressionResultType) }
    set { expressionResultType = newValue.rawValue }
  }

  open override func copy(with zone: NSZone? = nil) -> Any { NSExpressionDescription(copying: self) }

  override func says(theSameAs other: NSPropertyDescription) -> Bool {
    guard let other = other as? NSExpressionDescription, super.says(theSameAs: other) else { return false }
    return expression == other.expression && expressionResultType == other.expressionResultType
  }
}
