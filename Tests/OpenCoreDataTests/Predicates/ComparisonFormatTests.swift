import OpenCoreData
import Testing

@Suite struct ComparisonFormatTests {
  @Test(
    "Every operator is parsed in all its spellings, in any case.",
    arguments: [
      ("=", .equalTo), ("==", .equalTo), ("!=", .notEqualTo), ("<>", .notEqualTo), ("<", .lessThan),
      ("<=", .lessThanOrEqualTo), ("=<", .lessThanOrEqualTo), (">", .greaterThan), (">=", .greaterThanOrEqualTo),
      ("=>", .greaterThanOrEqualTo), ("IN", .in), ("in", .in), ("CONTAINS", .contains), ("contains", .contains),
      ("BEGINSWITH", .beginsWith), ("EndsWith", .endsWith), ("LIKE", .like), ("matches", .matches),
      ("BETWEEN", .between),
    ] as [(String, NSComparisonPredicate.Operator)])
  func operators(_ spelling: String, _ type: NSComparisonPredicate.Operator) throws {
    let parsed = try comparison("a \(spelling) b")
    #expect(parsed.predicateOperatorType == type)
    #expect(parsed.leftExpression.keyPath == "a")
    #expect(parsed.rightExpression.keyPath == "b")
    #expect(parsed.options == [])
    #expect(parsed.comparisonPredicateModifier == .direct)
  }

  @Test("Operators of symbols need no spaces.", arguments: ["a=1", "a==1", "a>=1", "a<1", "a!=1", "a=-1", "a<>1"])
  func noSpaces(_ format: String) throws {
    let parsed = try comparison(format)
    #expect(parsed.leftExpression.keyPath == "a")
    #expect(parsed.rightExpression.expressionType == .constantValue)
  }

  @Test(
    "Options are written in brackets after an operator.",
    arguments: [
      ("c", .caseInsensitive), ("d", .diacriticInsensitive), ("cd", [.caseInsensitive, .diacriticInsensitive]),
      ("DC", [.caseInsensitive, .diacriticInsensitive]), ("n", .normalized), ("l", .localeSensitive),
    ] as [(String, NSComparisonPredicate.Options)])
  func options(_ letters: String, _ options: NSComparisonPredicate.Options) throws {
    for type in ["==", "<", "IN", "LIKE", "CONTAINS", "BEGINSWITH", "ENDSWITH", "MATCHES"] {
      #expect(try comparison("a \(type)[\(letters)] 'b'").options == options)
    }
  }

  @Test("ANY and SOME are the same modifier.")
  func some() throws {
    #expect(try comparison("ANY a.b = 1").comparisonPredicateModifier == .any)
    #expect(try comparison("SOME a.b = 1") == comparison("any a.b = 1"))
    #expect(try comparison("ALL a.b = 1").comparisonPredicateModifier == .all)
  }

  @Test("NONE is NOT ANY.")
  func none() throws {
    let parsed = try compound("NONE a.b = 1")
    #expect(parsed.compoundPredicateType == .not)
    #expect(parsed.subpredicates == [try comparison("ANY a.b = 1")])
  }

  @Test(
    "Operators on uniform type identifiers are refused.", arguments: ["UTI-CONFORMS-TO", "UTI-EQUALS", "uti-equals"])
  func typeIdentifiers(_ type: String) {
    #expect(throws: PredicateFormatError.self) { try NSPredicate(parsing: "a \(type) 'public.text'") }
  }

  @Test("A key may be named UTI.")
  func keyNamedUTI() throws {
    #expect(try comparison("UTI - conforms = 1").leftExpression.function == "from:subtract:")
    #expect(try comparison("UTI = 'a'").leftExpression.keyPath == "UTI")
  }
}
