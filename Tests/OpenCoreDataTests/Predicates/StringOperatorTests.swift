import OpenCoreData
import Testing

@Suite struct StringOperatorTests {
  private static let rows = ["testa", "testą", "TESTĄ", "TESTA"]

  @Test(
    "Case and diacritics matter unless an option says otherwise.",
    arguments: [
      ("", ["testa"]), ("[c]", ["testa", "TESTA"]), ("[d]", ["testa", "testą"]),
      ("[cd]", ["testa", "testą", "TESTĄ", "TESTA"]), ("[n]", ["testa"]),
    ])
  func truthTable(_ options: String, _ expected: [String]) throws {
    for type in ["LIKE", "==", "MATCHES", "BEGINSWITH", "ENDSWITH", "CONTAINS", "IN"] {
      let found = try Self.rows.filter { try holds("SELF \(type)\(options) 'testa'", for: $0) }
      #expect(found == expected, "\(type)\(options)")
      let dynamic = try Self.rows.filter { try holds("a \(type)\(options) b", for: ["a": $0, "b": "testa"]) }
      #expect(dynamic == expected, "\(type)\(options) of two keys")
    }
  }

  @Test("Options apply to comparisons by order, too.")
  func order() throws {
    #expect(try holds("'B' <[c] 'c' AND NOT 'B' <[c] 'a' AND 'a' <=[c] 'A' AND 'É' >=[cd] 'e'"))
  }

  @Test("[l] orders as the current locale does; without it scalars decide.")
  func localeSensitive() throws {
    #expect(try holds("'é' <[l] 'f' AND 'a' <[l] 'B' AND 'é' ==[l] 'é' AND NOT 'é' ==[l] 'e'"))
    #expect(try !holds("'é' < 'f' OR 'a' < 'B'"))
    #expect(try holds("'É' ==[lcd] 'e' AND 'café' BEGINSWITH[ld] 'cafe' AND 'B' IN[lc] {'b'}"))
  }

  @Test("BEGINSWITH, ENDSWITH and CONTAINS find parts.")
  func parts() throws {
    #expect(try holds("SELF BEGINSWITH 'ab' AND SELF ENDSWITH 'cd' AND SELF CONTAINS 'bc'", for: "abcd"))
    #expect(try !holds("SELF BEGINSWITH 'b' OR SELF ENDSWITH 'c' OR SELF CONTAINS 'ac'", for: "abcd"))
    #expect(try holds("SELF BEGINSWITH '' AND SELF ENDSWITH '' AND SELF CONTAINS ''", for: "abcd"))
    #expect(try !holds("SELF BEGINSWITH 'abc'", for: "ab"))
  }

  @Test("A letter is not part of the same letter with a diacritic, however that is encoded.")
  func composedParts() throws {
    for text in ["caf\u{e9}s", "cafe\u{301}s"] {
      #expect(try !holds("SELF BEGINSWITH 'cafe'", for: text))
      #expect(try holds("SELF BEGINSWITH %@ AND SELF CONTAINS %@", "caf\u{e9}", "e\u{301}s", for: text))
      #expect(try holds("SELF BEGINSWITH[d] 'cafe'", for: text))
    }
  }

