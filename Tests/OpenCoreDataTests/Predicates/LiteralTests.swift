import OpenCoreData
import Testing

@Suite struct LiteralTests {
  private func constant(_ format: String, _ arguments: Any?...) throws -> Any? {
    let expression = try NSExpression(parsing: format, arguments: arguments)
    #expect(expression.expressionType == .constantValue)
    return expression.constantValue
  }

  @Test("An integer literal stays an integer, in any radix.")
  func integers() throws {
    #expect(try constant("42") as? Int64 == 42)
    #expect(try constant("-42") as? Int64 == -42)
    #expect(try constant("0x2A") as? Int64 == 42)
    #expect(try constant("0o52") as? Int64 == 42)
    #expect(try constant("0b101010") as? Int64 == 42)
    #expect(try constant("9223372036854775807") as? Int64 == .max)
  }

  @Test("A fraction or an exponent makes a double.")
  func doubles() throws {
    #expect(try constant("1.0") as? Double == 1)
    #expect(try constant(".5") as? Double == 0.5)
    #expect(try constant("-1.5e3") as? Double == -1500)
    #expect(try constant("1E-2") as? Double == 0.01)
  }

  @Test("An integer that Int64 cannot hold is a decimal.")
  func decimals() throws {
    #expect(try constant("18446744073709551615") as? Decimal == Decimal(UInt64.max))
    #expect(try value("-9223372036854775808") == .integer(.min))
  }

  @Test("Strings have either kind of quotes, with escapes.")
  func strings() throws {
    #expect(try constant("'it is \"so\"'") as? String == "it is \"so\"")
    #expect(try constant("\"it's\"") as? String == "it's")
    #expect(try constant(#"'\U00e9\U00e9t\U00e9s'"#) as? String == "éétés")
    #expect(try constant(#"'\ud83d\ude00\UD83D\UDE00'"#) as? String == "😀😀")
    #expect(try constant(#"'\101\012\351\x42'"#) as? String == "A\né" + "B")
    #expect(try constant(#"'a\'b\\c\n\t\r\x41\u00e9\U0001F600'"#) as? String == "a'b\\c\n\t\rAé😀")
  }

  @Test("A backslash that escapes nothing is kept, for patterns.")
  func patterns() throws {
    #expect(try constant(#"'\d+\.\*'"#) as? String == #"\d+\.\*"#)
    #expect(try constant(#"'(.)\1\400'"#) as? String == #"(.)\1\400"#)
    #expect(try holds(#"a MATCHES '(.)\1'"#, for: ["a": "xx"]))
  }

  @Test("A placeholder in quotes is text.")
  func quotedPlaceholder() throws {
    #expect(try constant("'%@'") as? String == "%@")
  }

  @Test("TRUE and YES are 1, FALSE and NO are 0.", arguments: [("TRUE", 1), ("yes", 1), ("False", 0), ("NO", 0)])
  func booleans(_ word: String, _ number: Int) throws {
    #expect(try constant(word) as? Int == number)
  }

  @Test("Numeric constants are NSNumbers, whichever type is requested.")
  func numbers() throws {
    for value in [try constant("5"), try constant("%d", 5), NSExpression(forConstantValue: 5).constantValue] {
      #expect(value as? Int == 5 && value as? Double == 5 && value as? Int16 == 5)
      #expect((value as? NSNumber)?.doubleValue == 5)
    }
    #expect(try constant("0.5") as? Float == 0.5 && constant("%f", 2) as? Int == 2)
    #expect(try constant("TRUE") as? Bool == true && constant("no") as? Bool == false)
    #expect(try constant("%@", true) as? Bool == true && constant("%@", UInt8(7)) as? Int == 7)
    let optional: Int? = 3
    #expect(NSExpression(forConstantValue: optional).constantValue as? Double == 3)
    let computed = try NSExpression(parsing: "TERNARY(a = 1, TRUE, 2)")
    #expect(computed.expressionValue(with: ["a": 1], context: nil) as? Bool == true)
    #expect(computed.expressionValue(with: ["a": 2], context: nil) as? Double == 2)
    let elements = try NSExpression(parsing: "{1, 2}").collection as? [NSExpression]
    #expect(elements?.map(\.constantValue) as? [Double] == [1, 2])
  }

  @Test("NULL and NIL are the constant nil.", arguments: ["NULL", "nil", "Nil"])
  func null(_ word: String) throws {
    #expect(try constant(word) == nil)
  }

  @Test("SELF is the evaluated object.")
  func evaluatedObject() throws {
    #expect(try NSExpression(parsing: "self").expressionType == .evaluatedObject)
    #expect(try holds("SELF > 3", for: 4))
    #expect(try NSExpression(parsing: "SELF.a.b").keyPath == "a.b")
  }

  @Test("Braces make an aggregate.")
  func aggregates() throws {
    let expression = try NSExpression(parsing: "{1, a, {}}")
    #expect(expression.expressionType == .aggregate)
    let elements = try #require(expression.collection as? [NSExpression])
    #expect(elements.map(\.expressionType) == [.constantValue, .keyPath, .aggregate])
  }

  @Test("# makes a key of a keyword.")
  func escapedKeys() throws {
    #expect(try comparison("#in = 1").leftExpression.keyPath == "in")
    #expect(try comparison("#self.any = 1").leftExpression.keyPath == "self.any")
    #expect(try comparison("a.in = 1").leftExpression.keyPath == "a.in")
  }

  @Test("Values without a literal are cast from one.")
  func casts() throws {
    #expect(try constant("CAST(0, 'NSDate')") as? Date == Date(timeIntervalSinceReferenceDate: 0))
    #expect(try constant("CAST('10.10', 'NSDecimalNumber')") as? Decimal == Decimal(string: "10.10"))
    let uuid = UUID()
    #expect(try constant("CAST('\(uuid)', 'UUID')") as? UUID == uuid)
    #expect(try constant("CAST('http://a.b/c', 'NSURL')") as? URL == URL(string: "http://a.b/c"))
    #expect(try constant("CAST('AQI=', 'NSData')") as? Data == Data([1, 2]))
  }

  @Test("Indices are FIRST, LAST, SIZE and any value.")
  func indices() throws {
    let row = ["names": ["a", "b", "c"], "by": ["key": 7]] as [String: Any]
    #expect(try value("names[FIRST]", for: row) == .string("a"))
    #expect(try value("names[last]", for: row) == .string("c"))
    #expect(try value("names[SIZE]", for: row) == .integer(3))
    #expect(try value("names[0 + 1]", for: row) == .string("b"))
    #expect(try value("names[3]", for: row) == .null)
    #expect(try value("by['key']", for: row) == .integer(7))
    #expect(try NSExpression(parsing: "names[1]").function == "objectFrom:withIndex:")
  }
}
