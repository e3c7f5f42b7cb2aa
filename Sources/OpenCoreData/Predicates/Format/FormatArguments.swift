import Foundation

/// The arguments of a format. Each placeholder takes the next one.
struct FormatArguments {
  private var rest: ArraySlice<Any?>

  init(_ arguments: [Any?]) { rest = arguments[...] }

  /// The expression that a placeholder with this letter, other than `K`, stands for.
  mutating func expression(for letter: Character) throws(FormatProblem) -> NSExpression {
    switch letter {
    case "%": NSExpression(forConstantValue: "%")
    case "@": NSExpression.substituting(try next(letter))
    default: NSExpression(forConstantValue: try number(letter))
    }
  }

  /// The key path that `%K` stands for.
  mutating func keyPath() throws(FormatProblem) -> String {
    guard case .string(let path) = PredicateValue(try next("K")) else {
      throw FormatProblem("the argument for '%K' is no string")
    }
    guard !path.isEmpty else { throw FormatProblem("the argument for '%K' is empty") }
    return path
  }

  private mutating func number(_ letter: Character) throws(FormatProblem) -> Any {
    let isFloating = "fFeEgGaA".contains(letter)
    switch PredicateValue(try next(letter)) {
    case .integer(let value): return isFloating ? Double(value) : value
    case .decimal(let value): return value
    case .double(let value) where isFloating: return value
    case .double(let value):
      guard let whole = Int64(exactly: value.rounded(.towardZero)) else { fallthrough }
      return whole
    default: throw FormatProblem("the argument for '%\(letter)' is no number that it can stand for")
    }
  }

  private mutating func next(_ letter: Character) throws(FormatProblem) -> Any? {
    guard let argument = rest.popFirst() else { throw FormatProblem("there is no argument for '%\(letter)'") }
    return argument
  }
}

/// An error in a token, without the position of the token, which only the parser knows.
struct FormatProblem: Error {
  let reason: String

  init(_ reason: String) { self.reason = reason }
}
