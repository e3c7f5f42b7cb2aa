import Foundation

extension FormatPrinter {
  static func text(of expression: NSExpression) -> String {
    switch expression.form {
    case .constant(let value): constant(value)
    case .evaluatedObject: "SELF"
    case .variable(let name): variable(name)
    case .keyPath(let path): self.path(path)
    case .function(let function, let arguments): text(of: function, arguments)
    case .path(let path, let operand):
      "\(text(of: operand, binding: atomPrecedence)).\(self.path(path, isFirst: false))"
    case .call(let target, let name, let arguments):
      "FUNCTION(\(list([target, NSExpression(forConstantValue: name)] + arguments)))"
    case .fetch(let request, let context, let isCount): "FETCH(\(list([request, context])), \(isCount ? "YES" : "NO"))"
    case .aggregate(let elements): "{\(list(elements))}"
    case .set(let operation, let left, let right):
      "\(text(of: left)) \(operation.rawValue) \(text(of: right, binding: 1))"
    case .subquery(let collection, let variable, let predicate):
      "SUBQUERY(\(text(of: collection)), \(self.variable(variable)), \(text(of: predicate)))"
    case .anyKey: "ANYKEY"
    case .block(_, let arguments): "BLOCK(\(list(arguments)))"
    case .conditional(let predicate, let yes, let no):
      "TERNARY(\(text(of: predicate)), \(text(of: yes)), \(text(of: no)))"
    }
  }

  /// One side of a comparison, where the type of a whole number makes no difference, so that it is written without a
  /// decimal point. In arithmetic the type makes a difference.
  static func side(_ expression: NSExpression) -> String {
    switch expression.form {
    case .constant(let value): constant(value, isCompared: true)
    case .aggregate(let elements): "{\(elements.map(side).joined(separator: ", "))}"
    default: text(of: expression)
    }
  }

  private static func list(_ expressions: [NSExpression]) -> String {
    expressions.map { text(of: $0) }.joined(separator: ", ")
  }

  private static func text(of function: Function, _ arguments: [NSExpression]) -> String {
    if let infix = Infix.all.first(where: { $0.function == function }) {
      let isPower = function == Infix.power.function
      let left = text(of: arguments[0], binding: isPower ? atomPrecedence : infix.precedence)
      let right = text(of: arguments[1], binding: isPower ? Infix.signPrecedence : infix.precedence + 1)
      return "\(left) \(infix.symbol) \(right)"
    }
    return switch function {
    case .index: "\(text(of: arguments[0], binding: atomPrecedence))[\(text(of: arguments[1]))]"
    case .cast: "CAST(\(list(arguments)))"
    case .onesComplement: "~\(text(of: arguments[0], binding: Infix.signPrecedence))"
    case _ where function.argumentCount == 1: "\(function.rawValue.dropLast())(\(list(arguments)))"
    default: "\(function.rawValue)(\(list(arguments)))"
    }
  }

  /// The text of an expression, in parentheses if the expression binds less tightly than this precedence.
  private static func text(of expression: NSExpression, binding precedence: Int) -> String {
    let text = text(of: expression)
    let own =
      switch expression.form {
      case .constant: text.hasPrefix("-") ? Infix.signPrecedence : atomPrecedence
      case .set: 0
      case .function(.onesComplement, _): Infix.signPrecedence
      case .function(let function, _):
        Infix.all.first { $0.function == function }?.precedence ?? atomPrecedence
      default: atomPrecedence
      }
    return own >= precedence ? text : "(\(text))"
  }

  /// The precedence of expressions that never need parentheses.
  private static let atomPrecedence = Infix.power.precedence + 1

  private static func variable(_ name: String) -> String {
    "$" + (FormatLexer.isIdentifier(name) ? name : quoted(name))
  }

  /// A key path, after a `#` if it would be parsed as a keyword, and in quotes as well if a key is not an identifier.
  private static func path(_ path: String, isFirst: Bool = true) -> String {
    let keys = path.split(separator: ".", omittingEmptySubsequences: false)
    guard keys.allSatisfy({ FormatLexer.isIdentifier($0.first == "@" ? $0.dropFirst() : $0) }) else {
      return "#" + quoted(path)
    }
    return isFirst && ReservedWords.contains(keys[0]) ? "#" + path : path
  }

  // MARK: Constants

  private static func constant(_ value: Any?, isCompared: Bool = false) -> String {
    if let index = value as? SymbolicIndex { return index.rawValue }
    return literal(PredicateValue(value), isCompared: isCompared)
  }

  private static func literal(_ value: PredicateValue, isCompared: Bool) -> String {
    switch value {
    case .null: "nil"
    case .integer(let value): value.description
    case .double(let value) where isCompared && Int64(exactly: value) != nil: Int64(value).description
    case .double(let value): value.isFinite ? value.description : cast(value.description, .number)
    case .decimal(let value): isCompared && isLiteral(value) ? value.description : cast(value.description, .decimal)
    case .string(let value): quoted(value)
    case .date(let value): "CAST(\(seconds(value.timeIntervalSinceReferenceDate)), \(quoted(CastType.date.rawValue)))"
    case .data(let value): cast(value.base64EncodedString(), .data)
    case .uuid(let value): cast(value.uuidString, .uuid)
    case .collection(let elements, _):
      "{\(elements.map { literal($0, isCompared: isCompared) }.joined(separator: ", "))}"
    case .object(let value as URL): cast(value.absoluteString, .url)
    case .object(let value): "<\(value)>"
    }
  }

  /// Whether the decimal is a whole number that is parsed as the same number.
  private static func isLiteral(_ value: Decimal) -> Bool {
    value.isFinite && value.exponent >= 0 && value.description.count <= 38
  }

  /// Seconds with six decimal places, or with more if the number needs them.
  private static func seconds(_ value: Double) -> String {
    guard value.isFinite else { return cast(value.description, .number) }
    let text = String(format: "%.6f", value)
    return Double(text) == value ? text : value.description
  }

  private static func cast(_ text: String, _ type: CastType) -> String {
    "CAST(\(quoted(text)), \(quoted(type.rawValue)))"
  }

  private static func quoted(_ text: String) -> String {
    var quoted = "\""
    for scalar in text.unicodeScalars {
      switch scalar {
      case "\"": quoted += "\\\""
      case "\\": quoted += "\\\\"
      case "\n": quoted += "\\n"
      case "\r": quoted += "\\r"
      case "\t": quoted += "\\t"
      default: quoted.unicodeScalars.append(scalar)
      }
    }
    return quoted + "\""
  }
}
