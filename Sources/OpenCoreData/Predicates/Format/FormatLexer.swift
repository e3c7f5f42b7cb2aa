import Foundation

/// Splits a format into tokens.
struct FormatLexer {
  private let format: String
  private var rest: Substring.UnicodeScalarView

  init(_ format: String) {
    self.format = format
    rest = format[...].unicodeScalars
  }

  /// All tokens with their positions; the last is `end`.
  static func tokens(of format: String) throws(PredicateFormatError) -> [(token: FormatToken, position: String.Index)] {
    var lexer = FormatLexer(format)
    var tokens: [(FormatToken, String.Index)] = []
    repeat {
      lexer.skip { $0 == " " || $0.properties.isWhitespace }
      tokens.append((try lexer.next(), lexer.start))
    } while tokens.last?.0 != .end
    return tokens
  }

  /// The position at which the token that is being read begins.
  private var start = "".startIndex

  private mutating func next() throws(PredicateFormatError) -> FormatToken {
    start = rest.startIndex
    guard let first = rest.first else { return .end }
    switch first {
    case "\"", "'": return .string(try string())
    case "%": return try placeholder()
    case "$": return .variable(try name("a variable"))
    case "#": return .key(try name("a key"))
    case "@": return .at("@" + (try marked("a collection operator")))
    case ".", "0"..."9": return try isFraction || first != "." ? number() : symbol()
    case _ where Self.isIdentifierStart(first): return .word(word())
    default: return try symbol()
    }
  }

  private func problem(_ reason: String, at position: String.Index? = nil) -> PredicateFormatError {
    PredicateFormatError(format: format, position: position ?? start, reason: reason)
  }

  @discardableResult
  private mutating func skip(while condition: (Unicode.Scalar) -> Bool) -> Substring {
    let start = rest.startIndex
    while let next = rest.first, condition(next) { rest.removeFirst() }
    return format[start..<rest.startIndex]
  }

  private mutating func skip(_ text: String) -> Bool {
    guard rest.starts(with: text.unicodeScalars) else { return false }
    rest = rest.dropFirst(text.unicodeScalars.count)
    return true
  }

  // MARK: Words

  private static func isDigit(_ scalar: Unicode.Scalar) -> Bool { ("0"..."9").contains(scalar) }

  private static func isIdentifierStart(_ scalar: Unicode.Scalar) -> Bool {
    switch scalar {
    case "a"..."z", "A"..."Z", "_": true
    default: !scalar.isASCII && scalar.properties.isXIDStart
    }
  }

  private static func isIdentifierPart(_ scalar: Unicode.Scalar) -> Bool {
    isIdentifierStart(scalar) || isDigit(scalar) || !scalar.isASCII && scalar.properties.isXIDContinue
  }

  private mutating func identifier() -> String? {
    guard let first = rest.first, Self.isIdentifierStart(first) else { return nil }
    return String(skip(while: Self.isIdentifierPart))
  }

  private mutating func marked(_ what: String) throws(PredicateFormatError) -> String {
    rest.removeFirst()
    guard let name = identifier() else { throw problem("\(what) has no name") }
    return name
  }

  /// Reads the name after a mark such as `$`. A name that is not an identifier is in quotes.
  private mutating func name(_ what: String) throws(PredicateFormatError) -> String {
    guard let quote = rest.dropFirst().first, quote == "\"" || quote == "'" else { return try marked(what) }
    rest.removeFirst()
    let name = try string()
    guard !name.isEmpty else { throw problem("\(what) has no name") }
    return name
  }

  /// Whether a name needs no quotes after a mark.
  static func isIdentifier(_ name: some StringProtocol) -> Bool {
    guard let first = name.unicodeScalars.first, isIdentifierStart(first) else { return false }
    return name.unicodeScalars.allSatisfy(isIdentifierPart)
  }

  private mutating func word() -> String {
    let name = String(skip { Self.isIdentifierPart($0) || $0 == ":" })
    guard name.utf8.count == 3, name.uppercased() == "UTI" else { return name }
    let tail = rest.prefix { Self.isIdentifierPart($0) || $0 == "-" }
    guard ["-CONFORMS-TO", "-EQUALS"].contains(String(tail).uppercased()) else { return name }
    rest = rest[tail.endIndex...]
    return name + String(tail)
  }

  // MARK: Numbers

  private mutating func number() throws(PredicateFormatError) -> FormatToken {
    let token: FormatToken
    if let integer = try prefixedInteger() { token = integer } else { token = try decimalNumber() }
    if let next = rest.first, Self.isIdentifierPart(next) { throw problem("a number runs into '\(next)'") }
    return token
  }

  /// Whether a digit comes after the next character, so that a dot there is a decimal point.
  private var isFraction: Bool { rest.dropFirst().first.map(Self.isDigit) == true }

  private mutating func prefixedInteger() throws(PredicateFormatError) -> FormatToken? {
    for (prefix, radix) in [("0x", 16), ("0o", 8), ("0b", 2)] where skip(prefix) || skip(prefix.uppercased()) {
      let digits = skip(while: Self.isIdentifierPart)
      guard let value = Int64(digits, radix: radix) else { throw problem("'\(prefix)\(digits)' is no number") }
      return .integer(value)
    }
    return nil
  }

