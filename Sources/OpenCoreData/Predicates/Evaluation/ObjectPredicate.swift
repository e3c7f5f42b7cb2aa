public import Foundation

/// A predicate compiled for objects. Its variables get their values at each evaluation.
///
/// Unchecked, because it captures the constants and blocks of the predicate. It never changes itself, and code that
/// shares a predicate between threads is responsible for those constants and blocks anyway.
final class ObjectPredicate: @unchecked Sendable {
  private let test: (Any?, Bindings) -> Bool

  /// Traps if the predicate cannot be evaluated.
  init(trapping predicate: NSPredicate) {
    do throws(PredicateCompilationError) {
      test = try PredicateCompiler(rows: .objects, variables: nil).compile(predicate)
    } catch {
      fatalError("\(predicate) cannot be evaluated: \(error)")
    }
  }

  func evaluate(with object: Any?, variables: [String: Any]?) -> Bool { test(object, Bindings(named: variables)) }
}

extension NSExpression {
  /// The value of the expression for an object: numbers as `NSNumber`, collections as arrays or `NSSet`, nil for null.
  /// `context` has the values of variables, by name without `$`.
  ///
  /// Takes time in proportion to the size of the expression; use ``CompiledExpression`` for many objects. Traps if the
  /// expression cannot be evaluated.
  public func expressionValue(with object: Any?, context: NSMutableDictionary?) -> Any? {
    if case .constant(let value) = form { return value }
    var named: [String: Any] = [:]
    for (name, value) in context ?? [:] {
      if let name = name as? String { named[name] = value }
    }
    do throws(PredicateCompilationError) {
      return try CompiledExpression(self, variables: named, reading: .objects).value(of: object).anyValue
    } catch {
      fatalError("\(self) cannot be evaluated: \(error)")
    }
  }
}
