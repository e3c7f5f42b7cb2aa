import OpenCoreData
import Testing

@Suite struct PrintingTests {
  @Test(
    "A predicate prints in one spelling, which parses to the same predicate.",
    arguments: [
      ("a=1", "a == 1"), ("a<>b", "a != b"), ("a in {1,'b',nil}", "a IN {1, \"b\", nil}"),
      ("NOT a = 1 AND (b = 2 OR c = 3)", "NOT a == 1 AND (b == 2 OR c == 3)"),
      ("!(a = 1 and b = 2)", "NOT (a == 1 AND b == 2)"), ("not not a = 1", "NOT (NOT a == 1)"),
      ("NONE a.b = 1", "NOT ANY a.b == 1"), ("all a like[dc] '?*'", "ALL a LIKE[cd] \"?*\""),
      ("a = 1 AND (b = 2 AND c = 3)", "a == 1 AND (b == 2 AND c == 3)"),
      ("a + 1 * 2 - -b > (c - d) ** 2", "a + 1 * 2 - (0 - b) > (c - d) ** 2"),
      ("(-5) ** 2 = 25", "(-5) ** 2 == 25"),
      ("~a & 1 = 0", "~a & 1 == 0"), ("1 = 1.0", "1 == 1"), ("a IN {1.0, 2.5, -3.0}", "a IN {1, 2.5, -3}"),
      ("a / 2.0 = 1.0", "a / 2.0 == 1"), ("a = 1e30", "a == 1e+30"),
      ("a = 18446744073709551615", "a == 18446744073709551615"), ("sum:(a) = average(b)", "sum(a) == average(b)"),
      ("modulus:by:(a, 2) = 0", "modulus:by:(a, 2) == 0"),
      ("now() > cast(0, 'Date')", "now() > CAST(0.000000, \"NSDate\")"),
      ("a = CAST('10.10', 'DecimalNumber') + 1", nil), ("a = 'q\"\\'\\\\\\n'", "a == \"q\\\"'\\\\\\n\""),
      ("SELF.a = $b.c", "a == $b.c"), ("SELF = self", "SELF == SELF"), ("#in = #Self.x", "#in == #Self.x"),
      ("subquery(a, $x, $x = 1).@count = 1", "SUBQUERY(a, $x, $x == 1).@count == 1"),
      ("a[first] = b[0].c", "a[FIRST] == b[0].c"), ("(a + b)[0] = ('x').length", "(a + b)[0] == \"x\".length"),
      ("(5).a = {1}.@count", "5.a == {1}.@count"), ("a - (b - c) = a - b - c", "a - (b - c) == a - b - c"),
      ("(a ** b) ** c ** ~d = ~(a + 1)", "(a ** b) ** c ** ~d == ~(a + 1)"),
      ("(~a) ** 2 = ~a ** 2", "(~a) ** 2 == ~a ** 2"),
      ("a union (b union c) = a union b union c", "a UNION (b UNION c) == a UNION b UNION c"),
      ("CAST('-5', 'Number').a = 1", "(-5).a == 1"), ("TERNARY(a = 1, b, c) = 1", "TERNARY(a == 1, b, c) == 1"),
      ("a union b = c", "a UNION b == c"), ("(a minus b) intersect c = d", "a MINUS b INTERSECT c == d"),
      ("a between {1, 2} or truepredicate", "a BETWEEN {1, 2} OR TRUEPREDICATE"), ("anykey = 'a'", "ANYKEY == \"a\""),
      ("CAST('nan', 'NSNumber') < a", "CAST(\"nan\", \"NSNumber\") < a"),
      ("CAST('NaN', 'NSDecimalNumber') < a", "CAST(\"NaN\", \"NSDecimalNumber\") < a"), ("größe > 1", "größe > 1"),
      ("CAST(a, 'Number') = 1", "CAST(a, \"Number\") == 1"),
      ("a < CAST(699993000, 'NSDate')", "a < CAST(699993000.000000, \"NSDate\")"),
      ("a < CAST(-0.00000001, 'NSDate')", "a < CAST(-1e-08, \"NSDate\")"),
      ("#'first name'.#\"a-b\" = $'x y'", "#\"first name.a-b\" == $\"x y\""),
      ("a.#'b' = #'1'.@count", "a.b == #\"1.@count\""),
      ("subquery(a, $'x y', $'x y'.#'1' = 1).@count = 1", "SUBQUERY(a, $\"x y\", $\"x y\".#\"1\" == 1).@count == 1"),
    ] as [(String, String?)])
  func canonical(_ format: String, _ expected: String?) throws {
    let predicate = try NSPredicate(parsing: format)
    let text = predicate.formatText
    if let expected { #expect(text == expected) }
    let again = try NSPredicate(parsing: text)
    #expect(again.formatText == text)
    if !text.lowercased().contains("nan") { #expect(again == predicate) }
  }

  @Test("Constants of every kind print as text that parses to them.")
  func constants() throws {
    let values: [Any?] = [
      nil, 1, -1, true, 1.5, -0.0, 1e300, Double.infinity, Decimal(string: "10.10"), Decimal(string: "-0.5"),
      UInt64.max,
      "", "it's \"x\" \\ \n\t\u{0}é😀", Date(), Date(timeIntervalSinceReferenceDate: -0.1), UUID(), Data([0, 255]),
      URL(string: "http://a.b/c?d=e#f"), Int64.min, Float(0.1), Decimal(string: "1e100"), Decimal(string: "-2e3"),
      Date(timeIntervalSinceReferenceDate: .infinity), Date(timeIntervalSinceReferenceDate: -.infinity),
    ]
    for value in values {
      let predicate = try NSPredicate(parsing: "a = %@", arguments: [value])
      #expect(try NSPredicate(parsing: predicate.formatText) == predicate, "\(predicate)")
    }
  }

  @Test("A decimal in arithmetic prints as a decimal, as integers are divided differently.")
  func decimals() throws {
    let predicate = try NSPredicate(parsing: "n / %@ == %@", arguments: [Decimal(2), Decimal(3)])
    #expect(predicate.formatText == "n / CAST(\"2\", \"NSDecimalNumber\") == 3")
    let halves = try NSPredicate(parsing: "n / %@ == 3.5", arguments: [Decimal(2)])
    #expect(halves.evaluate(with: ["n": 7]))
    #expect(try NSPredicate(parsing: halves.formatText).evaluate(with: ["n": 7]))
  }

  @Test("A key path that no format can spell prints in quotes.")
  func keyPaths() throws {
    for path in [
      "first name", "a-b.c", "1st", "a..b", ".", "a.@count", "@count", "a.@b c", "é\"\\'", "in", "#a", "a.in", "x:y",
    ] {
      let predicate = try NSPredicate(parsing: "ANY %K.c IN %K AND $x.%K = 1", arguments: [path, path, path])
      let again = try NSPredicate(parsing: predicate.formatText)
      #expect(again == predicate && again.formatText == predicate.formatText, "\(predicate.formatText)")
      #expect(try comparison(comparison("%K = 1", path).formatText).leftExpression.keyPath == path)
    }
    #expect(try holds("%K = 1 AND #'first name' = 1", "first name", for: ["first name": 1]))
    #expect(throws: PredicateFormatError.self) { try NSPredicate(parsing: "%K = 1", arguments: [""]) }
    #expect(throws: PredicateFormatError.self) { try NSPredicate(parsing: "#'' = 1") }
    #expect(throws: PredicateFormatError.self) { try NSPredicate(parsing: "$\"x = 1") }
  }

  @Test("A collection given as a value prints as an aggregate.")
  func collections() throws {
    let predicate = NSPredicate(format: "a IN %@", ["x", 1, [2.5]] as [Any])
    #expect(predicate.formatText == "a IN {\"x\", 1, {2.5}}")
    #expect(try NSPredicate(parsing: predicate.formatText).formatText == predicate.formatText)
  }

  @Test("Foundation's compounds print; those with one part as that part, those with none as their value.")
  func foundationCompounds() {
    let a = NSPredicate(format: "a = 1")
    let or = NSCompoundPredicate(orPredicateWithSubpredicates: [a, NSPredicate(format: "b = 1")])
    #expect(NSCompoundPredicate(notPredicateWithSubpredicate: or).formatText == "NOT (a == 1 OR b == 1)")
    let one = NSCompoundPredicate(andPredicateWithSubpredicates: [or])
    #expect(one.formatText == "a == 1 OR b == 1")
    #expect(NSCompoundPredicate(andPredicateWithSubpredicates: [one, a]).formatText == "(a == 1 OR b == 1) AND a == 1")
    let none = NSCompoundPredicate(orPredicateWithSubpredicates: [])
    #expect(NSCompoundPredicate(andPredicateWithSubpredicates: [none, a]).formatText == "FALSEPREDICATE AND a == 1")
  }

  @Test("A negation of several predicates prints as an equivalent predicate.")
  func negations() throws {
    func not(_ formats: String...) -> NSPredicate {
      NSCompoundPredicate(type: .not, subpredicates: formats.map { NSPredicate(format: $0) })
    }
    #expect(not("a = 1", "b = 1").formatText == "NOT (a == 1 AND b == 1)")
    #expect(not("a = 1", "b = 1 OR c = 1").formatText == "NOT (a == 1 AND (b == 1 OR c == 1))")
    let some = NSPredicate(format: "c = 1")
    for predicate in [not("a = 1"), not("a = 1", "b = 1"), not("a = 1 OR b = 1")] {
      let all = NSCompoundPredicate(andPredicateWithSubpredicates: [predicate, some])
      // Foundation's compounds cannot evaluate all of these themselves.
      let compiled = try CompiledPredicate(all, reading: .objects)
      let again = try NSPredicate(parsing: all.formatText)
      for bits in 0..<8 {
        let object = ["a": bits & 1, "b": bits >> 1 & 1, "c": bits >> 2]
        #expect(again.evaluate(with: object) == compiled.matches(object), "\(all.formatText)")
      }
    }
  }

  @Test("A value without a literal prints as text that does not parse.")
  func noLiteral() {
    for predicate in [NSPredicate(format: "a = %@", NSObject()), NSPredicate { _, _ in true }] {
      let text = predicate.formatText
      #expect(throws: PredicateFormatError.self) { try NSPredicate(parsing: text) }
    }
  }

  @Test("Random predicates print and parse to themselves.")
  func randomTrees() throws {
    var random = RandomPredicates(seed: chooseSeed())
    for _ in 0..<2000 {
      let predicate = random.predicate(depth: 4)
      let again = try NSPredicate(parsing: predicate.formatText)
      try #require(again == predicate, "\(predicate.formatText)")
    }
  }
}
