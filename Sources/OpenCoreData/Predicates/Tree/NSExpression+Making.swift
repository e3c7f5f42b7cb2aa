public import Foundation

extension NSExpression {
  /// A constant; nil is the null of the format language. A number of a Swift type becomes an `NSNumber`.
  public convenience init(forConstantValue value: Any?) {
    // A cast to a class would bridge all elements of a collection.
    self.init(.constant(value is any Collection ? value : value as? NSNumber ?? value))
  }

  /// The object that a predicate is evaluated with.
  public class func expressionForEvaluatedObject() -> NSExpression { NSExpression(.evaluatedObject) }

  /// Any key of an object. The expression can be inspected, but not evaluated.
  public class func expressionForAnyKey() -> NSExpression { NSExpression(.anyKey) }

  /// A variable whose value is given at evaluation. The name is written without `$`.
  public convenience init(forVariable name: String) { self.init(.variable(name)) }

  /// The value at the end of a key path.
  public convenience init(forKeyPath keyPath: String) { self.init(.keyPath(keyPath)) }

  /// A predefined function by its name, such as `from:subtract:`. It takes one argument, an `NSExpression`, for each
  /// colon in the name.
  ///
  /// Traps if there is no such function, or if the arguments are too few, too many or not expressions.
  public convenience init(forFunction name: String, arguments: [Any]) {
    guard let function = Function(rawValue: name) else { fatalError("there is no function \(name)") }
    require(
      arguments.count == function.argumentCount,
      "\(name) takes \(function.argumentCount) arguments, not \(arguments.count)")
    self.init(.function(function, Self.expressions(arguments)))
  }

  /// A function of an object, called by its name: the object that the first expression gives is a ``FunctionTarget``.
  ///
  /// The functions `valueForKeyPath:` and `valueForKey:` of any expression give the value at the end of a key path that
  /// begins there. If that expression is a key path or the evaluated object, the result is a single, longer key path.
  ///
  /// Traps if the arguments are fewer or more than the colons in the name, if one is no `NSExpression`, or if the
  /// argument of these two functions is no key path.
  public convenience init(forFunction target: NSExpression, selectorName name: String, arguments: [Any]?) {
    let arguments = Self.expressions(arguments ?? [])
    require(
      arguments.count == name.count { $0 == ":" }, "\(name) does not take \(arguments.count) arguments")
    guard name == "valueForKeyPath:" || name == "valueForKey:" else {
      self.init(.call(target, name: name, arguments))
      return
    }
    switch arguments.first?.form {
    case .keyPath(let path)? where arguments.count == 1: self.init(target.appending(path).form)
    case .constant(let path as String)? where arguments.count == 1: self.init(target.appending(path).form)
    default: fatalError("\(name) takes one argument, the key path")
    }
  }

  /// A collection of the values of other expressions. Traps if an element of the array is not an `NSExpression`.
  public convenience init(forAggregate subexpressions: [Any]) {
    self.init(.aggregate(Self.expressions(subexpressions)))
  }

  /// The elements that are in at least one of two collections.
  public convenience init(forUnionSet left: NSExpression, with right: NSExpression) {
    self.init(.set(.union, left, right))
  }

  /// The elements that are in both of two collections.
  public convenience init(forIntersectSet left: NSExpression, with right: NSExpression) {
    self.init(.set(.intersect, left, right))
  }

  /// The elements that are in the first of two collections, but not in the second.
  public convenience init(forMinusSet left: NSExpression, with right: NSExpression) {
    self.init(.set(.minus, left, right))
  }

  /// The elements of a collection for which a predicate is true. In the predicate, the variable is the element. Its
  /// name is written without `$`.
  ///
  /// Keys in the predicate that do not begin at the variable are keys of the object with which the whole is evaluated.
  public convenience init(
    forSubquery expression: NSExpression, usingIteratorVariable variable: String, predicate: NSPredicate
  ) {
    self.init(.subquery(expression, variable: variable, predicate.adopted))
  }

  /// The value of the first expression if the predicate is true, else that of the second.
  public convenience init(
    forConditional predicate: NSPredicate, trueExpression: NSExpression, falseExpression: NSExpression
  ) {
    self.init(.conditional(predicate.adopted, trueExpression, falseExpression))
  }

  /// The value that a block returns.
  public convenience init(block: @escaping Block, arguments: [NSExpression]?) {
    self.init(.block(block, arguments ?? []))
  }

  /// The value at the end of a key path that begins at the value of this expression.
  func appending(_ path: String) -> NSExpression {
    switch form {
    case .evaluatedObject: NSExpression(.keyPath(path))
    case .keyPath(let beginning): NSExpression(.keyPath(beginning + "." + path))
    case .path(let beginning, let operand): NSExpression(.path(beginning + "." + path, of: operand))
    default: NSExpression(.path(path, of: self))
    }
  }

  private static func expressions(_ arguments: [Any]) -> [NSExpression] {
    arguments.map { argument in
      guard let expression = argument as? NSExpression else {
        fatalError("\(argument) is given where an NSExpression is needed")
      }
      return expression
    }
  }
}
