import OpenCoreData
import Testing

@Suite struct FunctionTests {
  @Test("Functions compute their documented values.")
  func values() throws {
    for (format, expected) in [
      ("sum({1, 2, 3})", .integer(6)), ("sum:({1, 2.5})", .double(3.5)), ("count({1, 2})", .integer(2)),
      ("min({3, 1, 2})", .integer(1)), ("max({3, 1, 2})", .integer(3)), ("average({1, 2})", .double(1.5)),
      ("median({5, 1, 2})", .double(2)), ("median({1, 2, 3, 4})", .double(2.5)),
      ("mode({1, 2, 2, 3, 3})", .collection([.integer(2), .integer(3)], ordered: true)),
      ("stddev({2, 4, 4, 4, 5, 5, 7, 9})", .double(2)), ("add:to:(1, 2)", .integer(3)),
      ("from:subtract:(5, 2)", .integer(3)), ("multiply:by:(3, 2)", .integer(6)), ("divide:by:(7, 2)", .integer(3)),
      ("modulus:by:(7, 4)", .integer(3)), ("sqrt(16)", .double(4)), ("log(1000)", .double(3)), ("ln(1)", .double(0)),
      ("raise:toPower:(2, 10)", .integer(1024)), ("exp(0)", .double(1)), ("floor(1.7)", .double(1)),
      ("floor(-1.2)", .double(-2)), ("ceiling(1.2)", .double(2)), ("abs(-3)", .integer(3)), ("abs(-1.5)", .double(1.5)),
      ("trunc(-1.7)", .double(-1)), ("bitwiseAnd:with:(6, 3)", .integer(2)), ("bitwiseOr:with:(6, 3)", .integer(7)),
      ("bitwiseXor:with:(6, 3)", .integer(5)), ("leftshift:by:(1, 4)", .integer(16)),
      ("rightshift:by:(16, 4)", .integer(1)), ("onesComplement(0)", .integer(-1)), ("lowercase('ÀB')", .string("àb")),
      ("uppercase('àb')", .string("ÀB")), ("canonical('ÀB')", .string("ab")), ("length('abc')", .integer(3)),
      ("noindex('a')", .string("a")), ("TERNARY(1 < 2, 'y', 'n')", .string("y")),
      ("TERNARY(1 > 2, 'y', 'n')", .string("n")), ("castObject:toType:('5', 'NSNumber')", .integer(5)),
      ("CAST(5, 'NSString')", .string("5")), ("CAST(CAST(3, 'NSDate'), 'NSNumber')", .double(3)),
      ("sqrt('x')", .null), ("sum(5)", .null), ("lowercase(5)", .null),
    ] as [(String, PredicateValue)] {
      #expect(try value(format) == expected, "\(format)")
      // Again, as part of an expression that cannot be evaluated before the row is known.
      #expect(try value("TERNARY(absent == nil, \(format), 0)", for: ["absent": NSNull()]) == expected, "\(format)")
    }
  }

  @Test("Operators combine by precedence, from the left, and powers from the right.")
  func operators() throws {
    for (format, expected) in [
      ("1 + 2 * 3", .integer(7)), ("(1 + 2) * 3", .integer(9)), ("10 - 3 - 2", .integer(5)),
      ("4 + 5 - 2**3", .integer(1)),
      ("2 ** 3 ** 2", .integer(512)), ("-2 ** 2", .integer(-4)), ("(-2) ** 2", .integer(4)), ("7 / 2", .integer(3)),
      ("7 / 2.0", .double(3.5)), ("2 * -3", .integer(-6)), ("6 & 3 | 8", .integer(10)), ("6 ^ 3 & 1", .integer(7)),
      ("1 << 2 + 1", .integer(8)), ("256 >> 4", .integer(16)), ("~0", .integer(-1)), ("~1 & 7", .integer(6)),
      ("1.5 + 1", .double(2.5)), ("2 ** 0.5", .double(2.0.squareRoot())), ("2 ** -1", .double(0.5)),
    ] as [(String, PredicateValue)] {
      #expect(try value(format) == expected, "\(format)")
    }
  }