  @Test(
    "LIKE matches the whole string, ? one character, * any number.",
    arguments: [
      ("", "", true), ("", "*", true), ("", "?", false), ("a", "?", true), ("ab", "?", false), ("abc", "a*c", true),
      ("abc", "*b*", true), ("abc", "b", false), ("abc", "a?c", true), ("abbbc", "a*b*c", true),
      ("abcabd", "*abd", true), ("abcab", "*abd", false), ("e\u{301}", "?", true), ("a*c", #"a\*c"#, true),
      ("abc", #"a\*c"#, false), ("a?", #"a\?"#, true), ("aaa", "*a*a*a*", true), ("aa", "*a*a*a*", false),
    ])
  func like(_ text: String, _ pattern: String, _ matches: Bool) throws {
    #expect(try holds("SELF LIKE %@", pattern, for: text) == matches)
    #expect(try holds("a LIKE b", for: ["a": text, "b": pattern]) == matches)
  }

  @Test("[n] turns the other options off.", arguments: ["LIKE", "==", "MATCHES", "BEGINSWITH", "IN"])
  func normalisedOnly(_ type: String) throws {
    #expect(try !holds("SELF \(type)[cdn] 'TEST'", for: "test"))
    #expect(try holds("SELF \(type)[cdn] 'test'", for: "test"))
  }

  @Test("[n] distinguishes encodings of a character, also in a pattern.")
  func exactPattern() throws {
    for type in ["LIKE", "==", "MATCHES", "BEGINSWITH", "IN"] {
      #expect(try !holds("SELF \(type)[n] %@", "e\u{301}", for: "\u{e9}"), "\(type)")
      #expect(try holds("SELF \(type)[n] %@ AND SELF \(type) %@", "\u{e9}", "e\u{301}", for: "\u{e9}"), "\(type)")
    }
    #expect(try holds("SELF LIKE[n] '?a*'", for: "\u{e9}ab") && !holds("SELF LIKE[n] %@", "e\u{301}*", for: "\u{e9}ab"))
  }

  @Test("The time of LIKE is bounded for any pattern.")
  func likeIsQuick() throws {
    let text = String(repeating: "a", count: 2000)
    #expect(try !holds("SELF LIKE %@", String(repeating: "*a", count: 200) + "b", for: text))
  }

  @Test(
    "MATCHES matches the whole string with a regular expression.",
    arguments: [
      ("Entry 1", "Entry", false), ("Entry 1", "^Entry", false), ("Entry 1", "Entry .*", true),
      ("ab", "a|ab", true), ("123", #"\d+"#, true), ("a\n", "a", false), ("", "", true),
      ("a.b", #"\Qa.b"#, true), ("axb", #"\Qa.b"#, false), ("a.b.", #"\Qa.b"#, false),
      ("abc", "(?x)[a-z]+ # letters", true), ("abc\n", "(?x)[a-z]+ # letters", false),
    ])
  func matches(_ text: String, _ pattern: String, _ matches: Bool) throws {
    #expect(try holds("SELF MATCHES %@", pattern, for: text) == matches)
    #expect(try holds("a MATCHES b", for: ["a": text, "b": pattern]) == matches)
  }

  @Test("The case of letters inside a pattern is decided by the pattern.")
  func patternCase() throws {
    #expect(try !holds("SELF MATCHES[c] %@", #"\D+"#, for: "123"))
    #expect(try holds("SELF MATCHES[c] %@", #"AB\D"#, for: "abc"))
  }

  @Test("An invalid constant pattern cannot be compiled, and one in a row matches nothing.")
  func invalidPattern() throws {
    #expect(throws: PredicateCompilationError.invalidPattern("(")) {
      try CompiledPredicate(NSPredicate(parsing: "a MATCHES '('"), reading: .objects)
    }
    #expect(throws: PredicateCompilationError.invalidPattern("a)|(?:b")) {
      try CompiledPredicate(NSPredicate(parsing: "a MATCHES 'a)|(?:b'"), reading: .objects)
    }
    #expect(try !holds("'(' MATCHES b", for: ["b": "("]))
    #expect(try !holds("'axyz' MATCHES b", for: ["b": "a)|(?:b"]))
  }

  @Test("String operators are false for other values than strings.")
  func otherTypes() throws {
    for type in ["CONTAINS", "BEGINSWITH", "ENDSWITH", "LIKE", "MATCHES"] {
      #expect(try !holds("a \(type) '1'", for: ["a": 1]))
      #expect(try !holds("a \(type) 1", for: ["a": "1"]))
    }
  }

  @Test("Strings have properties.")
  func properties() throws {
    #expect(try holds("a.length == 3 AND a.uppercaseString == 'ABC' AND a.lowercaseString == 'abc'", for: ["a": "aBc"]))
    #expect(try holds("SELF.length > 2", for: "aBc"))
  }
}
