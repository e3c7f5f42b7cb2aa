import Foundation

extension FormatPrinter {
  static func text(of expression: NSExpression) -> String {
    switch expression.form {
    case .constant(let value): constant(value)
    case .evaluatedObject: "SELF"
    case .variable(let name): "$" + name
    case .keyPath(let path): self.path(path)
    case .function(let function, let arguments): text(of: function, arguments)
    case .path(let path, let operand): "\(base(operand)).\(path)"
    case .aggregate(let elements): "{\(list(elements))}"
    case .set(let operation, let left, let right): "\(operand(left)) \(operation.rawValue) \(operand(right))"
    case .subquery(let collection, let variable, let predicate):
      "SUBQUERY(\(text(of: collection)), $\(variable), \(text(of: predicate)))"
    case .anyKey: "ANYKEY"
    case .block(_, let arguments): "BLOCK(\(list(arguments)))"
    case .conditional(let predicate, let yes, let no):
      "TERNARY(\(text(of: predicate)), \(text(of: yes)), \(text(of: no)))"
    }
  }

  private static func list(_ expressions: [NSExpression]) -> String {
    expressions.map { text(of: $0) }.joined(separator: ", ")
  }

  private static func text(of function: Function, _ arguments: [NSExpression]) -> String {
    if let infix = Infix.all.first(where: { $0.function == function }) {
      return "\(operand(arguments[0])) \(infix.symbol) \(operand(arguments[1]))"
    }
    return switch function {
    case .index: "\(base(arguments[0]))[\(text(of: arguments[1]))]"
    case .cast: "CAST(\(list(arguments)))"
    case .onesComplement: "~\(operand(arguments[0]))"
    case _ where function.argumentCount == 1: "\(function.rawValue.dropLast())(\(list(arguments)))"
    default: "\(function.rawValue)(\(list(arguments)))"
    }
  }

  /// In parentheses if it would otherwise fall apart beside an operator.
  private static func operand(_ expression: NSExpression) -> String {
    let text = text(of: expression)
    let isAtom =
      switch expression.form {
      case .constant: !text.hasPrefix("-")
      case .set: false
      case .function(let function, _): function != .onesComplement && !Infix.all.contains { $0.function == function }
      default: true
      }
    return isAtom ? text : "(\(text))"
  }

  /// In parentheses if it would otherwise fall apart before a dot or an index; so would a number.
  private static func base(_ expression: NSExpression) -> String {
    if case .constant(let value) = expression.form, !(value is String) { return "(\(text(of: expression)))" }
    return operand(expression)
  }

  /// A key path, marked where a keyword would be read instead.
  private static func path(_ path: String) -> String {
    ReservedWords.contains(path.prefix { $0 != "." }) ? "#" + path : path
  }

  // MARK: Constants

  private static func constant(_ value: Any?) -> String {
    if let index = value as? SymbolicIndex { return index.rawValue }
    return literal(PredicateValue(value))
  }

  private static func literal(_ value: PredicateValue) -> String {
    switch value {
    case .null: "nil"
    case .integer(let value): value.description
    case .double(let value): value.isFinite ? value.description : cast(value.description, .number)
    case .decimal(let value): value.exponent >= 0 ? value.description : cast(value.description, .decimal)
    case .string(let value): quoted(value)
    case .date(let value): "CAST(\(value.timeIntervalSinceReferenceDate), \(quoted(CastType.date.rawValue)))"
    case .data(let value): cast(value.base64EncodedString(), .data)
    case .uuid(let value): cast(value.uuidString, .uuid)
    case .collection(let elements, _): "{\(elements.map(literal).joined(separator: ", "))}"
    case .object(let value as URL): cast(value.absoluteString, .url)
    case .object(let value): "<\(value)>"
    }
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