  @Test("Arithmetic of decimals is exact.")
  func decimals() throws {
    #expect(
      try value("a + b", for: ["a": Decimal(string: "0.1")!, "b": Decimal(string: "0.2")!])
        == .decimal(Decimal(string: "0.3")!))
    #expect(try value("a * 3", for: ["a": Decimal(string: "0.1")!]) == .decimal(Decimal(string: "0.3")!))
  }

  @Test(
    "Decimals are rounded and divided exactly.",
    arguments: [
      ("floor(a)", "9007199254740993.5", "9007199254740993"), ("ceiling(a)", "9007199254740993.5", "9007199254740994"),
      ("trunc(a)", "-9007199254740993.5", "-9007199254740993"), ("floor(a)", "-1.2", "-2"), ("ceiling(a)", "-0.5", "0"),
      ("floor(a)", "5", "5"), ("trunc(a)", "0.9", "0"),
      ("modulus:by:(a, CAST('0.3', 'NSDecimalNumber'))", "0.9", "0"),
      ("modulus:by:(a, 10)", "9007199254740993.5", "3.5"), ("modulus:by:(a, 3)", "-7.5", "-1.5"),
      ("modulus:by:(a, -3)", "7.5", "1.5"), ("modulus:by:(a, 3)", "2.5", "2.5"), ("modulus:by:(7, a)", "2.5", "2"),
      ("modulus:by:(a, 3)", "99999999999999999999999999999999999998", "2"),
      ("modulus:by:(a, 0)", "1", "NaN"),
    ])
  func exactDecimals(_ format: String, _ argument: String, _ expected: String) throws {
    let result = try value(format, for: ["a": Decimal(string: argument)!])
    #expect((result.anyValue as? NSDecimalNumber)?.decimalValue.description == expected)
  }

  @Test("A result that no integer can hold becomes a double, and nothing traps.")
  func overflow() throws {
    let row = ["max": Int64.max, "min": Int64.min, "zero": 0]
    #expect(try value("max + 1", for: row) == .double(0x1p63))
    #expect(try value("min - 1", for: row) == .double(-0x1p63))
    #expect(try value("max * max", for: row) == .double(0x1p126))
    #expect(try value("min / -1", for: row) == .double(0x1p63))
    #expect(try value("1 / zero", for: row) == .double(.infinity))
    #expect(try !holds("modulus:by:(1, zero) = 0", for: row))
    #expect(try value("max ** 2", for: row) == .double(0x1p126))
    #expect(try value("1 << 100", for: row) == .integer(0))
    #expect(try value("abs(min)", for: row) == .double(0x1p63))
    #expect(try value("-min", for: row) == .double(0x1p63))
  }

  @Test("Random numbers and the time are new at each evaluation.")
  func fresh() throws {
    let random = try CompiledExpression(NSExpression(parsing: "random()"), reading: .objects)
    #expect(random.value(of: nil) != random.value(of: nil))
    #expect(try holds("random() BETWEEN {0, 1} AND random(5) < 5 AND random(5) >= 0 AND random(0) = nil"))
    #expect(try holds("now() > CAST(700000000, 'NSDate') AND now() <= now()"))
    let now = try CompiledExpression(NSExpression(parsing: "now()"), reading: .objects)
    #expect(now.value(of: nil).order(now.value(of: nil)) != .orderedDescending)
  }

  @Test("Distances are in metres, between values that have a latitude and a longitude.")
  func distance() throws {
    let row = ["here": ["latitude": 52.52, "longitude": 13.405], "there": ["latitude": 48.8566, "longitude": 2.3522]]
    #expect(try holds("distanceToLocation:fromLocation:(here, there) BETWEEN {877000, 878500}", for: row))
    #expect(try holds("distanceToLocation:fromLocation:(here, here) == 0", for: row))
    #expect(try value("distanceToLocation:fromLocation:(here, nowhere)", for: row) == .null)
  }

  @Test("FUNCTION calls a function of an object by its name, with the values of the arguments.")
  func calls() throws {
    let row: [String: Any] = ["abacus": Abacus(), "x": 2, "names": ["a", "b"]]
    #expect(try value("FUNCTION(abacus, 'add:and:', x, 3)", for: row) == .integer(5))
    let sum = try NSExpression(parsing: "FUNCTION($other, 'add:and:', 1, x) * 2")
    #expect(sum.expressionValue(with: row, context: ["other": Abacus()]) as? Int == 6)
    #expect(try value("FUNCTION(abacus, 'count:', names)", for: row) == .integer(2))
    #expect(try value("FUNCTION(abacus, 'none')", for: row) == .null)
    #expect(try value("FUNCTION(abacus, 'valueForKeyPath:', size)", for: row) == .null)
    #expect(try holds("FUNCTION(abacus, 'add:and:', x, x) = 4", for: row))
  }

  @Test("The parts of a call can be read, and replaced, and two equal calls are equal.")
  func partsOfCalls() throws {
    let format = "FUNCTION($a, \"add:and:\", x, $b)"
    let call = try NSExpression(parsing: format)
    #expect(call.expressionType == .function && call.function == "add:and:" && call.description == format)
    #expect(call.operand.variable == "a" && call.arguments?.map(\.description) == ["x", "$b"])
    let made = NSExpression(
      forFunction: NSExpression(forVariable: "a"), selectorName: "add:and:",
      arguments: [NSExpression(forKeyPath: "x"), NSExpression(forVariable: "b")])
    #expect(made == call && made.hash == call.hash)
    #expect(try made != NSExpression(parsing: "FUNCTION($a, 'add:to:', x, $b)"))
    #expect(try made != NSExpression(parsing: "FUNCTION($a, 'add:and:', x, $c)"))
    let substituted = NSPredicate(format: "1 = FUNCTION($a, 'add:and:', x, $b)").withSubstitutionVariables(["b": 7])
    #expect(substituted.formatText == "1 == FUNCTION($a, \"add:and:\", x, 7)")
  }

  @Test("FETCH has a request, a context, and whether only the number is wanted.")
  func fetches() throws {
    let format = "FETCH($request, $manager.context, NO)"
    let fetch = try NSExpression(parsing: format)
    #expect(fetch.expressionType == .fetchRequest && fetch.description == format)
    let made = try NSFetchRequestExpression.expression(
      forFetch: NSExpression(forVariable: "request"),
      context: NSExpression(parsing: "$manager.context"), countOnly: false)
    let typed = try #require(made as? NSFetchRequestExpression)
    #expect(typed.requestExpression.variable == "request" && !typed.isCountOnlyRequest)
    #expect(typed.contextExpression.description == "$manager.context")
    #expect(made == fetch && made.hash == fetch.hash)
    #expect(try made != NSExpression(parsing: "FETCH($request, $manager.context, YES)"))
    let count = NSPredicate(format: "FETCH($request, $context, YES) = 1")
      .withSubstitutionVariables(["request": "none"])
    #expect(count.formatText == "FETCH(\"none\", $context, YES) == 1")
  }

  @Test(
    "A call needs an object, a name and an argument for each colon, and FETCH a request, a context and YES or NO.",
    arguments: [
      "FUNCTION(a)", "FUNCTION(a, b)", "FUNCTION(a, 'b:')", "FUNCTION(a, 'b', c)", "FUNCTION(a, 'valueForKey:', 1)",
      "FETCH(a, b)", "FETCH(a, b, c)",
    ])
  func incompleteCalls(_ format: String) {
    #expect(throws: PredicateFormatError.self) { try NSExpression(parsing: format) }
  }

  @Test("Expression values are of Foundation's types.")
  func types() throws {
    func any(_ format: String) throws -> Any? {
      try NSExpression(parsing: format).expressionValue(with: nil, context: nil)
    }
    #expect(try any("1 + 2") as? Int == 3)
    #expect(try any("1 + 2") is NSNumber)
    #expect(try any("{1, nil}") as? [NSObject] == [NSNumber(value: 1), NSNull()])
    #expect(try any("{1} UNION {1}") as? NSSet == NSSet(array: [1]))
    #expect(try any("nil + 1") == nil)
  }

  @Test("Block expressions get the object, their arguments and the variables.")
  func blocks() throws {
    let block = NSExpression(
      block: { object, arguments, variables in
        "\(object ?? "") \(arguments.count) \(arguments[0]) \(variables?["v"] ?? "")"
      }, arguments: [NSExpression(format: "1 + 1")])
    #expect(block.expressionValue(with: "o", context: ["v": "w"]) as? String == "o 1 2 w")
  }
}

/// An object whose functions expressions call.
private final class Abacus: NSObject, FunctionTarget {
  func callFunction(_ name: String, arguments: [Any?]) -> Any? {
    switch name {
    case "add:and:": arguments.compactMap { $0 as? Int }.reduce(0, +)
    case "count:": (arguments[0] as? [Any])?.count
    default: nil
    }
  }
}
