import OpenCoreData
import Testing

/// The properties of predicates that a store relies on to translate them.
@Suite struct InspectionTests {
  @Test("A format makes the class of its outermost part.")
  func classes() {
    let made: [NSPredicate] = [
      NSPredicate(format: "a = 1"), NSPredicate(format: "a = 1 AND b = 2"), NSPredicate(format: "TRUEPREDICATE"),
    ]
    #expect(made.map { $0 is NSComparisonPredicate } == [true, false, false])
    #expect(made.map { $0 is NSCompoundPredicate } == [false, true, false])
  }

  @Test("A comparison shows its parts.")
  func parts() throws {
    let parsed = try comparison("ANY staff.name BEGINSWITH[cd] %@", "A")
    #expect(parsed.comparisonPredicateModifier == .any)
    #expect(parsed.predicateOperatorType == .beginsWith)
    #expect(parsed.options == [.caseInsensitive, .diacriticInsensitive])
    #expect(parsed.leftExpression.expressionType == .keyPath)
    #expect(parsed.leftExpression.keyPath == "staff.name")
    #expect(parsed.rightExpression.expressionType == .constantValue)
    #expect(parsed.rightExpression.constantValue as? String == "A")
  }

  @Test("Ranges and lists are aggregates or constants.")
  func collections() throws {
    let range = try comparison("a BETWEEN {1, 2}").rightExpression
    #expect((range.collection as? [NSExpression])?.map(\.constantValue) as? [Int64] == [1, 2])
    #expect(try comparison("a IN %@", [1, 2]).rightExpression.constantValue as? [Int] == [1, 2])
  }

  @Test("A subquery shows its collection, variable and predicate, and a key read from it is a function.")
  func subquery() throws {
    let count = try comparison("SUBQUERY(staff, $x, $x.age > 3).@count > 0").leftExpression
    #expect(count.expressionType == .function)
    #expect(count.function == "valueForKeyPath:")
    #expect(count.arguments?.map(\.keyPath) == ["@count"])
    let subquery = count.operand
    #expect(subquery.expressionType == .subquery)
    #expect((subquery.collection as? NSExpression)?.keyPath == "staff")
    #expect(subquery.variable == "x")
    let inner = try #require(subquery.predicate as? NSComparisonPredicate)
    #expect(inner.leftExpression.function == "valueForKeyPath:")
    #expect(inner.leftExpression.operand.variable == "x")
    #expect(inner.leftExpression.arguments?.first?.keyPath == "age")
  }

  @Test("Functions show their names and arguments.")
  func functions() throws {
    let expression = try NSExpression(parsing: "a + lowercase('X')")
    #expect(expression.function == "add:to:")
    #expect(expression.arguments?.map(\.expressionType) == [.keyPath, .function])
    #expect(expression.arguments?[1].function == "lowercase:")
    #expect(expression.operand.expressionType == .evaluatedObject)
  }

  @Test("Conditions and sets show their parts.")
  func conditional() throws {
    let condition = try NSExpression(parsing: "TERNARY(a = 1, b, c)")
    #expect(condition.expressionType == .conditional)
    #expect(condition.predicate is NSComparisonPredicate)
    #expect(condition.true.keyPath == "b")
    #expect(condition.false.keyPath == "c")
    let set = try NSExpression(parsing: "a UNION b")
    #expect(set.left.keyPath == "a")
    #expect(set.right.keyPath == "b")
  }

