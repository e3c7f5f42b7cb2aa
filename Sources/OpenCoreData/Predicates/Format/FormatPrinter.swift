import Foundation

/// Writes predicates and expressions in the format language. Parsing the text gives an equal tree.
///
/// There are exceptions: blocks and objects have no literal, so the text for them cannot be parsed; a collection that
/// was one argument is parsed as an aggregate of constants, and compounds in forms that no format has are parsed as
/// predicates that mean the same.
enum FormatPrinter {
  static func text(of predicate: NSPredicate) -> String {
    switch predicate {
    case let comparison as NSComparisonPredicate: text(of: comparison)
    case let compound as NSCompoundPredicate: text(of: compound)
    case NSPredicate(value: true): "TRUEPREDICATE"
    case NSPredicate(value: false): "FALSEPREDICATE"
    default: "BLOCKPREDICATE"
    }
  }

  private static func text(of comparison: NSComparisonPredicate) -> String {
    let modifier =
      switch comparison.comparisonPredicateModifier {
      case .direct: ""
      case .all: "ALL "
      case .any: "ANY "
      }
    let left = side(comparison.leftExpression)
    let right = side(comparison.rightExpression)
    return "\(modifier)\(left) \(symbol(of: comparison.predicateOperatorType))\(text(of: comparison.options)) \(right)"
  }

  private static func symbol(of type: NSComparisonPredicate.Operator) -> String {
    switch type {
    case .lessThan: "<"
    case .lessThanOrEqualTo: "<="
    case .greaterThan: ">"
    case .greaterThanOrEqualTo: ">="
    case .equalTo: "=="
    case .notEqualTo: "!="
    case .matches: "MATCHES"
    case .like: "LIKE"
    case .beginsWith: "BEGINSWITH"
    case .endsWith: "ENDSWITH"
    case .in: "IN"
    case .contains: "CONTAINS"
    case .between: "BETWEEN"
    }
  }

  private static func text(of options: NSComparisonPredicate.Options) -> String {
    let letters: [(NSComparisonPredicate.Options, String)] = [
      (.caseInsensitive, "c"), (.diacriticInsensitive, "d"), (.normalized, "n"), (.localeSensitive, "l"),
    ]
    return options.isEmpty ? "" : "[\(letters.filter { options.contains($0.0) }.map(\.1).joined())]"
  }

  private static func text(of compound: NSCompoundPredicate) -> String {
    let parts = compound.subpredicates
    return switch compound.compoundPredicateType {
    case .and: joined(parts, " AND ", none: "TRUEPREDICATE")
    case .or: joined(parts, " OR ", none: "FALSEPREDICATE")
    case .not: negation(of: parts)
    }
  }

  /// A negation is false if all its parts are true.
  private static func negation(of parts: [NSPredicate]) -> String {
    let text = joined(parts, " AND ", none: "TRUEPREDICATE")
    return parts.count > 1 || parts.first is NSCompoundPredicate ? "NOT (\(text))" : "NOT \(text)"
  }

  private static func joined(_ parts: [NSPredicate], _ separator: String, none: String) -> String {
    parts.isEmpty ? none : parts.count == 1 ? text(of: parts[0]) : parts.map(part).joined(separator: separator)
  }

  /// A part of a compound, in parentheses if it would be parsed differently without them.
  private static func part(_ predicate: NSPredicate) -> String {
    guard let compound = predicate as? NSCompoundPredicate else { return text(of: predicate) }
    if compound.compoundPredicateType != .not, compound.subpredicates.count == 1 {
      return part(compound.subpredicates[0])
    }
    let isAtom = compound.compoundPredicateType == .not || compound.subpredicates.isEmpty
    return isAtom ? text(of: compound) : "(\(text(of: compound)))"
  }
}
