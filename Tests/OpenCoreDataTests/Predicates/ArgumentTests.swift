import OpenCoreData
import Testing

@Suite struct ArgumentTests {
  private struct Opaque: Equatable { let number = 1 }

  @Test("%@ takes a value of any kind unchanged.")
  func values() throws {
    #expect(try comparison("a = %@", "x").rightExpression.constantValue as? String == "x")
    #expect(try comparison("a = %@", 3).rightExpression.constantValue as? Int == 3)
    #expect(try comparison("a = %@", Date(timeIntervalSince1970: 1)).rightExpression.constantValue is Date)
    #expect(try comparison("a = %@", Date() as NSDate).rightExpression.constantValue is NSDate)
    #expect(try comparison("a = %@", UUID()).rightExpression.constantValue is UUID)
    #expect(try comparison("a = %@", Data()).rightExpression.constantValue is Data)
    #expect(try comparison("a IN %@", ["x", "y"]).rightExpression.constantValue as? [String] == ["x", "y"])
    #expect(try comparison("a IN %@", Set([1])).rightExpression.constantValue as? Set == [1])
    #expect(try comparison("a = %@", Opaque()).rightExpression.constantValue as? Opaque == Opaque())
  }

  @Test("nil and NSNull are the constant nil.")
  func null() throws {
    let name: String? = nil
    #expect(try comparison("a = %@", name).rightExpression.constantValue == nil)
    #expect(try comparison("a = %@", NSNull()).rightExpression.constantValue == nil)
    #expect(try holds("a = %@", name, for: [:] as [String: Int]))
  }

  @Test("An optional argument is its wrapped value.")
  func optional() throws {
    let name: String? = "x"
    #expect(try holds("a = %@", name, for: ["a": "x"]))
    #expect(try holds("a = b", for: ["a": "x", "b": name as Any]))
  }

  @Test("An expression as an argument stands for itself.")
  func expressions() throws {
    #expect(try comparison("%@ = 1", NSExpression(forKeyPath: "a")) == comparison("a = 1"))
  }

  @Test("%K is a key path, alone or within one.")
  func keyPaths() throws {
    #expect(try comparison("%K = 1", "a").leftExpression.keyPath == "a")
    #expect(try comparison("%K = 1", "a.b").leftExpression.keyPath == "a.b")
    #expect(try comparison("%K.c = 1", "a.b").leftExpression.keyPath == "a.b.c")
    #expect(try comparison("a.%K = 1", "b").leftExpression.keyPath == "a.b")
    #expect(try comparison("ANY %K.@sum.%K = 1", "a", "b").leftExpression.keyPath == "a.@sum.b")
    #expect(try comparison("%K = 1", "in").leftExpression.keyPath == "in")
  }

  @Test(
    "Every placeholder for integers takes an integer.",
    arguments: ["%d", "%D", "%i", "%u", "%ld", "%li", "%lu", "%lld", "%llu", "%x", "%X", "%hd", "%qu", "%zd", "%c"])
  func integers(_ placeholder: String) throws {
    #expect(try comparison("a = \(placeholder)", 65).rightExpression.constantValue as? Int64 == 65)
    #expect(try comparison("a = \(placeholder)", true).rightExpression.constantValue as? Int64 == 1)
    #expect(try comparison("a = \(placeholder)", UInt8(65)).rightExpression.constantValue as? Int64 == 65)
    #expect(try comparison("a = \(placeholder)", NSNumber(value: 65)).rightExpression.constantValue as? Int64 == 65)
  }

  @Test("Every placeholder for doubles takes a double.", arguments: ["%f", "%lf", "%g", "%e", "%F", "%a"])
  func doubles(_ placeholder: String) throws {
    #expect(try comparison("a = \(placeholder)", 1.5).rightExpression.constantValue as? Double == 1.5)
    #expect(try comparison("a = \(placeholder)", 2).rightExpression.constantValue as? Double == 2)
    #expect(try comparison("a = \(placeholder)", Float(1.5)).rightExpression.constantValue as? Double == 1.5)
  }

  @Test("%% is the string of one percent sign.")
  func percent() throws {
    #expect(try holds("a CONTAINS %%", for: ["a": "5 %"]))
  }

  @Test("Arguments may be passed in an array.")
  func array() {
    let predicate = NSPredicate(format: "%K = %@ AND b = %@", argumentArray: ["a", 1, NSNull()])
    #expect(predicate == NSPredicate(format: "a = 1 AND b = nil"))
    #expect(NSPredicate(format: "a = 1", argumentArray: nil) == NSPredicate(format: "a = 1"))
  }

  @Test("Arguments are taken from left to right, through all parts.")
  func order() throws {
    let predicate = try NSPredicate(
      parsing: "%K IN {%d, %@} AND SUBQUERY(%K, $x, $x.%K = %f).@count > %d",
      arguments: ["a", 1, "two", "c", "b", 0.5, 3])
    #expect(try predicate == NSPredicate(parsing: "a IN {1, 'two'} AND SUBQUERY(c, $x, $x.b = 0.5).@count > 3"))
  }

  @Test("A missing or unfit argument is an error with its place.")
  func missing() {
    #expect(throws: PredicateFormatError.self) { try NSPredicate(parsing: "a = %@ AND b = %@", arguments: [1]) }
    #expect(throws: PredicateFormatError.self) { try NSPredicate(parsing: "a = %d", arguments: ["x"]) }
    #expect(throws: PredicateFormatError.self) { try NSPredicate(parsing: "%K = 1", arguments: [5]) }
    #expect(throws: PredicateFormatError.self) { try NSPredicate(parsing: "a = %s", arguments: ["x"]) }
  }
}
