import Foundation

/// Parses a format by recursive descent, in time proportional to its length.
///
/// Parentheses may contain a predicate or an expression, and only their end shows which. So every rule may return
/// either, and its caller requires the kind that it needs.
final class FormatParser {
  enum Operand {
    case predicate(NSPredicate)
    case expression(NSExpression)
  }

  let format: String
  private let tokens: [(token: FormatToken, position: String.Index)]
  private var index = 0
  var arguments: FormatArguments
  /// The placeholders that have taken an argument so far; nil if one of them is a part of a key path.
  var placeholders: [FormatTemplate.Placeholder]? = []

  /// The number of nested rules around the current one.
  private var depth = 0
  /// The number of operators in this comparison, and in those around it, that made the tree deeper without recursion.
  var chained = 0

  static func predicate(_ format: String, _ arguments: [Any?]) throws(PredicateFormatError) -> NSPredicate {
    if let predicate = FormatTemplates.predicate(format, arguments) { return predicate }
    let (predicate, placeholders) = try parse(format, arguments)
    if let placeholders { FormatTemplates.keep(format, predicate, placeholders) }
    return predicate
  }

  /// Parses a format that has no template yet, and returns with the predicate what a template is made of.
  static func parse(
    _ format: String, _ arguments: [Any?]
  ) throws(PredicateFormatError) -> (predicate: NSPredicate, placeholders: [FormatTemplate.Placeholder]?) {
    let parser = try FormatParser(format, arguments)
    let predicate = try parser.predicate(parser.anyOperand)
    try parser.expectEnd()
    return (predicate, parser.placeholders)
  }

  static func expression(_ format: String, _ arguments: [Any?]) throws(PredicateFormatError) -> NSExpression {
    let parser = try FormatParser(format, arguments)
    let expression = try parser.expression(parser.anyOperand)
    try parser.expectEnd()
    return expression
  }

  private init(_ format: String, _ arguments: [Any?]) throws(PredicateFormatError) {
    self.format = format
    tokens = try FormatLexer.tokens(of: format)
    self.arguments = FormatArguments(arguments)
  }

  // MARK: Tokens

  var token: FormatToken { tokens[index].token }

  var nextToken: FormatToken { tokens[min(index + 1, tokens.count - 1)].token }

  var position: String.Index { tokens[index].position }

  func advance() { if token != .end { index += 1 } }

  func accept(_ symbol: String) -> Bool {
    guard token == .symbol(symbol) else { return false }
    advance()
    return true
  }

  func accept(keyword: String) -> Bool {
    guard token.keyword == keyword else { return false }
    advance()
    return true
  }

  func expect(_ symbol: String) throws(PredicateFormatError) {
    guard accept(symbol) else { throw problem("\(token.name) stands where '\(symbol)' is expected") }
  }

  private func expectEnd() throws(PredicateFormatError) {
    guard token == .end else { throw problem("\(token.name) comes after what is already complete") }
  }

  func problem(_ reason: String, at position: String.Index? = nil) -> PredicateFormatError {
    PredicateFormatError(format: format, position: position ?? self.position, reason: reason)
  }

  // MARK: Depth

  typealias Rule<Result> = () throws(PredicateFormatError) -> Result

  /// Applies a rule that may call itself. The depth is limited, because a thread with a small stack would overflow.
  func nested<Result>(_ rule: Rule<Result>) throws(PredicateFormatError) -> Result {
    guard depth < 100 else { throw problem("this is nested too deep") }
    depth += 1
    defer { depth -= 1 }
    return try rule()
  }

  /// Counts an operator that makes the tree deeper. The number is limited, because all code that visits the tree
  /// recurses once for each.
  func chain() throws(PredicateFormatError) {
    guard chained < 1000 else { throw problem("there are too many operators") }
    chained += 1
  }

  // MARK: Kinds of operands

  func predicate(_ rule: Rule<Operand>) throws(PredicateFormatError) -> NSPredicate { try predicate(rule()) }

  /// The predicate in an operand that was just read. Throws if the operand is a value: the operator of a comparison is
  /// missing.
  func predicate(_ operand: Operand) throws(PredicateFormatError) -> NSPredicate {
    guard case .predicate(let predicate) = operand else {
      throw problem("\(token.name) stands where a value has to be compared")
    }
    return predicate
  }

  func expression(_ rule: Rule<Operand>) throws(PredicateFormatError) -> NSExpression {
    let position = position
    guard case .expression(let expression) = try rule() else {
      throw problem("this is a predicate where a value is expected", at: position)
    }
    return expression
  }
}
