import Foundation

extension FormatParser {
  /// An operand of an operator.
  func operand() throws(PredicateFormatError) -> Operand {
    switch token {
    case .symbol("("): return try parenthesised()
    case .symbol("{"): return .expression(try aggregate())
    case .word(let word): return try operand(word)
    default: return .expression(try simpleOperand())
    }
  }

  private func simpleOperand() throws(PredicateFormatError) -> NSExpression {
    let expression: NSExpression
    switch token {
    case .key(let path), .at(let path): expression = NSExpression(forKeyPath: path)
    case .variable(let name): expression = NSExpression(forVariable: name)
    case .integer(let value): expression = NSExpression(forConstantValue: value)
    case .decimal(let value): expression = NSExpression(forConstantValue: value)
    case .double(let value): expression = NSExpression(forConstantValue: value)
    case .string(let value): expression = NSExpression(forConstantValue: value)
    case .placeholder("K"):
      expression = NSExpression(forKeyPath: try keyPathArgument())
      placeholders?.append(("K", expression))
    case .placeholder(let letter):
      do throws(FormatProblem) {
        expression = try arguments.expression(for: letter)
      } catch {
        throw problem(error.reason)
      }
      placeholders?.append((letter, expression))
    default: throw problem("\(token.name) stands where a value is expected")
    }
    advance()
    return expression
  }

  func keyPathArgument() throws(PredicateFormatError) -> String {
    let path: String
    do throws(FormatProblem) {
      path = try arguments.keyPath()
    } catch {
      throw problem(error.reason)
    }
    for character in path where character == "@" { try chain() }
    return path
  }

  private func parenthesised() throws(PredicateFormatError) -> Operand {
    try expect("(")
    let operand = try anyOperand()
    try expect(")")
    return operand
  }

  private func aggregate() throws(PredicateFormatError) -> NSExpression {
    try expect("{")
    return NSExpression(.aggregate(try expressions(until: "}")))
  }

  /// Expressions separated by commas, and the symbol that ends them.
  private func expressions(until end: String) throws(PredicateFormatError) -> [NSExpression] {
    var expressions: [NSExpression] = []
    if accept(end) { return expressions }
    repeat { expressions.append(try wholeExpression()) } while accept(",")
    try expect(end)
    return expressions
  }

  private func wholeExpression() throws(PredicateFormatError) -> NSExpression {
    try expression(anyOperand)
  }

  private func wholePredicate() throws(PredicateFormatError) -> NSPredicate {
    try predicate(anyOperand)
  }

  // MARK: Words

  private func operand(_ word: String) throws(PredicateFormatError) -> Operand {
    let keyword = word.uppercased()
    if ReservedWords.operators.contains(keyword) { throw problem("'\(word)' stands where a value is expected") }
    if nextToken == .symbol("(") { return .expression(try call(word)) }
    if word.utf8.contains(UInt8(ascii: ":")) { throw problem("'\(word)' has no arguments") }
    advance()
    return switch keyword {
    case "TRUEPREDICATE": .predicate(NSPredicate(value: true))
    case "FALSEPREDICATE": .predicate(NSPredicate(value: false))
    case "TRUE", "YES": .expression(NSExpression(forConstantValue: 1))
    case "FALSE", "NO": .expression(NSExpression(forConstantValue: 0))
    case "NULL", "NIL": .expression(NSExpression(forConstantValue: nil))
    case "SELF": .expression(.expressionForEvaluatedObject())
    case "ANYKEY": .expression(.expressionForAnyKey())
    default: .expression(NSExpression(forKeyPath: word))
    }
  }

  private func call(_ word: String) throws(PredicateFormatError) -> NSExpression {
    let position = position
    advance()
    try expect("(")
    switch word.uppercased() {
    case "SUBQUERY": return try subquery()
    case "TERNARY": return try conditional()
    case "CAST": return try cast(try expressions(until: ")"), at: position)
    case "FUNCTION": return try call(try expressions(until: ")"), at: position)
    case "FETCH": return try fetch(try expressions(until: ")"), at: position)
    default: return try function(word, at: position)
    }
  }

  private func function(_ name: String, at position: String.Index) throws(PredicateFormatError) -> NSExpression {
    let arguments = try expressions(until: ")")
    guard let function = Function(name: name, argumentCount: arguments.count) else {
      throw problem("there is no function '\(name)' of \(arguments.count) arguments", at: position)
    }
    return function == .cast
      ? try cast(arguments, at: position) : NSExpression(.function(function, arguments))
  }

  /// A cast of a literal is a constant, so that values without a literal of their own can be written: dates, UUIDs,
  /// decimals.
  private func cast(_ arguments: [NSExpression], at position: String.Index) throws(PredicateFormatError) -> NSExpression
  {
    guard arguments.count == 2, case .constant(let name as String) = arguments[1].form, let type = CastType(name) else {
      throw problem("a cast needs a value and the name of a type that is known", at: position)
    }
    if case .constant(let value) = arguments[0].form, let value {
      let result = type.cast(PredicateValue(value))
      if !result.isNull { return NSExpression(forConstantValue: result.anyValue) }
    }
    return NSExpression(.function(.cast, arguments))
  }

  /// A function of an object: the object, the name of the function, and the arguments.
  private func call(_ parts: [NSExpression], at position: String.Index) throws(PredicateFormatError) -> NSExpression {
    guard parts.count >= 2, case .constant(let name as String) = parts[1].form,
      parts.count == 2 + name.count(where: { $0 == ":" })
    else {
      throw problem("FUNCTION needs an object, the name of a function, and an argument for each colon", at: position)
    }
    let arguments = Array(parts.dropFirst(2))
    if name == "valueForKeyPath:" || name == "valueForKey:" {
      switch arguments[0].form {
      case .keyPath, .constant(is String): break
      default: throw problem("\(name) needs a key path", at: position)
      }
    }
    return NSExpression(forFunction: parts[0], selectorName: name, arguments: arguments)
  }

  private func fetch(_ parts: [NSExpression], at position: String.Index) throws(PredicateFormatError) -> NSExpression {
    guard parts.count == 3, case .constant(let isCount as NSNumber) = parts[2].form else {
      throw problem("FETCH needs a request, a context, and YES or NO", at: position)
    }
    return NSFetchRequestExpression(.fetch(parts[0], context: parts[1], isCount: isCount.boolValue))
  }

  private func conditional() throws(PredicateFormatError) -> NSExpression {
    let predicate = try wholePredicate()
    try expect(",")
    let yes = try wholeExpression()
    try expect(",")
    let no = try wholeExpression()
    try expect(")")
    return NSExpression(forConditional: predicate, trueExpression: yes, falseExpression: no)
  }

  private func subquery() throws(PredicateFormatError) -> NSExpression {
    let collection = try wholeExpression()
    try expect(",")
    guard case .variable(let name) = token else {
      throw problem("\(token.name) stands where the variable of a subquery is expected")
    }
    advance()
    try expect(",")
    let predicate = try wholePredicate()
    try expect(")")
    return NSExpression(forSubquery: collection, usingIteratorVariable: name, predicate: predicate)
  }
}
