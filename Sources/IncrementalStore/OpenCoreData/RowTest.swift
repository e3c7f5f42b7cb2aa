import OpenCoreData

/// Tests rows of an entity where their bytes lie, by what a predicate requires first.
struct RowTest {
  private let tests: [FieldTest]
  /// Whether the predicate requires nothing else.
  let isWhole: Bool

  /// Nil if the bytes do not tell about the predicate, or about its first part.
  init?(_ predicate: NSPredicate?, _ map: EntityMap, _ access: RowAccess) {
    guard let conjuncts = predicate?.conjuncts else { return nil }
    var tests: [FieldTest] = []
    for conjunct in conjuncts {
      guard let test = FieldTest(conjunct, map, access) else { break }
      tests.append(test)
    }
    guard !tests.isEmpty else { return nil }
    self.tests = tests
    isWhole = tests.count == conjuncts.count
  }

  /// Whether a row satisfies the predicate; nil if it must be evaluated.
  func callAsFunction(_ row: RawSpan) -> Bool? {
    for test in tests {
      guard let holds = test(row) else { return nil }
      if !holds { return false }
    }
    return isWhole ? true : nil
  }

  func callAsFunction(_ row: [UInt8]) -> Bool? { unsafe row.withUnsafeBytes { unsafe self($0.bytes) } }
}

extension FieldTest {
  /// The test of a comparison of a property with a constant.
  fileprivate init?(_ predicate: NSPredicate, _ map: EntityMap, _ access: RowAccess) {
    guard let comparison = predicate as? NSComparisonPredicate, comparison.comparisonPredicateModifier == .direct,
      comparison.options.isEmpty, let path = comparison.leftExpression.path, let field = map.field(named: path),
      let constant = PredicateValue(constant: comparison.rightExpression)
    else { return nil }
    self.init(field, comparison.predicateOperatorType, constant, access)
  }
}

extension PredicateValue {
  /// The value of a constant, or of a list of constants; nil if the expression is something else.
  fileprivate init?(constant expression: NSExpression) {
    if expression.isConstant {
      self.init(expression.constantValue)
    } else if let constants = expression.several {
      self = .collection(constants.map { PredicateValue($0) }, ordered: true)
    } else {
      return nil
    }
  }
}
