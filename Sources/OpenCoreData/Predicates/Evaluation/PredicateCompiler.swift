import Foundation

/// Turns predicates and expressions into closures that evaluate them.
struct PredicateCompiler<Row> {
  typealias Test = (Row, Bindings) -> Bool
  typealias Reader = (Row, Bindings) -> PredicateValue

  let rows: RowReader<Row>
  /// The values of variables; nil if they are given at each evaluation.
  let variables: [String: Any]?
  /// The iterator variables of the enclosing subqueries, the innermost last.
  var scope: [String] = []

  func compile(_ predicate: NSPredicate) throws(PredicateCompilationError) -> Test {
    switch predicate {
    case let comparison as NSComparisonPredicate: return try compile(comparison)
    case let compound as NSCompoundPredicate: return try compile(compound)
    case NSPredicate(value: true): return { _, _ in true }
    case NSPredicate(value: false): return { _, _ in false }
    default:
      let (object, scope) = (rows.object, scope)
      return { row, bindings in
        predicate.evaluate(with: object(row), substitutionVariables: bindings.all(scope))
      }
    }
  }

  private func compile(_ compound: NSCompoundPredicate) throws(PredicateCompilationError) -> Test {
    var tests: [Test] = []
    for subpredicate in compound.subpredicates { tests.append(try compile(subpredicate)) }
    switch compound.compoundPredicateType {
    case .and: return try Self.balanced(tests[...], none: true) { left, right in { left($0, $1) && right($0, $1) } }
    case .or: return try Self.balanced(tests[...], none: false) { left, right in { left($0, $1) || right($0, $1) } }
    case .not:
      let negated = try Self.balanced(tests[...], none: true) { left, right in { left($0, $1) && right($0, $1) } }
      return { !negated($0, $1) }
    }
  }

  /// One test that applies many in their order. Its calls nest no deeper than the logarithm of their number.
  private static func balanced(
    _ tests: ArraySlice<Test>, none: Bool, _ combine: (@escaping Test, @escaping Test) -> Test
  ) throws(PredicateCompilationError) -> Test {
    guard let first = tests.first else { return { _, _ in none } }
    guard tests.count > 1 else { return first }
    let middle = tests.startIndex + tests.count / 2
    return combine(
      try balanced(tests[..<middle], none: none, combine), try balanced(tests[middle...], none: none, combine))
  }

  private func compile(_ predicate: NSComparisonPredicate) throws(PredicateCompilationError) -> Test {
    let comparison = Comparison(predicate)
    let left = try compile(predicate.leftExpression).reader
    switch try compile(predicate.rightExpression) {
    case .constant(let right):
      let test = try comparison.quantified(comparison.test(against: right))
      if let testInPlace = self.testInPlace(predicate, right) {
        return { row, bindings in testInPlace(row) ?? test(left(row, bindings)) }
      }
      return { row, bindings in test(left(row, bindings)) }
    case .varying(let given):
      let right = predicate.predicateOperatorType == .in ? spread(predicate.rightExpression, given) : given
      if predicate.comparisonPredicateModifier == .direct {
        return { row, bindings in comparison.holds(left(row, bindings), right(row, bindings)) }
      }
      return { row, bindings in
        let right = right(row, bindings)
        return comparison.quantified { comparison.holds($0, right) }(left(row, bindings))
      }
    }
  }

  private func testInPlace(_ predicate: NSComparisonPredicate, _ constant: PredicateValue) -> ((Row) -> Bool?)? {
    guard predicate.comparisonPredicateModifier == .direct, predicate.options.isEmpty else { return nil }
    switch predicate.leftExpression.form {
    case .keyPath(let path): return rows.test?(path, predicate.predicateOperatorType, constant)
    case .evaluatedObject: return rows.test?("self", predicate.predicateOperatorType, constant)
    default: return nil
    }
  }

  /// Reads the collection that `IN` searches: the values that braces list, and the elements of each collection among
  /// them that a key path gives.
  private func spread(_ expression: NSExpression, _ read: @escaping Reader) -> Reader {
    guard case .aggregate(let parts) = expression.form, parts.contains(where: \.isPath) else { return read }
    let arePaths = parts.map(\.isPath)
    return { row, bindings in
      let listed = read(row, bindings).elements ?? []
      let found = zip(listed, arePaths).flatMap { value, isPath in [value] + (isPath ? value.elements ?? [] : []) }
      return .collection(found, ordered: false)
    }
  }
}

extension NSExpression {
  fileprivate var isPath: Bool {
    switch form {
    case .keyPath, .path: true
    default: false
    }
  }
}
