import OpenCoreData
import Testing

@Suite struct CompoundFormatTests {
  @Test("NOT binds tighter than AND, and AND tighter than OR.")
  func precedence() throws {
    let parsed = try compound("a = 1 OR NOT b = 2 AND c = 3")
    #expect(parsed.compoundPredicateType == .or)
    let and = try #require(parsed.subpredicates[1] as? NSCompoundPredicate)
    #expect(and.compoundPredicateType == .and)
    let not = try #require(and.subpredicates[0] as? NSCompoundPredicate)
    #expect(not.compoundPredicateType == .not)
    #expect(not.subpredicates == [try comparison("b = 2")])
    #expect(and.subpredicates[1] is NSComparisonPredicate)
  }

  @Test("Words and symbols of compounds mean the same, in any case.")
  func spellings() throws {
    let words = try compound("NOT (a = 1) AND b = 2 OR c = 3")
    #expect(try words == compound("!(a=1)&&b=2||c=3"))
    #expect(try words == compound("not (a = 1) and b = 2 or c = 3"))
  }

  @Test(
    "Keywords may be written in any case.",
    arguments: [
      "NONE a.b IN {1} AND ALL a.b BETWEEN {1, 2}", "SUBQUERY(a, $x, $x != NIL).@count = 1 OR SELF = NULL",
      "TERNARY(TRUEPREDICATE, 1, 2) = CAST('1', 'NSNumber')", "a[FIRST] IN b UNION c", "a[LAST] IN b INTERSECT c",
      "a[SIZE] = 1 AND NOT d IN b MINUS c",
    ])
  func keywords(_ format: String) throws {
    let lowercase = format.replacing(/\b[A-Z]{2,}\b/) { $0.output.lowercased() }
    #expect(try NSPredicate(parsing: lowercase) == NSPredicate(parsing: format))
  }

  @Test("A chain of operators is one compound, and parentheses make another.")
  func chains() throws {
    #expect(try compound("a = 1 AND b = 2 AND c = 3").subpredicates.count == 3)
    #expect(try compound("a = 1 AND (b = 2 AND c = 3)").subpredicates.count == 2)
  }

  @Test("Parentheses may contain predicates and values.")
  func parentheses() throws {
    #expect(try comparison("((a + 1)) * 2 > (3)") == comparison("(a + 1) * 2 > 3"))
    #expect(try NSPredicate(parsing: "((a > 1))") == comparison("a > 1"))
    #expect(
      try NSPredicate(parsing: String(repeating: "(", count: 50) + "a" + String(repeating: ")", count: 50) + "=1")
        == comparison("a = 1"))
  }

  @Test("Predicates may be constants.")
  func constants() throws {
    #expect(try holds("TRUEPREDICATE"))
    #expect(try !holds("falsepredicate"))
    #expect(try holds("FALSEPREDICATE OR NOT FALSEPREDICATE"))
    #expect(try NSPredicate(parsing: "TRUEPREDICATE") == NSPredicate(value: true))
  }

  @Test("AND of nothing is true, and OR of nothing is false.")
  func empty() {
    #expect(NSCompoundPredicate(andPredicateWithSubpredicates: []).evaluate(with: nil))
    #expect(!NSCompoundPredicate(orPredicateWithSubpredicates: []).evaluate(with: nil))
  }

  @Test("Foundation's compounds and ours can be mixed.")
  func mixed() throws {
    let mixed = NSCompoundPredicate(orPredicateWithSubpredicates: [
      NSCompoundPredicate(notPredicateWithSubpredicate: NSPredicate(format: "a = 1")),
      NSPredicate(format: "b = 2 AND c = 3"),
      NSPredicate { object, _ in object is Int },
    ])
    #expect(mixed.evaluate(with: ["a": 1, "b": 2, "c": 3]))
    #expect(!mixed.evaluate(with: ["a": 1, "b": 2]))
    #expect(mixed.evaluate(with: 3))
    let compiled = try CompiledPredicate(mixed, reading: .objects)
    #expect(compiled.matches(["a": 1, "b": 2, "c": 3]))
    #expect(!compiled.matches(["a": 1, "b": 2]))
  }
}