  private mutating func decimalNumber() throws(PredicateFormatError) -> FormatToken {
    var text = String(skip(while: Self.isDigit))
    var isWhole = true
    if rest.first == ".", isFraction {
      rest.removeFirst()
      text += "." + skip(while: Self.isDigit)
      isWhole = false
    }
    if let exponent = exponent() {
      text += exponent
      isWhole = false
    }
    if isWhole {
      if let value = Int64(text) { return .integer(value) }
      if text.count <= 38, let value = Decimal(string: text) { return .decimal(value) }
    }
    guard let value = Double(text) else { throw problem("'\(text)' is no number") }
    return .double(value)
  }

  private mutating func exponent() -> String? {
    guard let letter = rest.first, letter == "e" || letter == "E" else { return nil }
    let signed = rest.dropFirst()
    let sign = signed.first == "-" || signed.first == "+" ? String(signed.prefix(1)) : ""
    let digits = signed.dropFirst(sign.count).prefix(while: Self.isDigit)
    guard !digits.isEmpty else { return nil }
    rest = rest[digits.endIndex...]
    return "e" + sign + String(digits)
  }

  // MARK: Strings

  private mutating func string() throws(PredicateFormatError) -> String {
    let quote = rest.removeFirst()
    var text = String.UnicodeScalarView()
    while let scalar = rest.popFirst() {
      switch scalar {
      case quote: return String(text)
      case "\\": text.append(contentsOf: try escape())
      default: text.append(scalar)
      }
    }
    throw problem("a string has no end")
  }

  /// Reads what follows a backslash. A backslash that begins no escape sequence is kept, for use in regular
  /// expressions.
  private mutating func escape() throws(PredicateFormatError) -> [Unicode.Scalar] {
    let position = rest.startIndex
    guard let scalar = rest.popFirst() else { throw problem("a string has no end") }
    switch scalar {
    case "\\", "'", "\"": return [scalar]
    case "n": return ["\n"]
    case "r": return ["\r"]
    case "t": return ["\t"]
    case "x": return [try named(code(digits: 2), at: position)]
    case "u": return [try named(code(digits: 4).map { paired($0) }, at: position)]
    case "U": return [try named(longCode() ?? code(digits: 4).map { paired($0) }, at: position)]
    case "0"..."3": return octal(first: scalar)
    default: return ["\\", scalar]
    }
  }

  private func named(_ code: UInt32?, at position: String.Index) throws(PredicateFormatError) -> Unicode.Scalar {
    guard let scalar = code.flatMap(Unicode.Scalar.init) else {
      throw problem("an escape names no character", at: position)
    }
    return scalar
  }

  /// Reads a number of exactly this many hexadecimal digits; nil, without reading any, if there are fewer.
  private mutating func code(digits count: Int) -> UInt32? {
    let digits = rest.prefix(count)
    guard digits.count == count, digits.allSatisfy(\.properties.isASCIIHexDigit) else { return nil }
    rest = rest[digits.endIndex...]
    return UInt32(String(digits), radix: 16)
  }

  /// Reads the code of a character in eight digits. Nil, without reading any, if the eight digits are not the code of a
  /// character: then the code has four digits, and the digits after them are text.
  private mutating func longCode() -> UInt32? {
    let beginning = rest
    if let code = code(digits: 8), Unicode.Scalar(code) != nil { return code }
    rest = beginning
    return nil
  }

  /// The code itself; if it is the first half of a surrogate pair and the second half follows, the code of the pair.
  private mutating func paired(_ code: UInt32) -> UInt32 {
    let beginning = rest
    guard (0xD800...0xDBFF).contains(code), skip("\\u") || skip("\\U"), let low = self.code(digits: 4),
      (0xDC00...0xDFFF).contains(low)
    else {
      rest = beginning
      return code
    }
    return 0x10000 + (code - 0xD800) << 10 + (low - 0xDC00)
  }

  /// Reads the code of a character in three octal digits. With fewer, the backslash and the digit are kept: in a
  /// pattern, they refer to a group.
  private mutating func octal(first: Unicode.Scalar) -> [Unicode.Scalar] {
    let others = rest.prefix(2)
    guard others.count == 2, others.allSatisfy({ ("0"..."7").contains($0) }),
      let code = UInt32(String(first) + String(others), radix: 8), let scalar = Unicode.Scalar(code)
    else { return ["\\", first] }
    rest = rest[others.endIndex...]
    return [scalar]
  }

  // MARK: Placeholders and symbols

  private mutating func placeholder() throws(PredicateFormatError) -> FormatToken {
    rest.removeFirst()
    skip { "hlqLztj".unicodeScalars.contains($0) }
    guard let letter = rest.popFirst(), "@KdDiuUxXoOfFeEgGaAcC%".unicodeScalars.contains(letter) else {
      throw problem("a '%' begins no placeholder")
    }
    return .placeholder(Character(letter))
  }

  private static let symbols = Set(
    ["**", "<<", ">>", "<=", "=<", ">=", "=>", "<>", "!=", "==", "&&", "||"] + "(){}[],.+-*/&|^~<>=!".map(String.init))

  private mutating func symbol() throws(PredicateFormatError) -> FormatToken {
    for length in [2, 1] {
      let symbol = String(rest.prefix(length))
      guard Self.symbols.contains(symbol) else { continue }
      rest = rest.dropFirst(length)
      return .symbol(symbol)
    }
    throw problem("'\(rest.first.map(String.init) ?? "")' means nothing here")
  }
}
