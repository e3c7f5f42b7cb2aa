public import Foundation

extension NSExpression {
  /// A value that never changes; nil is the null of the format language. A number of Swift's types becomes an `NSNumber`.
  public convenience init(forConstantValue value: Any?) { self.init(.constant(value as? NSNumber ?? value)) }

  /// The object that a predicate is evaluated with.
  public class func expressionForEvaluatedObject() -> NSExpression { NSExpression(.evaluatedObject) }

  /// Any key of an object. It can be inspected, not evaluated.
  public class func expressionForAnyKey() -> NSExpression { NSExpression(.anyKey) }

  /// A value that is given on evaluation; the name is without its `$`.
  public convenience init(forVariable name: String) { self.init(.variable(name)) }

  /// The value at the end of a key path.
  public convenience init(forKeyPath keyPath: String) { self.init(.keyPath(keyPath)) }

  /// A predefined function by its name, `from:subtract:` for example, with as many arguments, all `NSExpression`, as it has colons.
  ///
  /// Traps if there is no such function, or if it takes another number of arguments.
  public convenience init(forFunction name: String, arguments: [Any]) {
    guard let function = Function(rawValue: name) else { preconditionFailure("there is no function \(name)") }
    precondition(
      arguments.count == function.argumentCount,
      "\(name) takes \(function.argumentCount) arguments, not \(arguments.count)")
    self.init(.function(function, Self.expressions(arguments)))
  }

  /// The value at the end of a key path that begins at another expression: the function `valueForKeyPath:` or `valueForKey:` of it.
  ///
  /// Behind a key path, or the evaluated object, it makes one longer key path.
  ///
  /// Traps if another function is named: there are no objects here that could be sent messages.
  public convenience init(forFunction target: NSExpression, selectorName name: String, arguments: [Any]?) {
    precondition(name == "valueForKeyPath:" || name == "valueForKey:", "\(name) cannot be called here")
    let arguments = Self.expressions(arguments ?? [])
    switch arguments.first?.form {
    case .keyPath(let path)? where arguments.count == 1: self.init(target.appending(path).form)
    case .constant(let path as String)? where arguments.count == 1: self.init(target.appending(path).form)
    default: preconditionFailure("\(name) takes one argument, the key path")
    }
  }

  /// A collection of the values of other expressions, all `NSExpression`.
  public convenience init(forAggregate subexpressions: [Any]) {
    self.init(.aggregate(Self.expressions(subexpressions)))
  }

  /// What is in either of two collections.
  public convenience init(forUnionSet left: NSExpression, with right: NSExpression) {
    self.init(.set(.union, left, right))
  }

  /// What is in both of two collections.
  public convenience init(forIntersectSet left: NSExpression, with right: NSExpression) {
    self.init(.set(.intersect, left, right))
  }

  /// What is in the first of two collections and not in the second.
  public convenience init(forMinusSet left: NSExpression, with right: NSExpression) {
    self.init(.set(.minus, left, right))
  }

  /// The elements of a collection for which a predicate holds, in which each in turn is the variable; its name is without `$`.
  ///
  /// Keys in the predicate that do not begin at the variable are read from the object that the whole is evaluated with.
  public convenience init(
    forSubquery expression: NSExpression, usingIteratorVariable variable: String, predicate: NSPredicate
  ) {
    self.init(.subquery(expression, variable: variable, predicate.adopted))
  }

  /// The first expression if the predicate holds, or else the second.
  public convenience init(
    forConditional predicate: NSPredicate, trueExpression: NSExpression, falseExpression: NSExpression
  ) {
    self.init(.conditional(predicate.adopted, trueExpression, falseExpression))
  }

  /// What a block returns.
  public convenience init(block: @escaping Block, arguments: [NSExpression]?) {
    self.init(.block(block, arguments ?? []))
  }

  /// The value at the end of a path that begins where this expression ends.
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
        preconditionFailure("\(argument) is given where an NSExpression is needed")
      }
      return expression
    }
  }
}
