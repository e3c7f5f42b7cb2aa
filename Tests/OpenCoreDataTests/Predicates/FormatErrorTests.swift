import OpenCoreData
import Testing

@Suite struct FormatErrorTests {
  @Test(
    "A format error has the place of the error.",
    arguments: [
      ("", 0), ("a", 1), ("a AND b = 1", 2), ("a =", 3), ("a = = 1", 4), ("a = 1 b", 6), ("(a = 1", 6), ("a = 1)", 5),
      ("a = 'x", 4),
      ("a = 1 AND", 9), ("AND a = 1", 0), ("a = 1 AND b", 11), ("a ==[q] 1", 5), ("a = %s", 4), ("a = $", 4),
      ("a = {1, 2", 9), ("a = 12abc", 4), ("nope(a) = 1", 0), ("a = sum()", 4), ("ANY a", 5), ("a = (b = 1)", 4),
      ("(a = 1) + 2 = 3", 0), ("a = FUNCTION(b, 'c:')", 4), ("a = CAST(b, 'Q')", 4), ("a = 'x\\xZZ'", 7),
      ("SUBQUERY(a, b, c = 1).@count = 1", 12), ("a..b = 1", 2), ("a NOT IN b", 2), ("a = ?", 4), ("a[0 = 1", 2),
      ("add:to:(1) = 1", 0), ("add:to = 1", 0), ("TRUEPREDICATE = 1", 14), ("a UTI-EQUALS 'b'", 2), ("1 = 0xZ", 4),
    ])
  func places(_ format: String, _ offset: Int) {
    let error = #expect(throws: PredicateFormatError.self) { try NSPredicate(parsing: format) }
    #expect(error.map { format.distance(from: format.startIndex, to: $0.position) } == offset, "\(format)")
  }

  @Test("The message of a format error shows the format and a mark below the place.")
  func message() {
    let error = #expect(throws: PredicateFormatError.self) { try NSPredicate(parsing: "name = = 'x'") }
    #expect(error?.description.hasSuffix("\n  name = = 'x'\n         ^") == true)
  }

  @Test("A malformed format ends the program where it cannot throw.")
  func trap() async {
    let result = await #expect(processExitsWith: .failure, observing: [\.standardErrorContent]) {
      _ = NSPredicate(format: "a = = 1")
    }
    let output: [UInt8] = result?.standardErrorContent ?? []
    #expect(String(decoding: output, as: UTF8.self).contains("a = = 1\n      ^"))
  }

  @Test("Nesting and chains without end are refused.")
  func depth() {
    let deep = String(repeating: "(", count: 100_000)
    #expect(throws: PredicateFormatError.self) { try NSPredicate(parsing: deep) }
    #expect(throws: PredicateFormatError.self) { try NSPredicate(parsing: String(repeating: "!", count: 100_000)) }
    #expect(throws: PredicateFormatError.self) { try NSPredicate(parsing: String(repeating: "-", count: 100_000)) }
    #expect(throws: PredicateFormatError.self) {
      try NSPredicate(parsing: String(repeating: "1+", count: 100_000) + "1 = 1")
    }
    let operators = Array(repeating: "@max", count: 100_000).joined(separator: ".")
    #expect(throws: PredicateFormatError.self) { try NSPredicate(parsing: "a.\(operators) = 1") }
    #expect(throws: PredicateFormatError.self) { try NSPredicate(parsing: "%K = 1", arguments: [operators]) }
    #expect(throws: PredicateFormatError.self) {
      try NSPredicate(parsing: "a" + String(repeating: "[0]", count: 100_000) + " = 1")
    }
  }

  @Test("A chain of ten thousand comparisons is parsed and evaluated.")
  func longChain() throws {
    let predicate = try NSPredicate(parsing: (0..<10_000).map { "a = \($0)" }.joined(separator: " OR "))
    #expect(predicate.evaluate(with: ["a": 9_999]))
    #expect(try !CompiledPredicate(predicate, reading: .objects).matches(["a": -1]))
  }
}
