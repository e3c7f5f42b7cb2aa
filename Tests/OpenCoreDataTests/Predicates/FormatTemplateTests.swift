import Testing

@testable import OpenCoreData

@Suite struct FormatTemplateTests {
  /// What a format gives, as text: a predicate or an error.
  private func outcome(_ make: () throws -> NSPredicate) -> String {
    do {
      let predicate = try make()
      return "\(type(of: predicate)) \(predicate.formatText)"
    } catch {
      return "\(error)"
    }
  }

  private func template(_ format: String, _ arguments: Any?...) throws -> FormatTemplate? {
    let (predicate, placeholders) = try FormatParser.parse(format, arguments)
    return placeholders.flatMap { FormatTemplate(predicate, $0) }
  }

  @Test(
    "A format whose arguments are compared as they are, or listed, is parsed once.",
    arguments: [
      ("a = %@", ["x"]), ("%@ = a", ["x"]), ("a = %@ AND NOT b > %d", ["x", 3]), ("a IN {%@, 2, {%@}}", [1, 2]),
      ("ANY a.b ==[cd] %@ OR c = 'x'", ["y"]), ("%K BEGINSWITH %@", ["a.b", "x"]), ("a = %%", []), ("a = 1", []),
      ("TRUEPREDICATE", []),
    ] as [(String, [any Sendable])])
  func kept(_ format: String, _ arguments: [any Sendable]) throws {
    let (parsed, placeholders) = try FormatParser.parse(format, arguments)
    let known = try #require(placeholders)
    let template = try #require(FormatTemplate(parsed, known))
    let made = try #require(template.predicate(arguments))
    #expect(made == parsed)
  }

  @Test(
    "A format whose arguments may decide about the expressions around them is parsed each time.",
    arguments: [
      "%@.name = 1", "a.%K = 1", "%K.a = 1", "CAST(%@, 'NSDate') = a", "%@[0] = 1", "a = 1 + %@", "a = max(%@)",
      "SUBQUERY(a, $x, $x.b = %@).@count > 0",
    ])
  func notKept(_ format: String) throws {
    #expect(try template(format, "1") == nil)
  }

  @Test("An argument that is given twice stands in both places, and in no other.")
  func repeatedArguments() throws {
    let expression = NSExpression(forKeyPath: "b")
    #expect(try template("%@ = %@", expression, expression) != nil)
    #expect(try template("%@.a = %@", expression, expression) == nil)
  }

  @Test("The template of a format keeps none of the arguments that it was made with.")
  func releasesArguments() throws {
    weak var kept: NSObject?
    func parse() throws {
      let argument = NSObject()
      kept = argument
      for _ in 0..<2 { _ = try NSPredicate(parsing: "released = %@ AND b IN {%@}", arguments: [argument, argument]) }
    }
    try parse()
    #expect(kept == nil)
  }

  @Test("Formats that only look the same have literals of their own.")
  func canonicalEquivalence() throws {
    for literal in ["\u{E9}", "e\u{301}"] {
      let predicate = try comparison("a = '\(literal)'")
      let constant = try #require(predicate.rightExpression.constantValue as? String)
      #expect(Array(constant.unicodeScalars) == Array(literal.unicodeScalars))
    }
  }

  @Test("More formats than are kept are parsed all the same.")
  func manyFormats() throws {
    for _ in 0..<2 {
      for number in 0..<600 { #expect(try holds("a = %@ AND b = \(number)", 1, for: ["a": 1, "b": number])) }
    }
  }

  private static let words = [
    "a", "b.c", "1", "'s'", "%@", "%@", "%@", "%K", "%K", "%d", "%f", "%%", "AND", "OR", "NOT", "=", "<", "IN", "LIKE",
    "ANY", "{", "}", ",", ".", "(", ")", "+", "[0]", "[c]", "sum(", "CAST(", "'NSDate'", "SELF", "TRUEPREDICATE",
  ]

  private static let formats = [
    "a = %@", "%K = %@", "a = %@ AND %K > %d", "a IN {%@, %K, %f}", "NOT (%@ = a OR b LIKE %@)", "%@ = %@",
    "ANY %K = %@", "%@.a = %@", "CAST(%@, 'NSDate') = %@", "sum(%@) = %@", "%K.%K = %@", "a[%@] = %@",
  ]

  private static func argument(_ random: inout SeededGenerator) -> Any? {
    switch Int.random(in: 0..<10, using: &random) {
    case 0: nil
    case 1: NSNull()
    case 2: 7
    case 3: 2.5
    case 4: "in"
    case 5: "a.b"
    case 6: "a.@sum.b"
    case 7: NSExpression(forKeyPath: "k")
    case 8: NSExpression(format: "{1, x}")
    default: ["x", "y"]
    }
  }

  @Test("A format gives the same predicate or error, whatever it was parsed with before.")
  func sameAsParsed() throws {
    var random = SeededGenerator(seed: chooseSeed())
    for round in 0..<6_000 {
      var format = Self.formats.randomElement(using: &random) ?? ""
      if round % 2 == 0 {
        let count = Int.random(in: 1...9, using: &random)
        format = (0..<count).map { _ in Self.words.randomElement(using: &random) ?? "" }.joined(separator: " ")
      }
      for _ in 0..<3 {
        let arguments = (0..<Int.random(in: 0...4, using: &random)).map { _ in Self.argument(&random) }
        let parsed = outcome { try FormatParser.parse(format, arguments).predicate }
        #expect(outcome { try NSPredicate(parsing: format, arguments: arguments) } == parsed, "\(format) \(arguments)")
      }
    }
  }
}
