import Cairn
import CairnInspection
import Testing

@Suite struct KeyLiteralTests {
  private static let keys: [Key] = [
    0, 42, -7, .integer(.min), .integer(.max),
    "", "Berlin", "42", "007", "-", "x'00'", "(1)", "a \"b\" \\ 'c'", "\0\n\r\t\u{1B}\u{9B}\u{202E}\u{200B}",
    "a\u{AD}b\u{34F}\u{180E}\u{3164}\u{FE0F}\u{FFA0}\u{E0041}\u{E0100}\u{10FFFF}",
    "e\u{301}\u{1F600}", "\u{301}", "67e55044-10b1-426f-9247-bb680e5fe0c8",
    0.0, -1.5, 1e300, .double(.infinity), .double(.nan), .uuid(0), .uuid(.max),
    .uuid(0x67E5_5044_10B1_426F_9247_BB68_0E5F_E0C8),
    .bytes([]), .bytes([0, 10, 255]),
    [], [[]], [1, "a, b)", .bytes([1])], [["x", [0, ""]], .uuid(7), -1],
  ]

  @Test(arguments: keys) func readsWhatIsPrinted(_ key: Key) throws {
    #expect(try Key(literal: key.literal) == key)
    #expect(try Key(literal: key.description) == key)
    #expect(!key.literal.unicodeScalars.contains { Escaping.isHidden($0.value) })
  }

  @Test func showsInvisibleCharacters() {
    #expect(Key.string("a\u{AD}\u{E0041}").literal == #""a\u{AD}\u{E0041}""#)
    var json: [UInt8] = []
    json.append(quoted: "\u{FE0F}\u{E0041}\u{1F600}", .json)
    #expect(String(decoding: json, as: UTF8.self) == #""\ufe0f\udb40\udc41"# + "\u{1F600}\"")
    let hidden: [Unicode.Scalar] = [
      "\u{AD}", "\u{34F}", "\u{61C}", "\u{115F}", "\u{17B4}", "\u{180B}", "\u{180E}", "\u{200B}", "\u{2028}",
      "\u{206A}",
      "\u{3164}", "\u{FE00}", "\u{FE0F}", "\u{FEFF}", "\u{FFA0}", "\u{FFF9}", "\u{1D173}", "\u{E0000}", "\u{E007F}",
      "\u{E01EF}",
    ]
    #expect(hidden.allSatisfy { Escaping.isHidden($0.value) })
    let visible: [Unicode.Scalar] = [" ", "~", "\u{A0}", "\u{301}", "\u{E9}", "\u{4E00}", "\u{1F600}", "\u{10FFFF}"]
    #expect(!visible.contains { Escaping.isHidden($0.value) })
  }

  @Test(
    arguments: [
      ("Berlin", "Berlin"), ("", ""), (" a b ", " a b "), ("007", "007"), ("-0", "-0"), ("+1", "+1"), ("1.5", "1.5"),
      ("x", "x"),
      ("a(b", "a(b"), ("12345678-1234-1234-1234-12345678901g", "12345678-1234-1234-1234-12345678901g"),
    ] as [(String, Key)])
  func takesBareWordsAsStrings(_ literal: String, _ key: Key) throws {
    #expect(try Key(literal: literal) == key)
  }

  @Test(
    arguments: [
      ("(a,b)", ["a", "b"]), ("( new york , -3 )", ["new york", -3]), ("(((7)))", [[[7]]]),
      ("(x'0A', \"\\u{41}\\0\")", [.bytes([10]), "A\0"]), ("()", []), ("( )", []),
    ] as [(String, Key)])
  func readsTuples(_ literal: String, _ key: Key) throws {
    #expect(try Key(literal: literal) == key)
  }

  @Test(arguments: [
    "(1", "(1,)", "(,1)", "(1 2", "(1) 2", "\"a", "\"a\" b", "\"\\q\"", "\"\\u{d800}\"", "\"\\u41\"", "\"\\u{+41}\"",
    "\"\\u{}\"", "\"\\", "x'0",
    "x'0g'",
    "x'0a'0", "x'\u{E9}'", "9223372036854775808", "-9223372036854775809", String(repeating: "(", count: 100_000),
  ]) func tellsWhatIsWrong(_ literal: String) {
    #expect(throws: KeyLiteralError.self) { try Key(literal: literal) }
  }

  @Test func namesTheLiteralAndTheReason() {
    let error = #expect(throws: KeyLiteralError.self) { try Key(literal: "(1") }
    #expect(error?.description == "\"(1\" is not a key: the tuple has no closing parenthesis")
  }

  @Test func boundsAreTakenTogether() {
    #expect(KeyRange(prefix: nil, from: nil, to: nil) == .all)
    #expect(KeyRange(prefix: "b", from: nil, to: nil) == .prefix("b"))
    #expect(KeyRange(prefix: nil, from: 1, to: 5) == KeyRange(1..<5))
    #expect(KeyRange(prefix: "b", from: "bc", to: "z").lower == Key.string("bc").encoded)
    #expect(KeyRange(prefix: "b", from: "bc", to: "z").upper == KeyRange.prefix("b").upper)
  }
}
