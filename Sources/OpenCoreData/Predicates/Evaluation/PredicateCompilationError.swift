/// The reason why a predicate or an expression cannot be evaluated with any row.
public enum PredicateCompilationError: Error, Hashable, Sendable, CustomStringConvertible {
  /// A key that the rows do not have.
  case unknownKey(String)
  /// A variable without a value.
  case unboundVariable(String)
  /// An invalid regular expression.
  case invalidPattern(String)
  /// An expression that only other stores support.
  case unsupported(String)

  /// The reason as a sentence.
  public var description: String {
    switch self {
    case .unknownKey(let key): "there is no key '\(key)'"
    case .unboundVariable(let name): "the variable $\(name) has no value"
    case .invalidPattern(let pattern): "'\(pattern)' is no regular expression"
    case .unsupported(let expression): "\(expression) cannot be evaluated"
    }
  }
}
