import OpenCoreData

/// Evaluates predicates by walking their trees, as plainly as possible: without closures, prepared constants or cached
/// lookups.
///
/// Functions of values are those of the product; rows, variables, quantifiers and strings are implemented a second
/// time.
struct Interpreter {
  let row: [String: Any]
  var variables: [String: PredicateValue] = [:]

  func holds(_ predicate: NSPredicate) -> Bool {
    if let compound = predicate as? NSCompoundPredicate {
      let parts = compound.subpredicates.map(holds)
      return switch compound.compoundPredicateType {
      case .and: !parts.contains(false)
      case .or: parts.contains(true)
      case .not: !parts[0]
      }
    }
    guard let comparison = predicate as? NSComparisonPredicate else { return predicate == NSPredicate(value: true) }
    let left = value(comparison.leftExpression)
    let right =
      comparison.predicateOperatorType == .in
      ? searched(comparison.rightExpression) : value(comparison.rightExpression)
    let parts = comparison.predicateOperatorType == .contains ? left.elements : left.elements.map(flattened)
    return switch comparison.comparisonPredicateModifier {
    case .direct: holds(comparison, left, right)
    case .any: parts?.contains { holds(comparison, $0, right) } ?? false
    case .all: left.isNull || parts?.allSatisfy { holds(comparison, $0, right) } ?? false
    }
  }

  /// The values that `IN` searches: those listed in braces, and the elements of the collections that key paths among
  /// them lead to.
  private func searched(_ expression: NSExpression) -> PredicateValue {
    guard expression.expressionType == .aggregate, let parts = expression.collection as? [NSExpression] else {
      return value(expression)
    }
    var found: [PredicateValue] = []
    for part in parts {
      found.append(value(part))
      let isPath =
        part.expressionType == .keyPath || part.expressionType == .function && part.function == "valueForKeyPath:"
      if isPath { found += value(part).elements ?? [] }
    }
    return .collection(found, ordered: true)
  }

  private func flattened(_ values: [PredicateValue]) -> [PredicateValue] {
    values.flatMap { $0.elements.map(flattened) ?? [$0] }
  }

  private func holds(_ comparison: NSComparisonPredicate, _ left: PredicateValue, _ right: PredicateValue) -> Bool {
    let (left, right) = (folded(left, comparison.options), folded(right, comparison.options))
    return switch comparison.predicateOperatorType {
    case .equalTo: left == right
    case .notEqualTo: left != right
    case .lessThan: left.order(right) == .orderedAscending
    case .lessThanOrEqualTo: left.order(right).map { $0 != .orderedDescending } ?? false
    case .greaterThan: left.order(right) == .orderedDescending
    case .greaterThanOrEqualTo: left.order(right).map { $0 != .orderedAscending } ?? false
    case .between: isBetween(left, right)
    case .in: contains(right, left, comparison.options)
    case .contains: contains(left, right, comparison.options)
    case .beginsWith:
      both(left, right) { Array($0.unicodeScalars.prefix($1.unicodeScalars.count)) == Array($1.unicodeScalars) }
    case .endsWith:
      both(left, right) { Array($0.unicodeScalars.suffix($1.unicodeScalars.count)) == Array($1.unicodeScalars) }
    case .like: both(left, right) { isLike(Array($0)[...], Array($1)[...]) }
    case .matches: false
    }
  }

  private func isBetween(_ value: PredicateValue, _ bounds: PredicateValue) -> Bool {
    guard let bounds = bounds.elements, bounds.count == 2 else { return false }
    return [bounds[0].order(value), value.order(bounds[1])].allSatisfy { $0 == .orderedAscending || $0 == .orderedSame }
  }

  /// - Parameter options: Have been applied, but not to the values of a dictionary.
  private func contains(
    _ whole: PredicateValue, _ part: PredicateValue, _ options: NSComparisonPredicate.Options
  ) -> Bool {
    if let elements = whole.elements { return elements.contains { $0 == part } }
    if case .object(let dictionary as [String: Any]) = whole {
      return dictionary.values.contains { folded(PredicateValue($0), options) == part }
    }
    return both(whole, part) { whole, part in
      let (whole, part) = (Array(whole.unicodeScalars), Array(part.unicodeScalars))
      return whole.indices.contains { whole[$0...].starts(with: part) } || part.isEmpty
    }
  }

  private func both(_ left: PredicateValue, _ right: PredicateValue, _ test: (String, String) -> Bool) -> Bool {
    if case .string(let left) = left, case .string(let right) = right { test(left, right) } else { false }
  }