  @Test("Expressions made one by one equal those that a format makes.")
  func making() throws {
    let x = NSExpression(forVariable: "x")
    let made: [(NSExpression, String)] = [
      (NSExpression(forConstantValue: 1), "1"),
      (NSExpression(forConstantValue: nil), "nil"),
      (NSExpression(forKeyPath: "a.b"), "a.b"),
      (x, "$x"),
      (.expressionForEvaluatedObject(), "SELF"),
      (NSExpression(expressionType: .evaluatedObject), "SELF"),
      (.expressionForAnyKey(), "ANYKEY"),
      (NSExpression(forFunction: "from:subtract:", arguments: [x, NSExpression(forConstantValue: 1)]), "$x - 1"),
      (
        NSExpression(forFunction: x, selectorName: "valueForKeyPath:", arguments: [NSExpression(forKeyPath: "a")]),
        "$x.a"
      ),
      (NSExpression(forAggregate: [x, x]), "{$x, $x}"),
      (NSExpression(forUnionSet: x, with: x), "$x UNION $x"),
      (NSExpression(forIntersectSet: x, with: x), "$x INTERSECT $x"),
      (NSExpression(forMinusSet: x, with: x), "$x MINUS $x"),
      (
        NSExpression(
          forSubquery: NSExpression(forKeyPath: "a"), usingIteratorVariable: "x",
          predicate: NSPredicate(format: "$x = 1")),
        "SUBQUERY(a, $x, $x = 1)"
      ),
      (
        NSExpression(forConditional: NSPredicate(value: true), trueExpression: x, falseExpression: x),
        "TERNARY(TRUEPREDICATE, $x, $x)"
      ),
    ]
    for (expression, format) in made {
      #expect(try expression == NSExpression(parsing: format), "\(format)")
      #expect(expression.description == format.replacing("= 1", with: "== 1"))
    }
    let predicate = NSComparisonPredicate(
      leftExpression: x, rightExpression: x, modifier: .all, type: .like, options: .caseInsensitive)
    #expect(try predicate == NSPredicate(parsing: "ALL $x LIKE[c] $x"))
  }

  @Test("Raw values of predicates and expressions are Apple's.")
  func rawValues() {
    #expect(NSExpression.ExpressionType.constantValue.rawValue == 0)
    #expect(NSExpression.ExpressionType.minusSet.rawValue == 7)
    #expect(NSExpression.ExpressionType.subquery.rawValue == 13)
    #expect(NSExpression.ExpressionType.conditional.rawValue == 20)
    #expect(NSComparisonPredicate.Operator.lessThan.rawValue == 0)
    #expect(NSComparisonPredicate.Operator.in.rawValue == 10)
    #expect(NSComparisonPredicate.Operator.contains.rawValue == 99)
    #expect(NSComparisonPredicate.Operator.between.rawValue == 100)
    #expect(NSComparisonPredicate.Modifier.any.rawValue == 2)
    #expect(NSComparisonPredicate.Options.normalized.rawValue == 4)
  }

  @Test("Predicates are equal by structure, also in sets.")
  func equality() throws {
    #expect(try NSPredicate(parsing: "a = 1 AND b = 2") == NSPredicate(parsing: "a == 1.0 && b == 2"))
    #expect(try NSPredicate(parsing: "a = 1 AND b = 2") != NSPredicate(parsing: "a = 1 OR b = 2"))
    #expect(try NSPredicate(parsing: "a = 1") != NSPredicate(parsing: "a =[c] 1"))
    #expect(try NSPredicate(parsing: "a = 1") != NSPredicate(value: false))
    #expect(NSPredicate(value: false) != NSCompoundPredicate(andPredicateWithSubpredicates: []))
    let set: Set = [NSPredicate(format: "a = 1"), NSPredicate(format: "a = 1"), NSPredicate(format: "a = 2")]
    #expect(set.count == 2)
    let compounds: Set = [NSPredicate(format: "a = 1 OR b = 1"), NSPredicate(format: "a = 1 OR b = 2")]
    #expect(compounds.count == 2)
  }

  @Test("Copies of predicates are equal to them.")
  func copies() throws {
    for format in ["a = 1", "a = 1 AND b = 2"] {
      let predicate = try NSPredicate(parsing: format)
      #expect(predicate.copy() as? NSPredicate === predicate)
    }
    let expression = NSExpression(forKeyPath: "a")
    #expect(expression.copy() as? NSExpression === expression)
  }

  @Test("Reading a part that an expression does not have ends the program.")
  func missingPart() async {
    await #expect(processExitsWith: .failure) { _ = NSExpression(forKeyPath: "a").constantValue }
    await #expect(processExitsWith: .failure) { _ = NSExpression(forFunction: "no:", arguments: []) }
    await #expect(processExitsWith: .failure) { _ = NSExpression(forFunction: "sum:", arguments: []) }
  }
}
