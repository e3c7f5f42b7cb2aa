/// Why a predicate or an expression cannot be evaluated at all, whatever the rows.
public enum PredicateCompilationError: Error, Hashable, Sendable, CustomStringConvertible {
  /// A key that the rows do not have.
  case unknownKey(String)
  /// A variable without a value.
  case unboundVariable(String)
  /// A regular expression that is none.
  case invalidPattern(String)
  /// An expression that is for other stores only.
  case unsupported(String)

  /// A sentence.
  public var description: String {
    switch self {
    case .unknownKey(let key): "there is no key '\(key)'"
    case .unboundVariable(let name): "the variable $\(name) has no value"
    case .invalidPattern(let pattern): "'\(pattern)' is no regular expression"
    case .unsupported(let expression): "\(expression) cannot be evaluated"
    }
  }
}
