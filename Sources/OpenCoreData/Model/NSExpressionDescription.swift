public import Foundation

/// A column of a dictionary fetch that is computed: a name, an expression and the type of its result.
///
/// Not for entities; put it among the `propertiesToFetch` of a request.
open class NSExpressionDescription: NSPropertyDescription {
  /// What is computed.
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

  /// The type of the result, in the newer spelling.
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
