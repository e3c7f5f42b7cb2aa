public import Foundation

/// The parts of an expression. Each property traps if the type of the expression has no such part.
extension NSExpression {
  /// The value of a constant. A number is an `NSNumber`.
  public var constantValue: Any? {
    if case .constant(let value) = form { value } else { missing("constant value") }
  }

  /// The key path of a key path expression.
  public var keyPath: String {
    if case .keyPath(let path) = form { path } else { missing("key path") }
  }

  /// The name of a function; `valueForKeyPath:` for a key path that begins at another expression, as in `$x.name` and
  /// `SUBQUERY(…).@count`.
  public var function: String {
    switch form {
    case .function(let function, _): function.rawValue
    case .path: "valueForKeyPath:"
    case .call(_, let name, _): name
    default: missing("function")
    }
  }

  /// The arguments of a function or a block. The only argument of `valueForKeyPath:` is a key path expression.
  public var arguments: [NSExpression]? {
    switch form {
    case .function(_, let arguments), .block(_, let arguments), .call(_, _, let arguments): arguments
    case .path(let path, _): [NSExpression(forKeyPath: path)]
    default: missing("arguments")
    }
  }

  /// The expression at which a function or a key path begins: the evaluated object, or the expression before the path.
  public var operand: NSExpression {
    switch form {
    case .keyPath, .function: .expressionForEvaluatedObject()
    case .path(_, let operand), .call(let operand, _, _): operand
    default: missing("operand")
    }
  }

  /// The name of a variable, or of the iterator variable of a subquery; without `$`.
  public var variable: String {
    switch form {
    case .variable(let name), .subquery(_, let name, _): name
    default: missing("variable")
    }
  }

  /// The expressions of an aggregate, as an array of `NSExpression`, or the collection of a subquery, an
  /// `NSExpression`.
  public var collection: Any {
    switch form {
    case .aggregate(let expressions): expressions
    case .subquery(let collection, _, _): collection
    default: missing("collection")
    }
  }

  /// The predicate of a subquery or a conditional expression.
  public var predicate: NSPredicate {
    switch form {
    case .subquery(_, _, let predicate), .conditional(let predicate, _, _): predicate
    default: missing("predicate")
    }
  }

  /// The first collection of a set operation.
  public var left: NSExpression {
    if case .set(_, let left, _) = form { left } else { missing("left expression") }
  }

  /// The second collection of a set operation.
  public var right: NSExpression {
    if case .set(_, _, let right) = form { right } else { missing("right expression") }
  }

  /// The expression whose value a conditional expression has if its predicate is true.
  public var `true`: NSExpression {
    if case .conditional(_, let expression, _) = form { expression } else { missing("true expression") }
  }

  /// The expression whose value a conditional expression has if its predicate is false.
  public var `false`: NSExpression {
    if case .conditional(_, _, let expression) = form { expression } else { missing("false expression") }
  }

  /// The block of a block expression.
  public var expressionBlock: Block {
    if case .block(let block, _) = form { block } else { missing("block") }
  }

  func missing(_ part: String) -> Never {
    fatalError("an expression of type \(expressionType) has no \(part)")
  }
}