  private func isLike(_ text: ArraySlice<Character>, _ pattern: ArraySlice<Character>) -> Bool {
    switch pattern.first {
    case nil: text.isEmpty
    case "*": isLike(text, pattern.dropFirst()) || (!text.isEmpty && isLike(text.dropFirst(), pattern))
    case "?": !text.isEmpty && isLike(text.dropFirst(), pattern.dropFirst())
    case let first: text.first == first && isLike(text.dropFirst(), pattern.dropFirst())
    }
  }

  private func folded(_ value: PredicateValue, _ options: NSComparisonPredicate.Options) -> PredicateValue {
    switch value {
    case .string(let text):
      var folding: String.CompareOptions = []
      if options.contains(.caseInsensitive) { folding.insert(.caseInsensitive) }
      if options.contains(.diacriticInsensitive) { folding.insert(.diacriticInsensitive) }
      return .string(text.folding(options: folding, locale: nil).precomposedStringWithCanonicalMapping)
    case .collection(let elements, let ordered):
      return .collection(elements.map { folded($0, options) }, ordered: ordered)
    default: return value
    }
  }

  // MARK: Expressions

  private func value(_ expression: NSExpression) -> PredicateValue {
    switch expression.expressionType {
    case .constantValue: PredicateValue(expression.constantValue)
    case .evaluatedObject: PredicateValue(row)
    case .variable: variables[expression.variable] ?? .null
    case .keyPath: read(expression.keyPath.split(separator: ".")[...], from: .object(row))
    case .function where expression.function == "valueForKeyPath:":
      read((expression.arguments ?? [])[0].keyPath.split(separator: ".")[...], from: value(expression.operand))
    case .function: call(expression.function, (expression.arguments ?? []).map(value))
    case .aggregate: .collection((expression.collection as? [NSExpression] ?? []).map(value), ordered: true)
    case .subquery: subquery(expression)
    case .conditional: value(holds(expression.predicate) ? expression.true : expression.false)
    case .unionSet: combine(expression) { left, right in left + right.filter { !left.contains($0) } }
    case .intersectSet: combine(expression) { left, right in left.filter(right.contains) }
    case .minusSet: combine(expression) { left, right in left.filter { !right.contains($0) } }
    case .anyKey, .block, .fetchRequest: .null
    }
  }

  private func combine(
    _ expression: NSExpression, _ operation: ([PredicateValue], [PredicateValue]) -> [PredicateValue]
  ) -> PredicateValue {
    guard let left = value(expression.left).elements, let right = value(expression.right).elements else { return .null }
    var distinct: [PredicateValue] = []
    for value in operation(left, right) where !distinct.contains(value) { distinct.append(value) }
    return .collection(distinct, ordered: false)
  }

  private func subquery(_ expression: NSExpression) -> PredicateValue {
    let collection = (expression.collection as? NSExpression).map(value) ?? .null
    guard case .collection(let elements, let ordered) = collection else { return .collection([], ordered: false) }
    let found = elements.filter { element in
      var inner = self
      inner.variables[expression.variable] = element
      return inner.holds(expression.predicate)
    }
    return .collection(found, ordered: ordered)
  }

  private func call(_ function: String, _ arguments: [PredicateValue]) -> PredicateValue {
    let constants = arguments.map { NSExpression(forConstantValue: $0) }
    return PredicateValue(
      NSExpression(forFunction: function, arguments: constants).expressionValue(with: nil, context: nil))
  }

  private func read(_ path: ArraySlice<Substring>, from value: PredicateValue) -> PredicateValue {
    guard let key = path.first.map(String.init) else { return value }
    let rest = path.dropFirst()
    if key.hasPrefix("@") {
      if key == "@count", case .object(let dictionary as [String: Any]) = value {
        return .integer(Int64(dictionary.count))
      }
      guard let elements = value.elements else { return .null }
      let values = PredicateValue.collection(elements.map { read(rest, from: $0) }, ordered: true)
      switch key {
      case "@count": return .integer(Int64(elements.count))
      case "@sum": return call("sum:", [values])
      case "@avg": return call("average:", [values])
      case "@min": return call("min:", [values])
      default: return call("max:", [values])
      }
    }
    return read(rest, from: step(key, from: value))
  }

  private func step(_ key: String, from value: PredicateValue) -> PredicateValue {
    switch value {
    case _ where key == "self": value
    case .collection(let elements, let ordered): .collection(elements.map { step(key, from: $0) }, ordered: ordered)
    case .object(let object as [String: Any]): PredicateValue(object[key])
    default: PredicateValue(["value": value].value(forKeyPath: "value.\(key)"))
    }
  }
}
