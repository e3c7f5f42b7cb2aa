import Foundation

/// A parsed predicate with places for the arguments of its format.
///
/// Each place is a whole side of a comparison, or an element of a list that is one. An argument anywhere else may
/// decide what the parser makes of the expressions around it, so such formats have no template.
struct FormatTemplate {
  /// A placeholder, with the expression that the parser has made of it.
  typealias Placeholder = (letter: Character, expression: NSExpression)

  private indirect enum Part {
    case whole(NSPredicate)
    case comparison(
      Operand, Operand, NSComparisonPredicate.Modifier, NSComparisonPredicate.Operator, NSComparisonPredicate.Options)
    case compound(NSCompoundPredicate.LogicalType, [Part])
  }

  private enum Operand {
    case whole(NSExpression)
    case placeholder(Character)
    case list([Operand])
  }

  private let root: Part

  /// Nil if one of the placeholders is not in a place of its own.
  ///
  /// - Parameter placeholders: All that have taken an argument, in their order.
  init?(_ predicate: NSPredicate, _ placeholders: [Placeholder]) {
    var rest = placeholders[...]
    root = Self.part(predicate, &rest)
    guard rest.isEmpty else { return nil }
  }

  private static func part(_ predicate: NSPredicate, _ rest: inout ArraySlice<Placeholder>) -> Part {
    let count = rest.count
    let part: Part
    switch predicate {
    case let comparison as NSComparisonPredicate:
      let left = operand(comparison.leftExpression, &rest)
      let right = operand(comparison.rightExpression, &rest)
      part = .comparison(
        left, right, comparison.comparisonPredicateModifier, comparison.predicateOperatorType, comparison.options)
    case let compound as CompoundPredicate:
      part = .compound(compound.compoundPredicateType, compound.subpredicates.map { Self.part($0, &rest) })
    default: part = .whole(predicate)
    }
    return rest.count < count ? part : .whole(predicate)
  }

  private static func operand(_ expression: NSExpression, _ rest: inout ArraySlice<Placeholder>) -> Operand {
    if let first = rest.first, first.expression === expression {
      rest.removeFirst()
      return .placeholder(first.letter)
    }
    guard case .aggregate(let elements) = expression.form else { return .whole(expression) }
    let count = rest.count
    let operands = elements.map { operand($0, &rest) }
    return rest.count < count ? .list(operands) : .whole(expression)
  }

  /// The predicate with arguments at its places; nil if one is missing or does not fit, which the parser reports.
  func predicate(_ arguments: [Any?]) -> NSPredicate? {
    var arguments = FormatArguments(arguments)
    return try? Self.predicate(root, &arguments)
  }

  private static func predicate(
    _ part: Part, _ arguments: inout FormatArguments
  ) throws(FormatProblem) -> NSPredicate {
    switch part {
    case .whole(let predicate): return predicate
    case .comparison(let left, let right, let modifier, let type, let options):
      let left = try expression(left, &arguments)
      let right = try expression(right, &arguments)
      return NSComparisonPredicate(
        leftExpression: left, rightExpression: right, modifier: modifier, type: type, options: options)
    case .compound(let type, let parts):
      var predicates: [NSPredicate] = []
      predicates.reserveCapacity(parts.count)
      for part in parts { predicates.append(try predicate(part, &arguments)) }
      return CompoundPredicate(type: type, subpredicates: predicates)
    }
  }

  private static func expression(
    _ operand: Operand, _ arguments: inout FormatArguments
  ) throws(FormatProblem) -> NSExpression {
    switch operand {
    case .whole(let expression): return expression
    case .placeholder("K"):
      let path = try arguments.keyPath()
      // The parser counts the operators of a path.
      guard !path.utf8.contains(UInt8(ascii: "@")) else { throw FormatProblem("the path has operators") }
      return NSExpression(forKeyPath: path)
    case .placeholder(let letter): return try arguments.expression(for: letter)
    case .list(let operands):
      var expressions: [NSExpression] = []
      expressions.reserveCapacity(operands.count)
      for operand in operands { expressions.append(try expression(operand, &arguments)) }
      return NSExpression(.aggregate(expressions))
    }
  }
}
