import Foundation

extension FormatParser {
  /// Operands that operators join into one value, or a single operand of any kind.
  func infix() throws(PredicateFormatError) -> Operand { try infix(from: 0) }

  /// Operands that operators of at least this precedence join, from left to right.
  private func infix(from precedence: Int) throws(PredicateFormatError) -> Operand {
    let position = position
    let first = try power()
    guard let combination, combination.precedence >= precedence else { return first }
    guard case .expression(var result) = first else {
      throw problem("this is a predicate where a value is expected", at: position)
    }
    while let combination = self.combination, combination.precedence >= precedence {
      try chain()
      advance()
      let right = try expression { () throws(PredicateFormatError) in try infix(from: combination.precedence + 1) }
      result = NSExpression(combination.form(result, right))
    }
    return .expression(result)
  }

  private typealias Combination = (precedence: Int, form: (NSExpression, NSExpression) -> NSExpression.Form)

  /// The precedence of the next operator, and the expression that it makes of its two operands; nil if the next token
  /// is not an operator. Set operators bind least.
  private var combination: Combination? {
    if let operation = token.keyword.flatMap(SetOperation.init) {
      return (0, { .set(operation, $0, $1) })
    }
    guard case .symbol(let symbol) = token, let infix = Infix.all.first(where: { $0.symbol == symbol }) else {
      return nil
    }
    return (infix.precedence, { .function(infix.function, [$0, $1]) })
  }

  /// `a ** b`, from right to left. It binds tighter than a sign before it: `-2 ** 2` is `-(2 ** 2)`.
  private func power() throws(PredicateFormatError) -> Operand {
    if token == .symbol("-") { return .expression(try negative()) }
    if accept("~") {
      let operand = try nestedPower()
      return .expression(NSExpression(.function(.onesComplement, [operand])))
    }
    let position = position
    let base = try postfix()
    guard accept(Infix.power.symbol) else { return base }
    guard case .expression(let base) = base else {
      throw problem("this is a predicate where a value is expected", at: position)
    }
    return .expression(NSExpression(.function(Infix.power.function, [base, try nestedPower()])))
  }

  private func nestedPower() throws(PredicateFormatError) -> NSExpression {
    try expression { () throws(PredicateFormatError) in try nested(power) }
  }

  /// A minus sign. With a literal it makes a negative constant; anything else is subtracted from 0.
  private func negative() throws(PredicateFormatError) -> NSExpression {
    advance()
    let isLiteral = nextToken != .symbol(Infix.power.symbol) && nextToken != .symbol(".") && nextToken != .symbol("[")
    switch token {
    case .integer(let value) where isLiteral: advance(); return NSExpression(forConstantValue: -value)
    case .double(let value) where isLiteral: advance(); return NSExpression(forConstantValue: -value)
    case .decimal(let value) where isLiteral: advance(); return NSExpression(forConstantValue: -value)
    default:
      try chain()
      return NSExpression(.function(.subtract, [NSExpression(forConstantValue: 0), try nestedPower()]))
    }
  }

  /// An operand, with any number of `.key` and `[index]` after it.
  private func postfix() throws(PredicateFormatError) -> Operand {
    let position = position
    var operand = try self.operand()
    while token == .symbol(".") || token == .symbol("[") {
      guard case .expression(let base) = operand else {
        throw problem("this is a predicate where a value is expected", at: position)
      }
      operand = .expression(accept(".") ? base.appending(try path()) : try index(of: base))
    }
    return operand
  }

  /// The keys after a dot, joined by dots.
  private func path() throws(PredicateFormatError) -> String {
    var keys = [try pathComponent()]
    while accept(".") { keys.append(try pathComponent()) }
    return keys.joined(separator: ".")
  }

  private func pathComponent() throws(PredicateFormatError) -> String {
    let component: String
    switch token {
    case .word(let key) where !key.utf8.contains(UInt8(ascii: ":")): component = key
    case .key(let key): component = key
    case .at(let key):
      try chain()
      component = key
    case .placeholder("K"):
      component = try keyPathArgument()
      placeholders = nil
    default: throw problem("\(token.name) stands where a key is expected")
    }
    advance()
    return component
  }

  private func index(of base: NSExpression) throws(PredicateFormatError) -> NSExpression {
    try chain()
    try expect("[")
    let index: NSExpression
    if let symbol = SymbolicIndex(rawValue: token.keyword ?? ""), nextToken == .symbol("]") {
      advance()
      index = NSExpression(forConstantValue: symbol)
    } else {
      index = try expression(anyOperand)
    }
    try expect("]")
    return NSExpression(.function(.index, [base, index]))
  }
}
