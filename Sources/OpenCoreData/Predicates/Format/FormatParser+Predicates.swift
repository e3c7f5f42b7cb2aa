import Foundation

extension FormatParser {
  /// The longest predicate or expression that begins at the current token.
  func anyOperand() throws(PredicateFormatError) -> Operand { try nested(disjunction) }

  private func disjunction() throws(PredicateFormatError) -> Operand { try chain(.or, of: conjunction) }

  private func conjunction() throws(PredicateFormatError) -> Operand { try chain(.and, of: negation) }

  /// Operands that `AND` or `OR` joins into one compound predicate; a single operand stays as it is.
  private func chain(
    _ type: NSCompoundPredicate.LogicalType, of operand: Rule<Operand>
  ) throws(PredicateFormatError) -> Operand {
    let first = try operand()
    guard isNext(type) else { return first }
    var predicates = [try predicate(first)]
    while isNext(type) {
      advance()
      predicates.append(try predicate(operand))
    }
    return .predicate(CompoundPredicate(type: type, subpredicates: predicates))
  }

  private func isNext(_ type: NSCompoundPredicate.LogicalType) -> Bool {
    type == .and
      ? token.keyword == "AND" || token == .symbol("&&") : token.keyword == "OR" || token == .symbol("||")
  }

  /// An operand, which may be negated. `NONE` means `NOT ANY`.
  private func negation() throws(PredicateFormatError) -> Operand {
    let negated: NSPredicate
    if accept(keyword: "NOT") || accept("!") {
      negated = try predicate { () throws(PredicateFormatError) in try nested(negation) }
    } else if token.keyword == "NONE" {
      negated = try predicate { () throws(PredicateFormatError) in try nested(comparison) }
    } else {
      return try comparison()
    }
    return .predicate(CompoundPredicate(type: .not, subpredicates: [negated]))
  }

  private func comparison() throws(PredicateFormatError) -> Operand {
    let chainedAround = chained
    defer { chained = chainedAround }
    let quantifier = quantifier()
    let left = try infix()
    guard case .expression(let leftExpression) = left, let type = try comparisonOperator() else {
      if quantifier != nil { throw problem("\(token.name) stands where a quantified value has to be compared") }
      return left
    }
    let options = try comparisonOptions()
    let right = try expression(infix)
    return .predicate(
      NSComparisonPredicate(
        leftExpression: leftExpression, rightExpression: right, modifier: quantifier ?? .direct, type: type,
        options: options))
  }

  private func quantifier() -> NSComparisonPredicate.Modifier? {
    switch token.keyword {
    case "ANY", "SOME", "NONE": advance(); return .any
    case "ALL": advance(); return .all
    default: return nil
    }
  }

  private func comparisonOperator() throws(PredicateFormatError) -> NSComparisonPredicate.Operator? {
    let type: NSComparisonPredicate.Operator? =
      switch token {
      case .symbol("<"): .lessThan
      case .symbol("<="), .symbol("=<"): .lessThanOrEqualTo
      case .symbol(">"): .greaterThan
      case .symbol(">="), .symbol("=>"): .greaterThanOrEqualTo
      case .symbol("="), .symbol("=="): .equalTo
      case .symbol("!="), .symbol("<>"): .notEqualTo
      default: try wordOperator()
      }
    if type != nil { advance() }
    return type
  }

  private func wordOperator() throws(PredicateFormatError) -> NSComparisonPredicate.Operator? {
    switch token.keyword {
    case "IN": .in
    case "BETWEEN": .between
    case "CONTAINS": .contains
    case "BEGINSWITH": .beginsWith
    case "ENDSWITH": .endsWith
    case "LIKE": .like
    case "MATCHES": .matches
    case "UTI-CONFORMS-TO", "UTI-EQUALS": throw problem("uniform type identifiers are not known on this platform")
    default: nil
    }
  }

  private func comparisonOptions() throws(PredicateFormatError) -> NSComparisonPredicate.Options {
    guard accept("[") else { return [] }
    guard case .word(let letters) = token else { throw problem("\(token.name) stands where options are expected") }
    var options: NSComparisonPredicate.Options = []
    for letter in letters.lowercased() {
      switch letter {
      case "c": options.insert(.caseInsensitive)
      case "d": options.insert(.diacriticInsensitive)
      case "n": options.insert(.normalized)
      case "l": options.insert(.localeSensitive)
      default: throw problem("there is no option '\(letter)'")
      }
    }
    advance()
    try expect("]")
    return options
  }
}
